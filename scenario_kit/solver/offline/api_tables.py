"""The server-side printed columns of kubectl (``meta.k8s.io/v1`` Table)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from scenario_kit.model import Object
from scenario_kit.model.kubernetes.pod_spec import list_serving_containers, list_sidecars
from scenario_kit.model.kubernetes.status import is_terminating, list_serving_statuses
from scenario_kit.model.kubernetes.timestamp import parse_timestamp

_NONE: Final = "<none>"
_UNKNOWN: Final = "<unknown>"
_MINUTE, _HOUR, _DAY = 60, 3600, 86400


class TableColumn(NamedTuple):
    """A column; ``wide`` ones are shown only with ``-o wide``. ``show`` takes an object and the current time."""

    name: str
    show: Callable[[Object, float], Any]
    wide: bool = False


def build_table(kind: str, objects: Sequence[Object], now: float, *, whole: bool) -> dict[str, Any]:
    """Build a Table; with ``whole``, rows contain full objects instead of metadata."""
    columns = _COLUMNS.get(kind, ())
    if kind != "Event":  # events have neither name nor age
        columns = (_NAME, *columns, _AGE, *_WIDE.get(kind, ()))
    definitions = [
        {"name": each.name, "type": "string", "format": "name" if each.name == "Name" else "", "description": "",
         "priority": int(each.wide)}
        for each in columns
    ]  # fmt: skip
    partial = {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1"}
    rows = [
        {"cells": [each.show(obj, now) for each in columns],
         "object": obj if whole else {**partial, "metadata": obj["metadata"]}}
        for obj in objects
    ]  # fmt: skip
    return {
        "kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": {"resourceVersion": "1"},
        "columnDefinitions": definitions, "rows": rows,
    }  # fmt: skip


def format_age(seconds: float) -> str:
    """Format a duration like kubectl (``HumanDuration`` of apimachinery)."""
    left = int(seconds)
    if left < 0:
        return "0s" if left >= -1 else "<invalid>"
    if left < 2 * _MINUTE:
        return f"{left}s"
    if left < 10 * _MINUTE:
        return _format_two(left, _MINUTE, "m", 1, "s")
    if left < 3 * _HOUR:
        return f"{left // _MINUTE}m"
    if left < 8 * _HOUR:
        return _format_two(left, _HOUR, "h", _MINUTE, "m")
    if left < 2 * _DAY:
        return f"{left // _HOUR}h"
    return _format_two(left, _DAY, "d", _HOUR, "h") if left < 8 * _DAY else f"{left // _DAY}d"


def _format_two(left: int, unit: int, name: str, smaller: int, small_name: str) -> str:
    rest = left % unit // smaller
    return f"{left // unit}{name}" + (f"{rest}{small_name}" if rest else "")


def _show_age(obj: Object, now: float) -> str:
    return _format_since(obj["metadata"].get("creationTimestamp"), now)


def _format_since(stamp: Any, now: float) -> str:
    try:
        return format_age(now - parse_timestamp(str(stamp)))
    except ValueError:
        return _UNKNOWN


_NAME: Final = TableColumn("Name", lambda obj, _: obj["metadata"]["name"])
_AGE: Final = TableColumn("Age", _show_age)


def _read(obj: Object, *path: str, default: Any = "") -> Any:
    found: Any = obj
    for step in path:
        found = found.get(step) if isinstance(found, Mapping) else None
    return default if found is None else found


def _column(name: str, *path: str, default: Any = "", wide: bool = False) -> TableColumn:
    return TableColumn(name, lambda obj, _: str(_read(obj, *path, default=default)), wide)


def _ratio(name: str, done: tuple[str, ...], desired: tuple[str, ...]) -> TableColumn:
    return TableColumn(name, lambda o, _: f"{_read(o, *done, default=0)}/{_read(o, *desired, default=0)}")


def find_pod_status(pod: Object) -> str:
    """Compute the STATUS column of a pod: the most specific reason of its state."""
    status = pod.get("status") or {}
    found = status.get("reason") or status.get("phase") or "Unknown"
    sidecars = {each["name"] for each in list_sidecars(pod["spec"])}
    for at, each in enumerate(status.get("initContainerStatuses") or ()):
        state = each.get("state") or {}
        if each.get("started") and each.get("name") in sidecars:
            continue
        if (state.get("terminated") or {}).get("exitCode") == 0:
            continue
        reason = _explain_state(state, "Init:")
        total = len(pod["spec"].get("initContainers") or ())
        return reason if reason and reason != "Init:PodInitializing" else f"Init:{at}/{total}"
    for each in reversed(status.get("containerStatuses") or ()):
        found = _explain_state(each.get("state") or {}, "") or found
    return "Terminating" if is_terminating(pod) else str(found)


def _explain_state(state: Mapping[str, Any], before: str) -> str:
    if reason := (state.get("waiting") or {}).get("reason"):
        return f"{before}{reason}"
    ended = state.get("terminated")
    if not ended:
        return ""
    if ended.get("reason"):
        return f"{before}{ended['reason']}"
    return f"{before}Signal:{ended['signal']}" if ended.get("signal") else f"{before}ExitCode:{ended.get('exitCode')}"


def _show_ready(pod: Object, _: float) -> str:
    ready = sum(bool(each.get("ready")) for each in list_serving_statuses(pod))
    return f"{ready}/{len(list_serving_containers(pod['spec']))}"


def _show_restarts(pod: Object, now: float) -> str:
    statuses = list_serving_statuses(pod)
    count = sum(int(each.get("restartCount") or 0) for each in statuses)
    ends = [
        str(ended) for each in statuses if (ended := _read(each, "lastState", "terminated", "finishedAt", default=None))
    ]
    return f"{count} ({_format_since(max(ends), now)} ago)" if count and ends else str(count)


def _show_ports(service: Object, _: float) -> str:
    ports = service["spec"].get("ports") or ()
    shown = (
        f"{p['port']}{':' + str(p['nodePort']) if p.get('nodePort') else ''}/{p.get('protocol', 'TCP')}" for p in ports
    )
    return ",".join(shown) or _NONE


def _show_map(values: Mapping[str, Any] | None) -> str:
    return ",".join(f"{key}={value}" for key, value in sorted((values or {}).items())) or _NONE


def _show_node(node: Object, _: float) -> str:
    ready = [c for c in _read(node, "status", "conditions", default=()) if c.get("type") == "Ready"]
    words = ["Ready" if ready and ready[0].get("status") == "True" else "NotReady" if ready else "Unknown"]
    if _read(node, "spec", "unschedulable"):
        words.append("SchedulingDisabled")
    return ",".join(words)


def _show_slice(obj: Object, _: float) -> str:
    addresses = [a for each in obj.get("endpoints") or () for a in each.get("addresses") or ()]
    return ",".join(addresses[:3]) + (f" + {len(addresses) - 3} more..." if len(addresses) > 3 else "") or "<unset>"


def _show_endpoints(obj: Object, _: float) -> str:
    pairs = [
        f"{address['ip']}:{port['port']}"
        for subset in obj.get("subsets") or () for address in subset.get("addresses") or ()
        for port in subset.get("ports") or ()
    ]  # fmt: skip
    return ",".join(pairs[:3]) + (f" + {len(pairs) - 3} more..." if len(pairs) > 3 else "") or _NONE


def _show_images(obj: Object, _: float) -> str:
    return ",".join(str(c.get("image")) for c in _read(obj, "spec", "template", "spec", "containers", default=()))


def _show_last_seen(event: Object, now: float) -> str:
    series = _read(event, "series", "lastObservedTime", default=None)
    return _format_since(
        series or event.get("lastTimestamp") or event.get("eventTime") or event["metadata"].get("creationTimestamp"),
        now,
    )


def _show_involved(event: Object, _: float) -> str:
    about = event.get("involvedObject") or {}
    return f"{str(about.get('kind', '')).lower()}/{about.get('name', '')}"


_READY: Final = ("status", "readyReplicas")
_REPLICAS: Final = ("spec", "replicas")
_UPDATED: Final = _column("Up-to-date", "status", "updatedReplicas", default=0)
_AVAILABLE: Final = _column("Available", "status", "availableReplicas", default=0)
_SELECTOR: Final = TableColumn("Selector", lambda o, _: _show_map(_read(o, "spec", "selector", "matchLabels")), True)
_IMAGES: Final = TableColumn("Images", _show_images, True)
_COLUMNS: Final[Mapping[str, tuple[TableColumn, ...]]] = {
    "ConfigMap": (TableColumn("Data", lambda o, _: len(o.get("data") or {}) + len(o.get("binaryData") or {})),),
    "CronJob": (_column("Schedule", "spec", "schedule"), _column("Suspend", "spec", "suspend", default=False)),
    "DaemonSet": (
        _column("Desired", "status", "desiredNumberScheduled", default=0),
        _column("Current", "status", "currentNumberScheduled", default=0),
        _column("Ready", "status", "numberReady", default=0),
    ),
    "Deployment": (_ratio("Ready", _READY, _REPLICAS), _UPDATED, _AVAILABLE),
    "Endpoints": (TableColumn("Endpoints", _show_endpoints),),
    "EndpointSlice": (_column("AddressType", "addressType"), TableColumn("Endpoints", _show_slice)),
    "Event": (
        TableColumn("Last Seen", _show_last_seen), _column("Type", "type"), _column("Reason", "reason"),
        TableColumn("Object", _show_involved), TableColumn("Message", lambda e, _: str(e.get("message", "")).strip()),
    ),
    "HorizontalPodAutoscaler": (
        TableColumn("Reference", lambda o, _: "/".join(
            str(_read(o, "spec", "scaleTargetRef", key)) for key in ("kind", "name")
        )),
        _column("MinPods", "spec", "minReplicas", default="<unset>"), _column("MaxPods", "spec", "maxReplicas"),
        _column("Replicas", "status", "currentReplicas", default=0),
    ),
    "Ingress": (TableColumn("Hosts", lambda o, _: ",".join(
        str(rule.get("host", "*")) for rule in _read(o, "spec", "rules", default=())
    )),),
    "Job": (_ratio("Completions", ("status", "succeeded"), ("spec", "completions")),),
    "Namespace": (_column("Status", "status", "phase"),),
    "NetworkPolicy": (
        TableColumn("Pod-Selector", lambda o, _: _show_map(_read(o, "spec", "podSelector", "matchLabels"))),
    ),
    "Node": (TableColumn("Status", _show_node), _column("Version", "status", "nodeInfo", "kubeletVersion")),
    "PersistentVolumeClaim": (
        _column("Status", "status", "phase"), _column("Volume", "spec", "volumeName"),
        _column("Capacity", "status", "capacity", "storage"), _column("StorageClass", "spec", "storageClassName"),
    ),
    "Pod": (
        TableColumn("Ready", _show_ready), TableColumn("Status", lambda o, _: find_pod_status(o)),
        TableColumn("Restarts", _show_restarts),
    ),
    "PodDisruptionBudget": (
        _column("Min Available", "spec", "minAvailable", default="N/A"),
        _column("Max Unavailable", "spec", "maxUnavailable", default="N/A"),
        _column("Allowed Disruptions", "status", "disruptionsAllowed", default=0),
    ),
    "ReplicaSet": (
        _column("Desired", *_REPLICAS, default=0), _column("Current", "status", "replicas", default=0),
        _column("Ready", *_READY, default=0),
    ),
    "Service": (
        _column("Type", "spec", "type"), _column("Cluster-IP", "spec", "clusterIP", default=_NONE),
        _column("External-IP", "spec", "externalName", default=_NONE), TableColumn("Port(s)", _show_ports),
    ),
    "StatefulSet": (_ratio("Ready", _READY, _REPLICAS),),
}  # fmt: skip
_WIDE: Final[Mapping[str, tuple[TableColumn, ...]]] = {
    "Deployment": (_IMAGES, _SELECTOR),
    "ReplicaSet": (_IMAGES, _SELECTOR),
    "StatefulSet": (_IMAGES,),
    "DaemonSet": (_IMAGES, _SELECTOR),
    "Pod": (
        _column("IP", "status", "podIP", default=_NONE, wide=True),
        _column("Node", "spec", "nodeName", default=_NONE, wide=True),
    ),
    "Service": (TableColumn("Selector", lambda o, _: _show_map(_read(o, "spec", "selector", default={})), True),),
}
