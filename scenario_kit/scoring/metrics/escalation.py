"""The score of an escalation: necessity, addressee and diagnosis."""

from __future__ import annotations

from collections.abc import Collection

from scenario_kit.model.base import Value
from scenario_kit.scoring.entities.name import parse_entity_name
from scenario_kit.scoring.matching.matcher import TruthIndex, fit_entity

#: What an addressee is worth whose component only suffers from the cause: its owners can pass the incident on.
_IMPACTED = 0.5


class Escalation(Value, frozen=True, kw_only=True):
    """A handover. ``to`` is the object whose owners are to take over, empty if none was named."""

    to: str = ""
    reason: str = ""


class EscalationScore(Value, frozen=True, kw_only=True):
    """``routing`` is the share of the way to the right owners, ``handover`` the F1 of the diagnosis that came along.

    ``value`` is their mean; 0 where there was nothing to hand over.
    """

    routing: float
    handover: float
    value: float


def score_escalation(
    index: TruthIndex, escalation: Escalation, diagnosis: float, hurt: Collection[str], *, needed: bool
) -> EscalationScore:
    """Score an escalation.

    Args:
        index: the ground truth.
        escalation: to whom.
        diagnosis: the F1 of the root causes in the answer, 0 without one.
        hurt: the classes on the propagation.
        needed: whether something was broken, and was not repaired.
    """
    routing = _measure_routing(index, escalation.to, hurt)
    value = (routing + diagnosis) / 2 if needed else 0.0
    return EscalationScore(routing=routing, handover=diagnosis, value=value)


def _measure_routing(index: TruthIndex, to: str, hurt: Collection[str]) -> float:
    entity = parse_entity_name(to)
    if entity is None:
        return 0.0
    found = fit_entity(index, entity).class_ids
    if len(found) != 1:
        return 0.0
    if found[0] in {each.id for each in index.roots}:
        return 1.0
    return _IMPACTED if found[0] in hurt else 0.0
