"""What the baselines look at: values, read by the same tools that every solver has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterable, Sequence
from typing import Any, Final

import msgspec

from scenario_kit.model.base import Value
from scenario_kit.solver.baselines.cluster_state import (
    NODE_COLUMNS,
    POD_COLUMNS,
    SERVICE_COLUMNS,
    WARNING_COLUMNS,
    WORKLOAD_COLUMNS,
    ClusterState,
    SeenNode,
    SeenPod,
    SeenService,
    SeenWarning,
    SeenWorkload,
)
from scenario_kit.solver.protocol.messages import CallMessage, KitMessage, ResultMessage, SolverMessage

#: Kinds of workloads and what is looked at beside them.
WORKLOAD_KINDS: Final = ("Deployment", "StatefulSet", "DaemonSet")
#: Labels of alerts that name a workload, the most exact first.
_NAMING: Final = (
    "deployment", "statefulset", "daemonset", "service_name", "service", "app", "workload", "job_name", "container",
)  # fmt: skip

#: What kubectl writes where a field is missing.
_NOTHING: Final = "<none>"
#: Name, creation, times of all writes, and of those into the status.
_DATES: Final = (
    ".metadata.name", ".metadata.creationTimestamp", ".metadata.managedFields[*].time",
    '.metadata.managedFields[?(@.subresource=="status")].time',
)  # fmt: skip

#: Messages of a baseline, what they are answered, and what comes of it.
Reading = Generator[SolverMessage, KitMessage, Any]


class SeenAlert(Value, frozen=True, kw_only=True):
    """An alert that is pending or firing, since when (as text that sorts by time), and its labels."""

    name: str
    firing: bool
    since: str
    labels: dict[str, str]


class SeenObject(Value, frozen=True, kw_only=True):
    """An object, when it came, and when anything but its status was last written (as texts that sort by time)."""

    kind: str
    name: str
    written: str
    created: str = ""


class SeenSpan(Value, frozen=True, kw_only=True):
    """A span of a trace."""

    trace: str
    service: str
    failed: bool
    milliseconds: float


class SeenCall(Value, frozen=True, kw_only=True):
    """So many calls of one service by another."""

    caller: str
    callee: str
    count: int


class Observation(Value, frozen=True, kw_only=True):
    """All of it; what a baseline does not look at is empty."""

    alerts: tuple[SeenAlert, ...] = ()
    objects: tuple[SeenObject, ...] = ()
    spans: tuple[SeenSpan, ...] = ()
    calls: tuple[SeenCall, ...] = ()
    state: ClusterState = ClusterState()

    @property
    def workloads(self) -> dict[str, str]:
        """The workloads as ``Kind/name``, by name."""
        return {each.name: f"{each.kind}/{each.name}" for each in self.objects if each.kind in WORKLOAD_KINDS}

    def find_workload(self, labels: dict[str, str]) -> str:
        """Find the workload that an alert is about, as ``Kind/name``; empty where its labels name none."""
        known = self.workloads
        for label in _NAMING:
            if labels.get(label) in known:
                return known[labels[label]]
        pod = labels.get("pod", "")
        owners = [name for name in known if pod.startswith(f"{name}-")]
        return known[max(owners, key=len)] if owners else ""


def use(tool: str, **arguments: Any) -> Generator[SolverMessage, KitMessage, ResultMessage | None]:
    """Use a tool; None where the run has ended."""
    answer = yield CallMessage(tool=tool, arguments=arguments)
    return answer if isinstance(answer, ResultMessage) else None


def read_json(tool: str, **arguments: Any) -> Generator[SolverMessage, KitMessage, Any]:
    """Use a tool that answers JSON; None where it does not."""
    answer = yield from use(tool, **arguments)
    if answer is None or not answer.ok:
        return None
    try:
        return msgspec.json.decode(answer.content)
    except msgspec.DecodeError:
        return None


def read_alerts() -> Generator[SolverMessage, KitMessage, tuple[SeenAlert, ...]]:
    """Read the alerts of the moment."""
    found = (yield from read_json("get_alerts")) or {"items": []}
    return tuple(
        SeenAlert(
            name=each["labels"]["alertname"], firing=each["state"] == "firing",
            since=each["activeAt"], labels=each["labels"],
        )
        for each in found["items"]
    )  # fmt: skip


def read_columns(
    kind: str, columns: Sequence[str], *options: str
) -> Generator[SolverMessage, KitMessage, list[list[str]]]:
    """Read fields of all objects of a kind: one list of texts for each, empty where an object lacks a field.

    ``columns`` are paths as kubectl writes them; values of the last one alone may contain spaces.
    """
    named = ",".join(f"C{number}:{path}" for number, path in enumerate(columns))
    cmd = " ".join(["get", kind, *options, "--no-headers --show-managed-fields -o", f"'custom-columns={named}'"])
    answer = yield from use("exec_kubectl_cmd_safely", cmd=cmd)
    lines = answer.content.splitlines() if answer is not None and answer.ok else []
    rows = (line.split(None, len(columns) - 1) for line in lines)
    return [
        ["" if cell.strip() == _NOTHING else cell.strip() for cell in row] for row in rows if len(row) == len(columns)
    ]


def read_objects(kinds: Iterable[str]) -> Generator[SolverMessage, KitMessage, tuple[SeenObject, ...]]:
    """Read which objects there are, and when they were written."""
    found: list[SeenObject] = []
    for kind in kinds:
        found += [date_object(kind, row) for row in (yield from read_columns(kind, _DATES))]
    return tuple(found)


def date_object(kind: str, row: Sequence[str]) -> SeenObject:
    """Date an object by its name, its creation, the times of all writes, and the times of those into its status."""
    name, created, every, status = row
    writes = Counter(every.split(",")) - Counter(status.split(","))
    written = [time for time in (created, *writes) if time[:1].isdigit()]
    return SeenObject(kind=kind, name=name, written=max(written, default=""), created=created)


def read_calls() -> Generator[SolverMessage, KitMessage, tuple[SeenCall, ...]]:
    """Read who calls whom."""
    found = (yield from read_json("get_dependency_graph")) or {"items": []}
    return tuple(
        SeenCall(caller=each["parent"], callee=each["child"], count=int(each["callCount"])) for each in found["items"]
    )


def read_spans(services: Sequence[str]) -> Generator[SolverMessage, KitMessage, tuple[SeenSpan, ...]]:
    """Read the newest traces of services, failed ones and any; a span that several answers hold counts once."""
    found: dict[str, SeenSpan] = {}
    for service in services:
        for errors in (True, False):
            asked = {"service": service, "limit": 20, "errors": errors, "last_n_minutes": 10}
            for trace in ((yield from read_json("get_traces", **asked)) or {"items": []})["items"]:
                found |= {span["span"]: _read_span(trace["traceID"], span) for span in trace["spans"]}
    return tuple(found.values())


def _read_span(trace: str, span: dict[str, Any]) -> SeenSpan:
    failed = bool(span.get("error"))
    return SeenSpan(trace=trace, service=span["service"], failed=failed, milliseconds=span["ms"])


def read_state() -> Generator[SolverMessage, KitMessage, ClusterState]:
    """Read what Kubernetes says about pods, workloads, Services, nodes, and the warnings among its events."""
    workloads: list[SeenWorkload] = []
    for kind in WORKLOAD_KINDS:
        rows = yield from read_columns(kind, WORKLOAD_COLUMNS)
        workloads += [SeenWorkload.read(kind, row) for row in rows]
    pods = yield from read_columns("Pod", POD_COLUMNS)
    services = yield from read_columns("Service", SERVICE_COLUMNS)
    nodes = yield from read_columns("Node", NODE_COLUMNS)
    warnings = yield from read_columns("Event", WARNING_COLUMNS, "--field-selector=type=Warning")
    return ClusterState(
        workloads=tuple(workloads),
        pods=tuple(SeenPod.read(row) for row in pods),
        services=tuple(SeenService.read(row) for row in services),
        nodes=tuple(SeenNode.read(row) for row in nodes),
        warnings=tuple(SeenWarning.read(row) for row in warnings),
    )
