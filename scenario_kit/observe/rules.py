"""PromQL of rules, made to fit a trial: scoped to its namespace, recording rules inlined."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import promql_parser

from scenario_kit.errors import AuthoringError, KitError
from scenario_kit.load.promql import parsed, walk
from scenario_kit.observe.selectors import selectors

#: Series about machines and cluster-wide objects; they carry no namespace of an app.
CLUSTER_METRICS = (
    "apiserver_", "etcd_", "kube_clusterrole", "kube_node_", "kube_persistentvolume_", "kube_storageclass_", "machine_",
    "node_", "prometheus_", "scheduler_", "scrape_",
)  # fmt: skip


def scope(expr: str, namespace: str, *others: str) -> str:
    """``expr`` with ``namespace="<namespace>"`` in every selector of series that belong to a namespace.

    With ``others``, series of any of these namespaces are selected.

    Raises:
        AuthoringError: ``expr`` is not PromQL, or uses a construct that cannot be scoped.
    """
    before = _selectors(expr)
    places = selectors(expr)
    if len(places) != len(before):
        raise KitError(f"{expr}: {len(before)} selectors were parsed, {len(places)} were found in the text")
    operator, value = ("=~", "|".join((namespace, *others))) if others else ("=", namespace)
    matcher = f'namespace{operator}"{value}"'
    scoped = expr
    for place, node in reversed(list(zip(places, before, strict=True))):
        if not _namespaced(node):
            continue
        if place.brace < 0:
            scoped = f"{scoped[: place.end]}{{{matcher}}}{scoped[place.end :]}"
        else:
            comma = "" if place.empty else ","
            scoped = f"{scoped[: place.brace + 1]}{matcher}{comma}{scoped[place.brace + 1 :]}"
    _verify(expr, scoped, before, value, promql_parser.MatchOp.Re if others else promql_parser.MatchOp.Equal)
    return scoped


def inline(expr: str, recorded: Mapping[str, str]) -> str:
    """``expr`` with each selector of a recorded series replaced by the expression that records it.

    Args:
        recorded: expressions of recording rules, by the name of the series that they record.

    Raises:
        AuthoringError: a recorded series is selected by labels or over a range, or rules record each other.
    """
    return _inline(expr, recorded, ())


def _inline(expr: str, recorded: Mapping[str, str], open_: tuple[str, ...]) -> str:
    result = expr
    nodes = _selectors(expr)
    for place, node in reversed(list(zip(selectors(expr), nodes, strict=True))):
        if node.name not in recorded:
            continue
        if node.name in open_:
            raise AuthoringError(f"recording rules need each other: {' -> '.join((*open_, node.name))}")
        after = expr[place.end :].lstrip()
        if not place.empty or after.startswith(("[", "offset", "@")):
            raise AuthoringError(
                f"{expr}: the recorded series {node.name} is used with labels, a range or an offset",
                fix="write the expression that it records into the rule",
            )
        body = _inline(recorded[node.name], recorded, (*open_, node.name))
        result = f"{result[: place.start]}({body}){result[place.end :]}"
    _parse(result)
    return result


def _parse(expr: str) -> Any:
    try:
        return parsed(expr)
    except ValueError as error:
        raise AuthoringError(f"not PromQL: {expr}: {error}", fix="check it with: promtool promql format") from error


def _selectors(expr: str) -> list[Any]:
    found = [n for n in walk(_parse(expr)) if isinstance(n, promql_parser.VectorSelector)]
    for node in found:
        if node.matchers.or_matchers:
            raise AuthoringError(f"{expr}: `or` between label matchers is not PromQL", fix="join two selectors by `or`")
    return found


def _metric(node: Any) -> str:
    """The name of the series; empty where a pattern says it, which may stand for any."""
    named = (m.value for m in node.matchers.matchers if m.name == "__name__" and m.op == promql_parser.MatchOp.Equal)
    return str(node.name or next(named, ""))


def _namespaced(node: Any) -> bool:
    return not _metric(node).startswith(CLUSTER_METRICS)


def _matchers(node: Any) -> list[tuple[str, str, str]]:
    return sorted((m.name, str(m.op), m.value) for m in node.matchers.matchers)


def _verify(expr: str, scoped: str, before: list[Any], namespace: str, operator: Any) -> None:
    """The parser's view of the rewritten text: the same selectors, each with the matcher and nothing else."""
    wanted = []
    for node in before:
        extra = [("namespace", str(operator), namespace)] if _namespaced(node) else []
        wanted.append((node.name, sorted([*_matchers(node), *extra])))
    got = [(node.name, _matchers(node)) for node in _selectors(scoped)]
    if got != wanted:
        raise KitError(f"scoping {expr} to {namespace} gave {scoped}, which selects something else")
