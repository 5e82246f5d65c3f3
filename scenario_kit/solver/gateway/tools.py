"""The tools of a solver: arguments and implementation. The names are SREGym's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import msgspec

from scenario_kit.model import AlertHistory
from scenario_kit.ports import Metrics
from scenario_kit.solver.gateway import logs, traces
from scenario_kit.solver.gateway.alerts import list_alerts
from scenario_kit.solver.gateway.answers import BadCall, ToolAnswer, answer_list, refuse_call
from scenario_kit.solver.gateway.kubectl_command import parse_kubectl
from scenario_kit.solver.gateway.kubectl_process import Kubectl
from scenario_kit.solver.gateway.logs import PodReader
from scenario_kit.solver.gateway.metrics import query_metrics
from scenario_kit.solver.gateway.traces import TraceStore
from scenario_kit.solver.protocol.messages import ToolDescription

#: Maximum of seconds in one call of ``wait``.
LONGEST_WAIT: Final = 1800.0
#: Maximum of minutes that a query of logs looks back.
LONGEST_LOGS: Final = 24 * 60


@dataclass(frozen=True)
class Sources:
    """The data sources of the tools.

    ``cluster`` and ``kubectl`` use the solver's credential, ``alerts`` returns the history since the app's deployment,
    and ``now`` is the incident's clock. ``is_static`` marks a recording, in which no time passes.
    """

    namespaces: tuple[str, ...]
    cluster: PodReader
    kubectl: Kubectl
    metrics: Metrics
    traces: TraceStore
    alerts: Callable[[], AlertHistory]
    now: Callable[[], float]
    is_static: bool = False


class _Arguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of a tool; none by default."""


class KubectlArguments(_Arguments, frozen=True):
    """A kubectl command line and its standard input."""

    cmd: str
    stdin: str = ""


class MetricsArguments(_Arguments, frozen=True):
    """A PromQL query; the minutes to look back, 0 for now; the step in seconds."""

    query: str
    last_n_minutes: float = 0.0
    step: float = 60.0


class ServiceArguments(_Arguments, frozen=True):
    """The name of a service in traces."""

    service: str


class TracesArguments(_Arguments, frozen=True):
    """A service, minutes to look back, the number of traces, and whether to select those with a failed span of it."""

    service: str
    last_n_minutes: float = 15.0
    limit: int = 5
    errors: bool = False


class MinutesArguments(_Arguments, frozen=True):
    """Minutes to look back."""

    last_n_minutes: float = 30.0


class LogsArguments(_Arguments, frozen=True):
    """A query such as ``{app="cart"} |= "error"``, and minutes to look back."""

    query: str
    last_n_minutes: float = 15.0


class LabelArguments(_Arguments, frozen=True):
    """The name of a log label."""

    label: str


class WaitArguments(_Arguments, frozen=True):
    """Seconds of incident time to wait."""

    seconds: float


class Tool(NamedTuple):
    """A tool: its argument type, description and implementation."""

    arguments: type[_Arguments]
    description: str
    run: Callable[[Sources, Any], ToolAnswer]


def _run_kubectl(sources: Sources, given: KubectlArguments) -> ToolAnswer:
    return sources.kubectl.run(parse_kubectl(given.cmd, given.stdin))


def _get_metrics(sources: Sources, given: MetricsArguments) -> ToolAnswer:
    now = sources.now()
    return query_metrics(sources.metrics, given.query, sources.namespaces, now, given.last_n_minutes, given.step)


def _get_alerts(sources: Sources, _: _Arguments) -> ToolAnswer:
    return answer_list(list_alerts(sources.alerts()))


def _get_traces(sources: Sources, given: TracesArguments) -> ToolAnswer:
    now = sources.now()
    return traces.get_traces(sources.traces, given.service, now, given.last_n_minutes, given.limit, given.errors)


def _get_logs(sources: Sources, given: LogsArguments) -> ToolAnswer:
    if not 0 < given.last_n_minutes <= LONGEST_LOGS:
        raise BadCall(f"last_n_minutes is {given.last_n_minutes:g}", f"above 0 and at most {LONGEST_LOGS}")
    since = sources.now() - given.last_n_minutes * 60
    return logs.query_logs(sources.cluster, given.query, sources.namespaces, since)


def _get_label_values(sources: Sources, given: LabelArguments) -> ToolAnswer:
    if given.label not in logs.LogLabels._fields:
        raise BadCall(f"no label {given.label!r}", f"labels: {', '.join(logs.LogLabels._fields)}")
    pods = (pod for namespace in sources.namespaces for pod in sources.cluster.list("Pod", namespace))
    values = {getattr(each, given.label) for each in logs.list_labels(pods)}
    return answer_list(sorted(values))


def _wait(sources: Sources, given: WaitArguments) -> ToolAnswer:
    if sources.is_static:
        raise BadCall("this is a recording: no time passes", "use the recorded data")
    if not 0 < given.seconds <= LONGEST_WAIT:
        raise BadCall(f"seconds is {given.seconds:g}", f"above 0 and at most {LONGEST_WAIT:.0f}")
    return ToolAnswer(content=f"{given.seconds:g} s have passed", seconds=given.seconds)


#: All tools, by name.
TOOLS: Final[Mapping[str, Tool]] = {
    "exec_kubectl_cmd_safely": Tool(
        KubectlArguments,
        "Run one kubectl command (no shell, no files; a manifest goes into stdin) in the app's namespace.",
        _run_kubectl,
    ),
    "get_metrics": Tool(MetricsArguments, "Evaluate PromQL on the app's series.", _get_metrics),
    "get_alerts": Tool(_Arguments, "List the alerts that are pending or firing now.", _get_alerts),
    "get_services": Tool(_Arguments, "List services that have traces.", lambda s, _: traces.list_services(s.traces)),
    "get_operations": Tool(
        ServiceArguments, "List the operations of a service.", lambda s, a: traces.list_operations(s.traces, a.service)
    ),
    "get_traces": Tool(TracesArguments, "Get the newest traces of a service.", _get_traces),
    "get_dependency_graph": Tool(
        MinutesArguments, "Get who calls whom, and how often.",
        lambda s, a: traces.get_dependencies(s.traces, s.now(), a.last_n_minutes),
    ),
    "get_logs": Tool(LogsArguments, "Get lines that the app's containers have written.", _get_logs),
    "get_labels": Tool(
        _Arguments, "List the labels by which logs are chosen.",
        lambda _s, _a: answer_list(logs.LogLabels._fields),
    ),
    "get_label_values": Tool(LabelArguments, "List the values of a label of logs.", _get_label_values),
    "wait": Tool(WaitArguments, "Let time pass.", _wait),
}  # fmt: skip


def describe_tools(*, is_static: bool = False) -> tuple[ToolDescription, ...]:
    """Describe every tool with the JSON Schema of its arguments; a recording has no ``wait``."""
    return tuple(
        ToolDescription(name=name, description=tool.description, parameters=_build_schema(tool.arguments))
        for name, tool in TOOLS.items()
        if not (is_static and tool.arguments is WaitArguments)
    )


def _build_schema(arguments: type[_Arguments]) -> dict[str, Any]:
    (schema,), components = msgspec.json.schema_components([arguments])
    found = dict(components.get(arguments.__name__, schema))
    return {key: value for key, value in found.items() if key != "title"}


def use_tool(sources: Sources, name: str, arguments: Mapping[str, Any]) -> ToolAnswer:
    """Call a tool; invalid arguments give an answer, not an error.

    Raises:
        InfrastructureError: the tool's data source does not respond.
    """
    tool = TOOLS.get(name)
    if tool is None:
        return refuse_call(BadCall(f"no tool {name!r}", f"tools: {', '.join(TOOLS)}"))
    try:
        given = msgspec.convert(dict(arguments), tool.arguments)
        return tool.run(sources, given)
    except msgspec.ValidationError as error:
        required = ", ".join(tool.arguments.__struct_fields__) or "none"
        return refuse_call(BadCall(f"{name}: {error}", f"arguments: {required}"))
    except BadCall as error:
        return refuse_call(error)
