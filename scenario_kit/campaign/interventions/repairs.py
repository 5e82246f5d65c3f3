"""Combine documented solutions so that one trial repairs every cause. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from scenario_kit.campaign.interventions.label_interventions import LeftOut
from scenario_kit.model import Procedure, Runbook, TrialStep
from scenario_kit.model.authored.scenario import LABELLED


def list_faults_to_repair(runbook: Runbook) -> list[str]:
    """Return the faults whose causes must be repaired to end the incident."""
    return [f.name for f in runbook.faults if f.role in LABELLED]


def build_solutions(runbook: Runbook) -> list[tuple[TrialStep, ...]]:
    """Build programs that execute the documented solutions, each in one of them, the author's first one first.

    A solution that repairs only some faults is completed by solutions for the rest, or else by the fixes of the
    remaining causes. Faults that cannot be repaired (mitigation ``None``) are removed at the end. Of conjunctive
    faults, repairing one is enough.
    """
    documented = [p for p in runbook.procedures if p.use == "Solution"]
    desired = frozenset(list_faults_to_repair(runbook))
    taken = [f for f in runbook.faults if f.name in desired and f.mitigation == "None"]
    if not documented:
        removed = tuple(_remove(f.name) for f in taken)
        return (
            [(*removed, _build_cleared_step([f.name for f in taken], "RemoveFault"))]
            if len(taken) == len(desired) > 0
            else []
        )
    programs: list[tuple[TrialStep, ...]] = []
    tried: set[str] = set()
    for solution in documented:
        if solution.name in tried:
            continue
        together = _combine_procedures(solution, documented, desired, runbook.ground_truth.causes_join == "Conjunctive")
        tried |= {p.name for p in together}
        programs.append(_build_program(runbook, together, desired))
    return programs


def build_single_solution(runbook: Runbook, claim: LeftOut) -> tuple[TrialStep, ...]:
    """Build the first solution of just the fault that is left, if all others are repaired; empty if there is none.

    Executed together, one solution could hide that another does nothing.
    """
    return next(iter(build_single_solutions(runbook, claim)), ())


def build_single_solutions(runbook: Runbook, claim: LeftOut) -> list[tuple[TrialStep, ...]]:
    """Build every solution of just the fault that is left, in the author's order, if all others are repaired."""
    if claim.left.fault in {cause.fault for cause in claim.repaired}:
        return []
    own = [p for p in runbook.procedures if p.use == "Solution" and p.solution.fixes == (claim.left.fault,)]
    return [
        (TrialStep(kind="change", use="Solution", name=p.name), _build_cleared_step([p.name], "Solution")) for p in own
    ]


def _build_program(runbook: Runbook, together: Sequence[Procedure], desired: frozenset[str]) -> tuple[TrialStep, ...]:
    repaired = frozenset[str]().union(*(_find_repaired(p, desired) for p in together))
    steps = [TrialStep(kind="change", use="Solution", name=p.name) for p in together]
    if runbook.ground_truth.causes_join != "Conjunctive":
        for fault in runbook.faults:
            if fault.name not in desired - repaired:
                continue
            fixes = [p for p in runbook.procedures if p.use == "Fix" and fault.name in p.solution.fixes]
            if fault.mitigation == "None" or not fixes:
                steps.append(_remove(fault.name))
            else:
                needed = fixes[:1] if fault.causes_join == "Conjunctive" else fixes
                steps += [TrialStep(kind="change", use="Fix", name=p.name) for p in needed]
    return (*steps, _build_cleared_step([p.name for p in together], "Solution"))


def _combine_procedures(
    first: Procedure, documented: Sequence[Procedure], desired: frozenset[str], any_is_enough: bool
) -> tuple[Procedure, ...]:
    """Return ``first`` with the fewest others that repair exactly the rest; alone if there are none."""
    rest = desired - _find_repaired(first, desired)
    if not rest or any_is_enough:
        return (first,)
    useful = [p for p in documented if _find_repaired(p, desired) and _find_repaired(p, desired) <= rest]
    for number in range(1, len(rest) + 1):
        for others in combinations(useful, number):
            parts = [_find_repaired(p, desired) for p in others]
            if sum(map(len, parts)) == len(rest) and frozenset().union(*parts) == rest:
                return (first, *others)
    return (first,)


def _find_repaired(solution: Procedure, desired: frozenset[str]) -> frozenset[str]:
    """Return the faults that a solution repairs, by default all of them."""
    return desired & set(solution.solution.fixes) if solution.solution.fixes else desired


def _remove(fault: str) -> TrialStep:
    return TrialStep(kind="change", use="RemoveFault", name=fault)


def _build_cleared_step(names: Sequence[str], use: str) -> TrialStep:
    return TrialStep.from_json({"kind": "expectCleared", "use": use, "name": ", ".join(names)[:128]})
