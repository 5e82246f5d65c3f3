"""The ground truth of an incident, common to all formats: groups of objects, aliases and propagation."""

from __future__ import annotations

from typing import Literal

from scenario_kit.model.base import Value

Outcome = Literal["Incident", "Benign", "NoIncident"]


class TruthGroup(Value, frozen=True, kw_only=True):
    """A group of objects, given by ``names`` or by ``patterns`` that match a whole name."""

    id: str
    kind: str
    namespace: str = ""
    names: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    root: bool = False


class CausalEdge(Value, frozen=True, kw_only=True):
    """An effect of ``source`` on ``target``, both ids of groups."""

    source: str
    target: str
    condition: str = ""
    effect: str = ""


class FinopsResource(Value, frozen=True, kw_only=True):
    """A resource that explains a cost anomaly: a name at one level of the account."""

    name: str
    type: str


class IncidentTruth(Value, frozen=True, kw_only=True):
    """The ground truth of an incident. Outcomes other than ``Incident`` are controls, for which any claim is wrong.

    ``steps`` is the number of changes of the shortest documented repair; ``repaired`` are the objects that documented
    repairs change.
    """

    incident: str
    outcome: Outcome = "Incident"
    groups: tuple[TruthGroup, ...] = ()
    aliases: tuple[tuple[str, ...], ...] = ()
    edges: tuple[CausalEdge, ...] = ()
    alerts: tuple[str, ...] = ()
    resources: tuple[FinopsResource, ...] = ()
    steps: int | None = None
    repaired: tuple[TruthGroup, ...] = ()
