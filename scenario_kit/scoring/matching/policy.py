"""What the published rules leave open, decided by name, so that every score tells by which rules it came about."""

from __future__ import annotations

from typing import Final, Literal

from scenario_kit.model.base import Value

#: The namespaces that the evaluator of ITBench leaves out of precision; Chaos Mesh's is none of them.
ITBENCH_NAMESPACES: Final = (
    "clickhouse", "clickhouse-operator", "data-recorders", "kube-system", "metrics-server", "opensearch",
    "opentelemetry-collectors", "opentelemetry-operator", "prometheus",
)  # fmt: skip


class MatchPolicy(Value, frozen=True, kw_only=True, omit_defaults=False):
    """How claims are counted.

    ``duplicates``: a further claim on the same object counts as a false positive, or not at all. ``aliases``: the same
    for a claim on another object of a class that is claimed already. ``ignored_namespaces``: claims there that fit
    nothing of the truth are not counted.
    """

    duplicates: Literal["penalise", "ignore"] = "penalise"
    aliases: Literal["merge", "penalise"] = "merge"
    ignored_namespaces: tuple[str, ...] = ()
