"""Which repairs of labelled causes must end an incident, and which must not (docs/validator.md). Pure.

Causes within a fault combine as the fault says, labelled faults as the ground truth says. *Independent* causes each
sustain the incident, so that all must be repaired; of *Conjunctive* causes, one repair is enough. Each resulting claim
is tested by a trial.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from scenario_kit.judge.alerts.expectations import is_same_entity
from scenario_kit.model import Entity, Fault, Procedure, Reference, Runbook
from scenario_kit.model.authored.scenario import LABELLED


class CauseRepair(NamedTuple):
    """A cause that a fault writes, and the procedure that repairs just this cause."""

    fault: str
    entity: Reference
    fix: Procedure


class LeftOut(NamedTuple):
    """A set of causes to repair together, except one, whose alerts must keep firing."""

    repaired: tuple[CauseRepair, ...]
    left: CauseRepair


def list_labelled(runbook: Runbook) -> list[CauseRepair]:
    """Return the causes that the ground truth labels, by fault."""
    return [c for f in runbook.faults for c in _list_causes(runbook, f) if _is_labelled(runbook, f, c.entity)]


def list_answers(runbook: Runbook) -> list[CauseRepair]:
    """Return the causes that count as answers: labelled ones, and those conjunctive with a labelled one.

    Repairing such an alternative must end the incident as well, which is tested like the label itself.
    """
    named = {c.fault for c in list_labelled(runbook)}
    return [
        cause
        for fault in runbook.faults
        for cause in _list_causes(runbook, fault)
        if _is_labelled(runbook, fault, cause.entity) or _is_alternative(runbook, fault, named)
    ]


def list_unlabelled(runbook: Runbook) -> list[CauseRepair]:
    """Return all other causes: of triggers and distractors, and unlabelled ones."""
    known = list_answers(runbook)
    return [c for fault in runbook.faults for c in _list_causes(runbook, fault) if c not in known]


def find_repairs(runbook: Runbook) -> list[tuple[CauseRepair, ...]]:
    """Return minimal sets of answers, each of which ends the incident if repaired.

    Every answer is in one of them. Independent causes form one set, conjunctive ones a set each; if both occur,
    alternatives are combined in parallel instead of all combinations.
    """
    known = list_answers(runbook)
    faults = []
    for fault in runbook.faults:
        causes = [c for c in known if c.fault == fault.name]
        if causes:
            faults.append(_join_causes(fault.causes_join, [[(c,)] for c in causes]))
    return _join_causes(runbook.ground_truth.causes_join, faults)


def leave_one_out(sets: Iterable[Sequence[CauseRepair]]) -> list[LeftOut]:
    """Return each set of repairs without one of its causes; for single causes, the hold step covers it."""
    found: dict[tuple[frozenset[str], str], LeftOut] = {}  # by the names of the fixes
    for causes in sets:
        for left in causes:
            rest = tuple(c for c in causes if c is not left)
            if rest:
                found.setdefault((frozenset(c.fix.name for c in rest), left.fault), LeftOut(rest, left))
    return list(found.values())


def list_other_causes(runbook: Runbook, fault: Fault) -> tuple[CauseRepair, ...]:
    """Return the causes of other faults that sustain the alerts regardless of this one."""
    sets = (s for s in find_repairs(runbook) if any(c.fault == fault.name for c in s))
    return tuple(c for c in next(sets, ()) if c.fault != fault.name)


def _join_causes(join: str, parts: Sequence[list[tuple[CauseRepair, ...]]]) -> list[tuple[CauseRepair, ...]]:
    if join == "Conjunctive":
        return [one for part in parts for one in part]
    most = max((len(part) for part in parts), default=0)
    return [tuple(c for part in parts for c in part[i % len(part)]) for i in range(most)]


def _list_causes(runbook: Runbook, fault: Fault) -> list[CauseRepair]:
    """Return the causes of a fault with a fix, which is named ``<fault>:<index of the cause>``."""
    fixes = {p.name: p for p in runbook.procedures if p.use == "Fix"}
    named: list[tuple[str, Entity]] = [(f"{fault.name}:{i}", e) for i, e in enumerate(fault.causes)]
    return [CauseRepair(fault.name, e.ref, fixes[name]) for name, e in named if name in fixes]


def _is_alternative(runbook: Runbook, fault: Fault, named: Collection[str]) -> bool:
    """Return whether all causes of a fault are answers; ``named`` are the labelled faults."""
    if fault.name in named:
        return fault.causes_join == "Conjunctive"
    return bool(named) and fault.role in LABELLED and runbook.ground_truth.causes_join == "Conjunctive"


def _is_labelled(runbook: Runbook, fault: Fault, entity: Reference) -> bool:
    return any(
        cause.fault == fault.name and (not cause.entity or is_same_entity(cause.entity, entity))
        for cause in runbook.ground_truth.root_causes
    )
