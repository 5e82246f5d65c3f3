"""Distinguish checks that repeat what was written from those that observe a consequence.

kube-state-metrics has a series for nearly every field of every object. Controllers report those under `status`, users
write all others: a check that reads one of these reads back the fault's own change.
"""

from __future__ import annotations

import re
from typing import Any, Final

from scenario_kit.lint.rules.alerts.object_values.field_domains import list_names
from scenario_kit.lint.rules.alerts.promql import read_number
from scenario_kit.lint.rules.alerts.query_values.evaluation import compute_bounds
from scenario_kit.lint.rules.alerts.query_values.metric_bounds import bound_metric
from scenario_kit.load.promql import parser

#: Series of kube-state-metrics that controllers, kubelets and endpoints report.
_REPORTED: Final = re.compile(
    r"kube_\w+_status_(?!observed_generation|.*revision)\w+|kube_pod_(info|deletion_timestamp|completion_time|start_time)"
    r"|kube_job_(complete|failed)|kube_endpoint_address\w*|kube_resourcequota"
)
_STATE: Final = re.compile(r"kube_\w+")
#: Series of exporters and agents that show a setting, a limit or a version.
_SETTINGS: Final = re.compile(
    r"\w+_(build_)?info|container_spec_\w+|k8s_\w+_(limit|request|desired|limit_utilization_base)\w*"
    r"|(pg_settings|redis_config|mysql_global_variables|mongodb_\w*_getparameter)_\w+|redis_memory_max_bytes"
    r"|feature_flag_(state|variant|default)\w*|\w+_config_(last_reload_success_timestamp_seconds|hash)"
)
#: Labels of a pod's series that repeat its spec.
_SPECIFIED: Final = frozenset({"host_network", "priority_class", "created_by_kind", "created_by_name"})
#: Fields below `status` that repeat what was written: a generation, the name of a template.
_COUNTED: Final = re.compile(r"status\.(observedGeneration|\w+Revision|collisionCount)\b|status$")
#: Events that follow any write, harmful or not.
_ROUTINE: Final = frozenset(
    {"ScalingReplicaSet", "SuccessfulCreate", "SuccessfulDelete", "SuccessfulRescale", "Scheduled", "Pulling", "Pulled",
     "Created", "Started", "Killing"}
)  # fmt: skip


def repeats_series(name: str) -> bool:
    """Return whether a series only repeats a field of an object or a setting."""
    if _STATE.fullmatch(name):
        return not _REPORTED.fullmatch(name)
    return _SETTINGS.fullmatch(name) is not None


def repeats_field(path: str) -> bool:
    """Return whether a field of an object repeats what was written."""
    plain = ".".join(list_names(path))
    return not plain.startswith("status") or _COUNTED.match(plain) is not None


def repeats_event(reason: str) -> bool:
    """Return whether an event follows any change of its kind, even a harmless one."""
    return reason in _ROUTINE


def repeats_query(expr: str) -> bool:
    """Return whether an expression depends only on series that repeat what was written.

    False if it is not PromQL, which SK117 reports.
    """
    try:
        return not _is_measurement(parser.parse_expression(expr))
    except ValueError:
        return False


def _is_measurement(node: Any) -> bool:
    kind, operator = type(node).__name__, str(getattr(node, "op", ""))
    if kind == "BinaryExpr":
        sides = [_is_measurement(side) for side in (node.lhs, node.rhs)]
        if operator == "or":  # one of the alternatives may be a constant default
            pairs = zip(sides, (node.lhs, node.rhs), strict=True)
            return all(found for found, side in pairs if parser.list_selectors(side))
        if operator == "*" and 0 in (read_number(node.lhs), read_number(node.rhs)):
            return False
        if operator in ("and", "unless"):  # the right side only decides by its presence
            return sides[0] or (sides[1] and _decides(node.rhs))
        return any(found and _varies(side) for found, side in zip(sides, (node.lhs, node.rhs), strict=True))
    if kind == "VectorSelector":
        return _selects_measured(node)
    return any(_is_measurement(child) for child in parser.list_children(node))


def _decides(node: Any) -> bool:
    """Return whether the presence of an expression carries information."""
    bounds = compute_bounds(node)
    return (bounds.selects or bounds.counts) and not _is_always_there(node)


def _varies(node: Any) -> bool:
    """Return whether an expression has more than one value, or one whose presence carries information."""
    bounds = compute_bounds(node)
    return bounds.low < bounds.high or _decides(node)


def _is_always_there(node: Any) -> bool:
    """Return whether all that an expression selects are marks of any object, of which there always are some."""
    selectors = parser.list_selectors(node)
    return all(bound_metric(each).counts and not list(each.matchers.matchers) for each in selectors)


def _selects_measured(selector: Any) -> bool:
    found = [(m.name, str(m.op), m.value) for m in selector.matchers.matchers]
    name = selector.name or next((value for label, _, value in found if label == "__name__"), "")
    if any(label in _SPECIFIED for label, _, _ in found):
        return False
    stem = re.match(r"\w*", name)
    return not repeats_series(name if re.fullmatch(r"\w+", name) else (stem[0] if stem else name))
