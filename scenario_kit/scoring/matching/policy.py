"""Choices that the published rules leave open; every score states them."""

from __future__ import annotations

from typing import Final, Literal

from scenario_kit.model.base import Value

#: Namespaces that ITBench's evaluator excludes from precision; Chaos Mesh's is not among them.
ITBENCH_NAMESPACES: Final = (
    "clickhouse", "clickhouse-operator", "data-recorders", "kube-system", "metrics-server", "opensearch",
    "opentelemetry-collectors", "opentelemetry-operator", "prometheus",
)  # fmt: skip


class MatchPolicy(Value, frozen=True, kw_only=True, omit_defaults=False):
    """The rules for counting claims.

    ``duplicates``: whether repeated claims on an object count as false positives. ``aliases``: the same for claims on
    another object of a claimed class. ``ignored_namespaces``: unmatched claims in these namespaces are not counted.
    """

    duplicates: Literal["penalise", "ignore"] = "penalise"
    aliases: Literal["merge", "penalise"] = "merge"
    ignored_namespaces: tuple[str, ...] = ()
