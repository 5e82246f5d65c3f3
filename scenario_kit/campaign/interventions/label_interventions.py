"""Which repairs of labelled causes end an incident, and which must not (docs/validator.md). Pure.

Causes join twice: those of one fault as the fault says, the labelled faults as the ground truth says. *Independent*
causes each keep the incident going, so all of them have to be repaired; of *Conjunctive* ones any single repair is
enough. Every claim that follows is one trial.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from scenario_kit.judge.alerts.expectations import is_same_entity
from scenario_kit.model import Entity, Fault, Procedure, Runbook
from scenario_kit.model.authored.scenario import LABELLED


class CauseRepair(NamedTuple):
    """An object that a fault writes as a cause, and the procedure that repairs exactly it."""

    fault: str
    entity: str
    fix: Procedure


class LeftOut(NamedTuple):
    """All but one of the causes that have to be repaired together: the alerts of the one that is left keep firing."""

    repaired: tuple[CauseRepair, ...]
    left: CauseRepair


def list_labelled(runbook: Runbook) -> list[CauseRepair]:
    """List the causes that the ground truth names, fault by fault."""
    return [c for f in runbook.faults for c in _list_causes(runbook, f) if _is_labelled(runbook, f, c.entity)]


def list_answers(runbook: Runbook) -> list[CauseRepair]:
    """List what may be named as a cause: the labelled ones, and what joins conjunctively with one of them.

    To repair such an alternative is said to end the incident just as well, which is tried like the label itself.
    """
    named = {c.fault for c in list_labelled(runbook)}
    return [
        cause
        for fault in runbook.faults
        for cause in _list_causes(runbook, fault)
        if _is_labelled(runbook, fault, cause.entity) or _is_alternative(runbook, fault, named)
    ]


def list_unlabelled(runbook: Runbook) -> list[CauseRepair]:
    """List everything else that the faults changed as a cause: triggers, distractors, and causes that no label
    names.
    """
    known = list_answers(runbook)
    return [c for fault in runbook.faults for c in _list_causes(runbook, fault) if c not in known]


def find_repairs(runbook: Runbook) -> list[tuple[CauseRepair, ...]]:
    """Find sets of answers, each of which ends the incident when it is repaired, and has nothing to spare.

    Every answer is in one of them. With independent causes there is one set, with conjunctive ones one for each cause;
    where both meet, alternatives are taken side by side, not every combination of them.
    """
    known = list_answers(runbook)
    faults = []
    for fault in runbook.faults:
        causes = [c for c in known if c.fault == fault.name]
        if causes:
            faults.append(_join_causes(fault.causes_join, [[(c,)] for c in causes]))
    return _join_causes(runbook.ground_truth.causes_join, faults)


def leave_one_out(sets: Iterable[Sequence[CauseRepair]]) -> list[LeftOut]:
    """Return each set of repairs less one of its causes; a set of one leaves nothing to repair, which holding shows."""
    found: dict[tuple[frozenset[str], str], LeftOut] = {}  # by the names of the fixes that are made
    for causes in sets:
        for left in causes:
            rest = tuple(c for c in causes if c is not left)
            if rest:
                found.setdefault((frozenset(c.fix.name for c in rest), left.fault), LeftOut(rest, left))
    return list(found.values())


def list_other_causes(runbook: Runbook, fault: Fault) -> tuple[CauseRepair, ...]:
    """List the causes of other faults that keep the alerts firing whatever becomes of this one; none without a
    label.
    """
    sets = (s for s in find_repairs(runbook) if any(c.fault == fault.name for c in s))
    return tuple(c for c in next(sets, ()) if c.fault != fault.name)


def _join_causes(join: str, parts: Sequence[list[tuple[CauseRepair, ...]]]) -> list[tuple[CauseRepair, ...]]:
    if join == "Conjunctive":
        return [one for part in parts for one in part]
    most = max((len(part) for part in parts), default=0)
    return [tuple(c for part in parts for c in part[i % len(part)]) for i in range(most)]


def _list_causes(runbook: Runbook, fault: Fault) -> list[CauseRepair]:
    """List a fix exists per cause entity of each fault, named ``<fault>:<position among its causes>``."""
    fixes = {p.name: p for p in runbook.procedures if p.use == "Fix"}
    named: list[tuple[str, Entity]] = [(f"{fault.name}:{i}", e) for i, e in enumerate(fault.causes)]
    return [CauseRepair(fault.name, e.ref, fixes[name]) for name, e in named if name in fixes]


def _is_alternative(runbook: Runbook, fault: Fault, named: Collection[str]) -> bool:
    """Return whether all of a fault's causes are answers, labelled or not; ``named`` are the faults with a label."""
    if fault.name in named:
        return fault.causes_join == "Conjunctive"
    return bool(named) and fault.role in LABELLED and runbook.ground_truth.causes_join == "Conjunctive"


def _is_labelled(runbook: Runbook, fault: Fault, entity: str) -> bool:
    return any(
        cause.fault == fault.name and (not cause.entity or is_same_entity(cause.entity, entity))
        for cause in runbook.ground_truth.root_causes
    )
