"""The truth of an incident, as every format of it is read: groups of objects, which of them are one, who hurts whom."""

from __future__ import annotations

from typing import Literal

from scenario_kit.model.base import Value

Outcome = Literal["Incident", "Benign", "NoIncident"]


class TruthGroup(Value, frozen=True, kw_only=True):
    """Objects that the truth names: by ``names``, or by ``patterns`` that match a whole name."""

    id: str
    kind: str
    namespace: str = ""
    names: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    root: bool = False


class CausalEdge(Value, frozen=True, kw_only=True):
    """``source`` hurts ``target``; both are ids of groups."""

    source: str
    target: str
    condition: str = ""
    effect: str = ""


class FinopsResource(Value, frozen=True, kw_only=True):
    """What an anomaly of cost is traced to: a name on one level of the account."""

    name: str
    type: str


class IncidentTruth(Value, frozen=True, kw_only=True):
    """What an answer is compared with. Any outcome but ``Incident`` is a control: nothing is to be claimed.

    ``steps`` is the number of changes of the shortest documented repair, ``repaired`` are the objects that documented
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
