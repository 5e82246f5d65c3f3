"""Which fields of chaos objects the lab does not implement, because they need a real cluster."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from typing import Any, Final, NamedTuple

from scenario_kit.model.base import Object
from scenario_kit.model.chaos.kinds import get_experiment

#: Fields that the lab does not implement, and why; ``*`` covers all parts of a field.
UNMODELLED: Final[Mapping[str, Mapping[str, str]]] = {
    "BlockChaos": {"delay.*": "block devices", "volumeName": "block devices"},
    "HTTPChaos": {
        "patch.*": "what a proxy writes into bodies, headers and queries",
        "replace.body": "what a proxy writes into bodies",
        "replace.headers": "headers of requests and answers",
        "replace.method": "another method of a request",
        "replace.path": "another path of a request",
        "replace.queries": "queries of requests",
        "request_headers": "headers of requests",
        "response_headers": "headers of answers",
        "tls.*": "requests in TLS",
    },
    "IOChaos": dict.fromkeys(
        (
            "attr.atime.*", "attr.blocks", "attr.ctime.*", "attr.gid", "attr.ino", "attr.kind", "attr.mtime.*",
            "attr.nlink", "attr.rdev", "attr.size", "attr.uid",
        ),
        "attributes of files other than permissions",
    ),
    "JVMChaos": dict.fromkeys(
        ("database", "mysqlConnectorVersion", "sqlType", "table"), "queries of the MySQL connector"
    ),
    "KernelChaos": {"failKernRequest.*": "the kernel of a node"},
    "NetworkChaos": {
        "bandwidth.minburst": "single packets",
        "bandwidth.peakrate": "single packets",
    },
    "StressChaos": {
        "stressngStressors": "stressors beyond CPU and memory",
        "stressors.cpu.options": "options of stress-ng",
        "stressors.memory.options": "options of the memory stressor",
    },
}  # fmt: skip
#: Last labels of names within a cluster: parts of the cluster domain, and namespaces of every cluster.
_OF_CLUSTERS: Final = frozenset({"svc", "cluster", "local", "pod", "default", "kube-system", "chaos-mesh"})


def is_external(host: str, namespaces: Container[str]) -> bool:
    """Return whether a name is outside of a cluster with these namespaces."""
    name, _, last = host.rstrip(".").lower().rpartition(".")
    return bool(name) and last.isalpha() and last not in _OF_CLUSTERS and last not in namespaces


class Blind(NamedTuple):
    """A field and value that the lab does not implement, and what is missing."""

    kind: str
    field: str
    value: Any
    what: str


def find_blind_fields(obj: Object) -> Iterator[Blind]:
    """Yield the unimplemented fields of a chaos object, or of the one that a Schedule starts."""
    kind, spec, _ = get_experiment(obj)
    known = UNMODELLED.get(kind, {})
    if kind == "JVMChaos" and spec.get("action") == "mysql":
        yield Blind(kind, "action", "mysql", "queries of the MySQL connector")
        return
    for field, value in _list_set(spec):
        if (what := known.get(field)) or (what := _explain_value(kind, field, value)):
            yield Blind(kind, field, value, what)


def _explain_value(kind: str, field: str, value: Any) -> str:
    """Return what is missing for a value of a field that is otherwise implemented."""
    test = _VALUES.get((kind, field))
    return test(value) if test else ""


def _explain_share(value: Any) -> str:
    return "a share of the memory of a real node" if str(value).strip().endswith("%") else ""


def _explain_ports(value: Any) -> str:
    named = [str(v) for v in value or ()] if isinstance(value, list | tuple) else []
    return "targets with a port" if any(v.count(":") == 1 for v in named) else ""


def _explain_status(value: Any) -> str:
    return "" if value in (200, 500) else "answers with another status than 200 and 500"


def _explain_device(value: Any) -> str:
    return "" if value == "eth0" else "several network devices of a pod"


def _explain_clocks(value: Any) -> str:
    known = not isinstance(value, list | tuple) or "CLOCK_REALTIME" in value
    return "" if known else "clocks other than the time of day"


def _explain_stack(value: Any) -> str:
    return "how many threads a node lets a program have" if value == "stack" else ""


_VALUES: Final[Mapping[tuple[str, str], Callable[[Any], str]]] = {
    ("StressChaos", "stressors.memory.size"): _explain_share,
    ("HTTPChaos", "code"): _explain_status,
    ("NetworkChaos", "externalTargets"): _explain_ports,
    ("NetworkChaos", "device"): _explain_device,
    ("NetworkChaos", "targetDevice"): _explain_device,
    ("JVMChaos", "memType"): _explain_stack,
    ("TimeChaos", "clockIds"): _explain_clocks,
}


def _list_set(spec: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every field with a value, in the notation of the tables; false and empty values are skipped."""
    for name, value in spec.items():
        path = f"{prefix}{name}"
        if value in (None, "", False) or value == [] or value == {}:
            continue
        if isinstance(value, Mapping):
            yield f"{path}.*", value
            yield from _list_set(value, f"{path}.")
        yield path, value


def list_targets(obj: Object) -> Iterator[str]:
    """Yield the external targets of a NetworkChaos, or of one that a Schedule starts."""
    kind, spec, _ = get_experiment(obj)
    named = spec.get("externalTargets") if kind == "NetworkChaos" else ()
    yield from map(str, named) if isinstance(named, list | tuple) else ()
