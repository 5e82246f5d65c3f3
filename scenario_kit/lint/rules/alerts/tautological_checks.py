"""Which series, fields and events repeat what was written, and which tell what came of it.

kube-state-metrics has a series for nearly every field of every object. Those under `status` are written by who watches
an object, all others by who writes it: a fault that reads one of those reads back its own change.
"""

from __future__ import annotations

import re
from typing import Any, Final

from scenario_kit.lint.rules.alerts.promql import read_number
from scenario_kit.load.promql import parser

#: Series of kube-state-metrics that no author of an object writes: what controllers, kubelets and endpoints report.
_REPORTED: Final = re.compile(
    r"kube_\w+_status_(?!observed_generation|.*revision)\w+|kube_pod_(info|deletion_timestamp|completion_time|start_time)"
    r"|kube_job_(complete|failed)|kube_endpoint_address\w*|kube_resourcequota"
)
_STATE: Final = re.compile(r"kube_\w+")
#: Series of exporters and agents that show a setting, a limit or a version as it was set.
_SETTINGS: Final = re.compile(
    r"\w+_(build_)?info|container_spec_\w+|k8s_\w+_(limit|request|desired|limit_utilization_base)\w*"
    r"|(pg_settings|redis_config|mysql_global_variables|mongodb_\w*_getparameter)_\w+|redis_memory_max_bytes"
    r"|feature_flag_(state|variant|default)\w*|\w+_config_(last_reload_success_timestamp_seconds|hash)"
)
#: Labels of a pod's series that repeat its specification.
_SPECIFIED: Final = frozenset({"host_network", "priority_class", "created_by_kind", "created_by_name"})
#: Fields below `status` that repeat what was written: a counter of writes, or the name of the template.
_COUNTED: Final = re.compile(r"status\.(observedGeneration|\w+Revision|collisionCount)\b|status$")
#: What controllers report of every write, whether it breaks anything or not.
_ROUTINE: Final = frozenset(
    {"ScalingReplicaSet", "SuccessfulCreate", "SuccessfulDelete", "SuccessfulRescale", "Scheduled", "Pulling", "Pulled",
     "Created", "Started", "Killing"}
)  # fmt: skip


def repeats_series(name: str) -> bool:
    """Return whether a series only shows what was written into an object or a setting."""
    if _STATE.fullmatch(name):
        return not _REPORTED.fullmatch(name)
    return _SETTINGS.fullmatch(name) is not None


def repeats_field(path: str) -> bool:
    """Return whether a field of an object is one that is written, or counts what is written."""
    return not path.startswith("status") or _COUNTED.match(path) is not None


def repeats_event(reason: str) -> bool:
    """Return whether an event comes with every change of its kind, harmless ones as well."""
    return reason in _ROUTINE


def repeats_query(expr: str) -> bool:
    """Return whether no part of an expression on which its result depends shows more than what was written.

    Of what is not PromQL nothing is said: SK117 tells.
    """
    try:
        return not _is_measurement(parser.parse_expression(expr))
    except ValueError:
        return False


def _is_measurement(node: Any) -> bool:
    kind, operator = type(node).__name__, str(getattr(node, "op", ""))
    if kind == "BinaryExpr":
        sides = [_is_measurement(side) for side in (node.lhs, node.rhs)]
        if operator == "or":  # of two alternatives one may be a constant, for where there are no series
            return all(found for found, side in zip(sides, (node.lhs, node.rhs), strict=True) if _asks(side))
        if operator == "*" and 0 in (read_number(node.lhs), read_number(node.rhs)):
            return False
        return any(sides)
    if kind == "VectorSelector":
        return _selects_measured(node)
    return any(_is_measurement(child) for child in parser.list_children(node))


def _asks(node: Any) -> bool:
    """Return whether a node looks at any series."""
    return any(type(below).__name__ == "VectorSelector" for below in parser.walk(node))


def _selects_measured(selector: Any) -> bool:
    found = [(m.name, str(m.op), m.value) for m in selector.matchers.matchers]
    name = selector.name or next((value for label, _, value in found if label == "__name__"), "")
    if any(label in _SPECIFIED for label, _, _ in found):
        return False
    stem = re.match(r"\w*", name)
    return not repeats_series(name if re.fullmatch(r"\w+", name) else (stem[0] if stem else name))
