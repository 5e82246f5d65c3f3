"""Evaluate pod selectors of Chaos Mesh as the manager's ``pkg/selector`` does.

All fields must match, except that pods listed by name override all others, and that nodes by name and by label form one
set. If the manager cannot parse a field, it emits an event and selects nothing; here that is a ``ValueError`` with the
field and the manager's message.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from scenario_kit.model.base import Object
from scenario_kit.model.kubernetes.label_selector import Selector, admits, check_value, parse, parse_object

#: Fields of pods that the manager can compare; the API server rejects others, or they never match.
_FIELDS: Final[Mapping[str, Callable[[Object], str]]] = {
    "metadata.name": lambda pod: pod["metadata"]["name"],
    "metadata.namespace": lambda pod: pod["metadata"].get("namespace", ""),
    "spec.nodeName": lambda pod: _read_spec(pod, "nodeName"),
    "spec.restartPolicy": lambda pod: _read_spec(pod, "restartPolicy") or "Always",
    "spec.schedulerName": lambda pod: _read_spec(pod, "schedulerName") or "default-scheduler",
    "spec.serviceAccountName": lambda pod: _read_spec(pod, "serviceAccountName") or "default",
    "status.phase": lambda pod: str((pod.get("status") or {}).get("phase", "")),
    "status.podIP": lambda pod: str((pod.get("status") or {}).get("podIP", "")),
    "status.nominatedNodeName": lambda pod: str((pod.get("status") or {}).get("nominatedNodeName", "")),
}
#: Fields of a pod that are unknown before it is scheduled.
LIVE: Final = frozenset({"metadata.name", "spec.nodeName", "status.podIP", "status.nominatedNodeName"})


class PodQuery(NamedTuple):
    """A parsed selector. ``names`` lists pods by namespace; if it is empty, all conditions must hold.

    ``nodes`` and ``node_labels`` are empty if any node matches.
    """

    namespaces: tuple[str, ...]
    names: Mapping[str, Sequence[str]]
    conditions: tuple[Callable[[Object], bool], ...] = ()
    nodes: tuple[str, ...] = ()
    node_labels: Mapping[str, str] = {}

    @property
    def by_node(self) -> bool:
        """Whether the selection depends on nodes."""
        return not self.names and bool(self.nodes or self.node_labels)

    def selects(self, pod: Object, nodes: Iterable[Object] = ()) -> bool:
        """Return whether a pod is selected in a cluster with these nodes."""
        namespace = pod["metadata"].get("namespace", "")
        if self.names:
            return pod["metadata"]["name"] in self.names.get(namespace, ())
        if namespace not in self.namespaces or not all(condition(pod) for condition in self.conditions):
            return False
        return not self.by_node or _read_spec(pod, "nodeName") in self._places(nodes)

    def missing_nodes(self, nodes: Iterable[Object]) -> tuple[str, ...]:
        """Return the named nodes that do not exist; the manager then selects nothing."""
        existing = {node["metadata"]["name"] for node in nodes}
        return () if self.names else tuple(name for name in self.nodes if name not in existing)

    def _places(self, nodes: Iterable[Object]) -> set[str]:
        desired = self.node_labels.items()
        labelled = {
            n["metadata"]["name"] for n in nodes if desired and desired <= (n["metadata"].get("labels") or {}).items()
        }
        return labelled | set(self.nodes)


def parse_selector(selector: Mapping[str, Any], home: str, unknown: Container[str] = ()) -> PodQuery:
    """Parse a selector; ``home`` is the namespace of its object, which is the default.

    Fields of pods in ``unknown`` are assumed to match.

    Raises:
        ValueError: the manager cannot parse a field; the message begins with the field.
    """
    names = {ns: tuple(listed or ()) for ns, listed in (selector.get("pods") or {}).items()}
    namespaces = tuple(selector.get("namespaces") or (home,))
    if names:
        return PodQuery(tuple(names), names)
    conditions: list[Callable[[Object], bool]] = [
        _match_labels(selector),
        _match_annotations(selector),
        _match_phases(selector),
        *_match_fields(selector, unknown),
    ]
    return PodQuery(
        namespaces, {}, tuple(conditions), tuple(selector.get("nodes") or ()), selector.get("nodeSelectors") or {}
    )


def count(mode: str, value: str, total: int) -> int:
    """Return how many of the matching pods a mode selects; for ``random-max-percent``, the maximum.

    Raises:
        ValueError: the value is invalid for the mode.
    """
    if mode in ("", "all") or not total:
        return total
    if mode == "one":
        return 1
    try:
        number = int(value)
    except ValueError:
        raise ValueError(f'value: `mode: {mode}` needs a whole number, found "{value}"') from None
    if mode == "fixed":
        if number <= 0:
            raise ValueError("value: cannot select any object as value below or equal 0")
        return min(number, total)
    if not 0 < number <= 100:
        raise ValueError(f"value: value of {number} is invalid, Must be (0,100] with mode:{mode}")
    return math.ceil(total * number / 100)


def _match_labels(selector: Mapping[str, Any]) -> Callable[[Object], bool]:
    desired: Selector = _read_field(
        "labelSelectors", lambda: parse_object({"matchLabels": selector.get("labelSelectors")})
    )
    reported = {"matchExpressions": selector.get("expressionSelectors")}
    tested: Selector = _read_field("expressionSelectors", lambda: parse_object(reported))
    return lambda pod: admits(desired | tested, pod["metadata"].get("labels") or {})


def _match_annotations(selector: Mapping[str, Any]) -> Callable[[Object], bool]:
    reported = selector.get("annotationSelectors") or {}

    def as_labels() -> Selector:
        # The manager joins them into the text of a label selector and parses that.
        found = parse(",".join(f"{key}={value}" for key, value in reported.items() if key))
        for each in found:
            for value in each.values or ():
                check_value(value)
        return found

    desired: Selector = _read_field("annotationSelectors", as_labels)
    return lambda pod: admits(desired, pod["metadata"].get("annotations") or {})


def _match_phases(selector: Mapping[str, Any]) -> Callable[[Object], bool]:
    phases: Selector = _read_field(
        "podPhaseSelectors", lambda: parse(",".join(selector.get("podPhaseSelectors") or ()))
    )
    if any(each.values is not None for each in phases):
        raise ValueError("podPhaseSelectors: unsupported operator, expected phases such as `Running` or `!Pending`")
    desired = {each.key for each in phases if each.desired}
    barred = {each.key for each in phases if not each.desired}

    def holds(pod: Object) -> bool:
        phase = _FIELDS["status.phase"](pod)
        return phase not in barred and (not desired or phase in desired)

    return holds


def _match_fields(selector: Mapping[str, Any], unknown: Container[str]) -> list[Callable[[Object], bool]]:
    fields: Mapping[str, str] = selector.get("fieldSelectors") or {}
    for name in fields:
        if name not in _FIELDS:
            raise ValueError(f"fieldSelectors: field label not supported: {name}")
    return [_match_field(name, value) for name, value in fields.items() if name not in unknown]


def _match_field(name: str, value: str) -> Callable[[Object], bool]:
    return lambda pod: _FIELDS[name](pod) == value


def _read_field(field: str, parts: Callable[[], Any]) -> Any:
    try:
        return parts()
    except ValueError as error:
        raise ValueError(f"{field}: {error}") from error


def _read_spec(pod: Object, field: str) -> str:
    return str((pod.get("spec") or {}).get(field, ""))
