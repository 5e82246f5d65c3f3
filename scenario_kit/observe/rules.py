"""Scope the PromQL of rules to the namespaces of a trial."""

from __future__ import annotations

from typing import Any

import promql_parser

from scenario_kit.errors import KitError
from scenario_kit.load.promql.recording import find_vector_selectors
from scenario_kit.load.promql.rewrite import find_selectors

#: Metric prefixes of machines and cluster-scoped objects, which have no app namespace.
CLUSTER_METRICS = (
    "apiserver_", "etcd_", "kube_clusterrole", "kube_node_", "kube_persistentvolume_", "kube_storageclass_", "machine_",
    "node_", "prometheus_", "scheduler_", "scrape_",
)  # fmt: skip


def scope(expr: str, namespace: str, *others: str) -> str:
    """Add ``namespace="<namespace>"`` to every selector of namespaced series.

    With ``others``, series of any of these namespaces are selected.

    Raises:
        AuthoringError: ``expr`` is not PromQL, or uses a construct that cannot be scoped.
    """
    before = find_vector_selectors(expr)
    places = find_selectors(expr)
    if len(places) != len(before):
        raise KitError(f"{expr}: {len(before)} selectors were parsed, {len(places)} were found in the text")
    operator, value = ("=~", "|".join((namespace, *others))) if others else ("=", namespace)
    matcher = f'namespace{operator}"{value}"'
    scoped = expr
    for place, node in reversed(list(zip(places, before, strict=True))):
        if not _has_namespace(node):
            continue
        if place.brace < 0:
            scoped = f"{scoped[: place.end]}{{{matcher}}}{scoped[place.end :]}"
        else:
            comma = "" if place.empty else ","
            scoped = f"{scoped[: place.brace + 1]}{matcher}{comma}{scoped[place.brace + 1 :]}"
    _verify(expr, scoped, before, value, promql_parser.MatchOp.Re if others else promql_parser.MatchOp.Equal)
    return scoped


def _read_metric(node: Any) -> str:
    """Return the metric name; empty if it is given by a pattern."""
    named = (m.value for m in node.matchers.matchers if m.name == "__name__" and m.op == promql_parser.MatchOp.Equal)
    return str(node.name or next(named, ""))


def _has_namespace(node: Any) -> bool:
    return not _read_metric(node).startswith(CLUSTER_METRICS)


def _list_matchers(node: Any) -> list[tuple[str, str, str]]:
    return sorted((m.name, str(m.op), m.value) for m in node.matchers.matchers)


def _verify(expr: str, scoped: str, before: list[Any], namespace: str, operator: Any) -> None:
    """Verify that the rewritten expression parses to the same selectors plus the matcher."""
    desired = []
    for node in before:
        extra = [("namespace", str(operator), namespace)] if _has_namespace(node) else []
        desired.append((node.name, sorted([*_list_matchers(node), *extra])))
    got = [(node.name, _list_matchers(node)) for node in find_vector_selectors(scoped)]
    if got != desired:
        raise KitError(f"scoping {expr} to {namespace} gave {scoped}, which selects other series")
