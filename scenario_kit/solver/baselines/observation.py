"""The observations of baselines, read with the same tools that every solver has."""

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

#: Kinds of workloads.
WORKLOAD_KINDS: Final = ("Deployment", "StatefulSet", "DaemonSet")
#: Labels of alerts that name a workload, most specific first.
_NAMING: Final = (
    "deployment", "statefulset", "daemonset", "service_name", "service", "app", "workload", "job_name", "container",
)  # fmt: skip

#: kubectl's text for a missing field.
_NONE: Final = "<none>"
#: Name, creation, times of all writes, and times of status writes.
_DATES: Final = (
    ".metadata.name", ".metadata.creationTimestamp", ".metadata.managedFields[*].time",
    '.metadata.managedFields[?(@.subresource=="status")].time',
)  # fmt: skip


class SeenAlert(Value, frozen=True, kw_only=True):
    """A pending or firing alert; ``since`` is a timestamp that sorts as text."""

    name: str
    firing: bool
    since: str
    labels: dict[str, str]


class SeenObject(Value, frozen=True, kw_only=True):
    """An object with its creation and its last write outside the status, as timestamps that sort as text."""

    kind: str
    name: str
    written: str
    created: str = ""


class SeenSpan(Value, frozen=True, kw_only=True):
    """A span of a trace; ``peer`` is the host that it calls, empty if it calls none."""

    trace: str
    service: str
    failed: bool
    milliseconds: float
    span: str = ""
    parent: str = ""
    peer: str = ""


class SeenCall(Value, frozen=True, kw_only=True):
    """The number of calls from one service to another."""

    caller: str
    callee: str
    count: int


class Observation(Value, frozen=True, kw_only=True):
    """A baseline's observation; parts that it does not read are empty."""

    alerts: tuple[SeenAlert, ...] = ()
    objects: tuple[SeenObject, ...] = ()
    spans: tuple[SeenSpan, ...] = ()
    calls: tuple[SeenCall, ...] = ()
    state: ClusterState = ClusterState()

    @property
    def workloads(self) -> dict[str, str]:
        """Workloads as ``Kind/name``, by name."""
        return {each.name: f"{each.kind}/{each.name}" for each in self.objects if each.kind in WORKLOAD_KINDS}

    def find_workload(self, labels: dict[str, str]) -> str:
        """Find the workload named by an alert's labels, as ``Kind/name``; empty if there is none."""
        known = self.workloads
        for label in _NAMING:
            if labels.get(label) in known:
                return known[labels[label]]
        pod = labels.get("pod", "")
        owners = [name for name in known if pod.startswith(f"{name}-")]
        return known[max(owners, key=len)] if owners else ""


def use(tool: str, **arguments: Any) -> Generator[SolverMessage, KitMessage, ResultMessage | None]:
    """Call a tool; None if the run has ended."""
    answer = yield CallMessage(tool=tool, arguments=arguments)
    return answer if isinstance(answer, ResultMessage) else None


def read_json(tool: str, **arguments: Any) -> Generator[SolverMessage, KitMessage, Any]:
    """Call a tool and decode its JSON; None if it failed."""
    answer = yield from use(tool, **arguments)
    if answer is None or not answer.ok:
        return None
    try:
        return msgspec.json.decode(answer.content)
    except msgspec.DecodeError:
        return None


def read_alerts() -> Generator[SolverMessage, KitMessage, tuple[SeenAlert, ...]]:
    """Read the current alerts."""
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
    """Read fields of all objects of a kind: one list of cells per object, empty for a missing field.

    ``columns`` are kubectl JSONPath expressions; only values of the last one may contain spaces.
    """
    named = ",".join(f"C{number}:{path}" for number, path in enumerate(columns))
    cmd = " ".join(["get", kind, *options, "--no-headers --show-managed-fields -o", f"'custom-columns={named}'"])
    answer = yield from use("exec_kubectl_cmd_safely", cmd=cmd)
    lines = answer.content.splitlines() if answer is not None and answer.ok else []
    rows = (line.split(None, len(columns) - 1) for line in lines)
    return [["" if cell.strip() == _NONE else cell.strip() for cell in row] for row in rows if len(row) == len(columns)]


def read_objects(kinds: Iterable[str]) -> Generator[SolverMessage, KitMessage, tuple[SeenObject, ...]]:
    """Read the objects of some kinds with the times of their writes."""
    found: list[SeenObject] = []
    for kind in kinds:
        found += [date_object(kind, row) for row in (yield from read_columns(kind, _DATES))]
    return tuple(found)


def date_object(kind: str, row: Sequence[str]) -> SeenObject:
    """Parse a row of ``_DATES``; the last write excludes writes to the status."""
    name, created, every, status = row
    writes = Counter(every.split(",")) - Counter(status.split(","))
    written = [time for time in (created, *writes) if time[:1].isdigit()]
    return SeenObject(kind=kind, name=name, written=max(written, default=""), created=created)


def read_calls() -> Generator[SolverMessage, KitMessage, tuple[SeenCall, ...]]:
    """Read the calls between services."""
    found = (yield from read_json("get_dependency_graph")) or {"items": []}
    return tuple(
        SeenCall(caller=each["parent"], callee=each["child"], count=int(each["callCount"])) for each in found["items"]
    )


def read_spans(services: Sequence[str]) -> Generator[SolverMessage, KitMessage, tuple[SeenSpan, ...]]:
    """Read the newest traces of services, with and without the errors filter; spans are deduplicated."""
    found: dict[str, SeenSpan] = {}
    for service in services:
        for errors in (True, False):
            arguments = {"service": service, "limit": 20, "errors": errors, "last_n_minutes": 10}
            for trace in ((yield from read_json("get_traces", **arguments)) or {"items": []})["items"]:
                found |= {span["span"]: _read_span(trace["traceID"], span) for span in trace["spans"]}
    return tuple(found.values())


def _read_span(trace: str, span: dict[str, Any]) -> SeenSpan:
    failed = bool(span.get("error"))
    return SeenSpan(
        trace=trace, service=span["service"], failed=failed, milliseconds=span["ms"],
        span=span["span"], parent=span["parent"], peer=span.get("peer", ""),
    )  # fmt: skip


def read_state() -> Generator[SolverMessage, KitMessage, ClusterState]:
    """Read workloads, pods, Services, nodes and Warning events."""
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
