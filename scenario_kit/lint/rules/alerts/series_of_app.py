"""What is known of series without a cluster: which none exports, and which the healthy app has with which values."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, Final

from scenario_kit.catalog import Catalog
from scenario_kit.catalog.capabilities import list_capabilities
from scenario_kit.lint.rules.alerts.query_values.metric_bounds import accepts_value
from scenario_kit.lint.rules.alerts.query_values.value_bounds import ValueBounds
from scenario_kit.lint.rules.alerts.unseen_series import find_unseen, list_exported
from scenario_kit.load.promql.parser import list_selectors, parse_expression
from scenario_kit.model import App, FaultType, Object
from scenario_kit.render.objects.lookup import read_spec

#: Series of a workload's replicas, which all exist while nothing is broken; a group names the kind.
_REPLICAS: Final = re.compile(
    r"kube_(deployment)_(?:spec_replicas|status_replicas(?:_available|_ready|_updated)?)"
    r"|kube_(statefulset)_(?:replicas|status_replicas(?:_available|_ready|_updated|_current)?)"
)
#: Series that are 0 while nothing is broken.
_IDLE: Final = re.compile(r"kube_(deployment)_(?:spec_paused|status_replicas_unavailable)")
_KINDS: Final = {"deployment": "Deployment", "statefulset": "StatefulSet"}


def is_for_lab(catalog: Catalog, app: App, types: Sequence[FaultType]) -> bool:
    """Return whether the lab can run an app with these faults, so that no series but a lab's counts."""
    needs = {need for known in types for need in known.requires}
    return app.twin is not None and not needs & _list_lacking(catalog)


@lru_cache(maxsize=8)
def _list_lacking(catalog: Catalog) -> frozenset[str]:
    """Return the names of the capabilities that the lab lacks."""
    return frozenset(each.name for each in list_capabilities(catalog) if not each.lab)


def list_unseen(expr: str, app: App) -> dict[str, str]:
    """Return the selectors of series that nothing in a lab of ``app`` exports, each with what is unknown in it.

    Raises:
        ValueError: not PromQL.
    """
    selectors, exported = list_selectors(parse_expression(expr)), list_exported(app)
    return {each.prettify(): unseen for each in selectors if (unseen := find_unseen(each, exported))}


def list_healthy(expr: str, objects: Sequence[Object]) -> dict[str, ValueBounds]:
    """Return the bounds of selected series in the healthy app, where its objects tell, by the selector's text.

    Raises:
        ValueError: not PromQL.
    """
    if is_scaled(objects):
        return {}
    bounds = ((each.prettify(), _bound_healthy(each, objects)) for each in list_selectors(parse_expression(expr)))
    return {text: known for text, known in bounds if known is not None}


def is_scaled(objects: Sequence[Object]) -> bool:
    """Return whether an autoscaler may have changed the numbers of replicas."""
    return any(obj["kind"] == "HorizontalPodAutoscaler" for obj in objects)


def _bound_healthy(selector: Any, objects: Sequence[Object]) -> ValueBounds | None:
    name = str(selector.name or "")
    replicas, idle = _REPLICAS.fullmatch(name), _IDLE.fullmatch(name)
    if (matched := replicas or idle) is None or selector.matchers.or_matchers:
        return None
    label = next(group for group in matched.groups() if group)
    counts = list(_list_replicas(selector, label, objects))
    if not counts:
        return None
    low, high = (0, 0) if idle else (min(counts), max(counts))
    return ValueBounds(low, high, sure=True, labelled=True, single=len(counts) == 1)


def _list_replicas(selector: Any, label: str, objects: Sequence[Object]) -> Iterator[int]:
    """Yield the replicas of the workloads that a selector names; none if it has other matchers."""
    matchers = list(selector.matchers.matchers)
    if any(matcher.name != label for matcher in matchers):
        return
    for obj in objects:
        if obj["kind"] == _KINDS[label] and all(accepts_value(m, obj["metadata"]["name"]) for m in matchers):
            yield int(read_spec(obj).get("replicas", 1))
