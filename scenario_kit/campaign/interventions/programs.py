"""Programs: the steps of trials by purpose (docs/architecture.md, docs/plans.md). Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from scenario_kit.campaign.interventions.artefacts import Artefact
from scenario_kit.campaign.interventions.cheats import RESTARTS
from scenario_kit.campaign.interventions.label_interventions import CauseRepair, LeftOut
from scenario_kit.campaign.interventions.persistence import PATIENCE, Ending
from scenario_kit.campaign.interventions.repair_side_effects import SideEffect
from scenario_kit.judge.repair.cheating import REVERT
from scenario_kit.model import Procedure, Runbook, TrialStep

_START: Final = (TrialStep(kind="deploy"), TrialStep(kind="expectQuiet"))
_BREAK: Final = (TrialStep(kind="inject"), TrialStep(kind="expectAlerts"))
_END: Final = (TrialStep(kind="teardown"), TrialStep(kind="expectClean"))
#: Maximum length of a step's name.
_LONGEST: Final = 128


def build_live(outcome: str = "Incident") -> tuple[TrialStep, ...]:
    """Build the program of an applied Scenario, which runs until the object is deleted.

    An incident lasts until it is resolved, a benign one until it has passed; without an incident, the app keeps running
    with its harmless changes.
    """
    if outcome == "NoIncident":
        return (*_START, TrialStep(kind="inject"), TrialStep(kind="hold", forever=True))
    return (*_START, *_BREAK, TrialStep(kind="expectCleared", forever=True))


def build_handover(outcome: str, seconds: int) -> tuple[TrialStep, ...]:
    """Build the program before an investigation: a quiet app, and then the incident with its alerts.

    Without an incident, the app runs for ``seconds`` with its harmless changes.
    """
    if outcome == "NoIncident":
        return (*_START, TrialStep(kind="inject"), TrialStep(kind="hold", seconds=seconds))
    return (*_START, *_BREAK)


def build_paired(decoys: Sequence[Procedure], repair: Sequence[TrialStep]) -> tuple[TrialStep, ...]:
    """Build a paired repeat: quiet, broken, held; each decoy tried and undone; then repaired."""
    return (*_START, *_BREAK, TrialStep(kind="hold"), *_try_decoys(decoys), *repair, *_END)


def build_benign() -> tuple[TrialStep, ...]:
    """Build a trial of a benign scenario: only declared alerts fire, and resolve by themselves."""
    return (*_START, *_BREAK, TrialStep(kind="hold"), TrialStep(kind="expectCleared"), *_END)


def build_no_incident(seconds: int) -> tuple[TrialStep, ...]:
    """Build a trial without an incident: nothing fires, even with distractors, as long as a repeat takes."""
    return (*_START, TrialStep(kind="inject"), TrialStep(kind="hold", seconds=seconds), *_END)


def build_recorded(
    outcome: str = "Incident", *, quiet: int | None = None, hold: int | None = None
) -> tuple[TrialStep, ...]:
    """Build a trial for recording: quiet, broken, held for ``hold`` seconds, then everything is removed.

    ``quiet`` are the seconds before the injection; the defaults are the scenario's windows.
    """
    alerts = () if outcome == "NoIncident" else (TrialStep(kind="expectAlerts"),)
    return (
        TrialStep(kind="deploy"),
        TrialStep(kind="expectQuiet", seconds=quiet),
        TrialStep(kind="inject"),
        *alerts,
        TrialStep(kind="hold", seconds=hold),
        *_END,
    )


def solve(repair: Sequence[TrialStep]) -> tuple[TrialStep, ...]:
    """Build a trial of another repair, on a fresh app."""
    return (*_START, *_BREAK, *repair, *_END)


def build_control(seconds: int, rollout: Procedure | None = None, *, after: int = 0) -> tuple[TrialStep, ...]:
    """Build the control without a fault: nothing may fire as long as a repeat takes from quiet to the end of hold.

    With ``rollout``, the sham control follows on the same app: only the restarts that the injection causes, after which
    nothing may fire for ``after`` seconds.
    """
    sham: tuple[TrialStep, ...] = ()
    if rollout is not None:
        sham = (
            TrialStep(kind="change", use="Sham", name=rollout.name),
            TrialStep(kind="expectQuiet", use="Sham", name=rollout.name, seconds=after),
        )
    return (TrialStep(kind="deploy"), TrialStep(kind="expectQuiet", seconds=seconds), *sham, *_END)


def scan() -> tuple[TrialStep, ...]:
    """Build a trial that searches everything a solver can read for the answer."""
    return (*_START, *_BREAK, TrialStep(kind="expectNoLeaks"), *_END)


def build_distractors(names: Sequence[str], seconds: int) -> tuple[TrialStep, ...]:
    """Build a trial of the distractors alone: nothing may fire as long as a repeat holds."""
    return (
        *_START,
        TrialStep(kind="inject", faults=tuple(names)),
        TrialStep(kind="expectQuiet", seconds=seconds),
        *_END,
    )


def build_without(names: Sequence[str]) -> tuple[TrialStep, ...]:
    """Build the incident without its triggers, or without its distractors, to see which alerts depend on them."""
    left = tuple(names)
    return (*_START, TrialStep(kind="inject", except_=left), TrialStep(kind="expectAlerts", faults=left), *_END)


def fix_only(causes: Sequence[CauseRepair], *, scanned: bool = False) -> tuple[TrialStep, ...]:
    """Build a label intervention: repairing just these labelled causes must resolve the incident.

    With ``scanned``, everything a solver can read is searched for the answer first.
    """
    scan = (TrialStep(kind="expectNoLeaks"),) if scanned else ()
    return (
        *_START,
        *_BREAK,
        *scan,
        *_build_fixes(causes),
        TrialStep(kind="expectCleared", use="Fix", name=_names(causes)),
        *_END,
    )


def fix_others(causes: Sequence[CauseRepair]) -> tuple[TrialStep, ...]:
    """Build the counter-intervention: repairing everything unlabelled must not clear the alerts."""
    return (
        *_START,
        *_BREAK,
        *_build_fixes(causes),
        TrialStep(kind="expectStillFiring", use="Fix", name=_names(causes)),
        *_END,
    )


def fix_beside(each: SideEffect) -> tuple[TrialStep, ...]:
    """Build a trial of a repair's side effects, with all other causes repaired: alerts must keep firing."""
    steps = [*_build_fixes(each.others), TrialStep(kind="change", use="Fix", name=each.part.name)]
    return (*_START, *_BREAK, *steps, TrialStep(kind="expectStillFiring", use="Fix", name=each.part.name), *_END)


def fix_apart(each: SideEffect) -> tuple[TrialStep, ...]:
    """Build a trial of a repair without its changes to unlabelled objects, with all others repaired."""
    steps = [*_build_fixes(each.others), TrialStep(kind="change", use="Fix", name=each.part.name)]
    return (*_START, *_BREAK, *steps, TrialStep(kind="expectCleared", use="Fix", name=each.part.name), *_END)


def undo_artefact(each: Artefact) -> tuple[TrialStep, ...]:
    """Build a trial that undoes only what a fault did to one unlabelled object: alerts must keep firing."""
    undone, left = (each.fault,), (each.fault,) if each.others else ()
    steps = [*_build_fixes(each.others), TrialStep(kind="change", use="Undo", name=each.entity, faults=undone)]
    expectation = TrialStep(kind="expectStillFiring", use="Undo", name=each.entity, faults=left)
    return (*_START, *_BREAK, *steps, expectation, *_END)


def end(each: Ending) -> tuple[TrialStep, ...]:
    """Build a trial of a fault that ends by itself, or with its pods after a restart of every workload."""
    steps = [*_START, *_BREAK, *_build_fixes(each.others)]
    if each.how == "Wait":
        waited = TrialStep(kind="expectCleared", use="Wait", name=each.fault, seconds=PATIENCE)
        return (*steps, waited, *_END)
    restarted = (
        TrialStep(kind="change", use="Cheat", name=RESTARTS),
        TrialStep(kind="expectCleared", use="Cheat", name=RESTARTS),
    )
    return (*steps, *restarted, *_END)


def leave_out(
    claim: LeftOut, decoys: Sequence[Procedure] = (), repair: Sequence[TrialStep] = ()
) -> tuple[TrialStep, ...]:
    """Build a leave-one-out trial: with all but one cause repaired, the alerts of that one keep firing.

    Then its decoys and its own solution are tried: with other causes present, neither could be judged.
    """
    expectation = TrialStep(
        kind="expectStillFiring", use="Fix", name=_names(claim.repaired), faults=(claim.left.fault,)
    )
    return (*_START, *_BREAK, *_build_fixes(claim.repaired), expectation, *_try_decoys(decoys), *repair, *_END)


def solve_left(claim: LeftOut, repair: Sequence[TrialStep]) -> tuple[TrialStep, ...]:
    """Build a trial of a further solution of one cause, with all others repaired, so that it has to do something."""
    return (*_START, *_BREAK, *_build_fixes(claim.repaired), *repair, *_END)


def try_before_fixes(claim: LeftOut, decoy: Procedure) -> tuple[TrialStep, ...]:
    """Build a trial of a decoy that changes what the repair of the other causes changes: that repair follows it."""
    tried = TrialStep(kind="change", use="Decoy", name=decoy.name)
    expectation = TrialStep(kind="expectStillFiring", use="Decoy", name=decoy.name, faults=(claim.left.fault,))
    return (*_START, *_BREAK, tried, *_build_fixes(claim.repaired), expectation, *_END)


def build_cheated(
    cheats: Sequence[Procedure], repair: Sequence[TrialStep], starts: Sequence[Procedure] = ()
) -> tuple[TrialStep, ...]:
    """Build a trial of cheats, each tried and undone; and of a repair that is reverted at once.

    ``starts`` follow the reverted repair, so that faults that only act at startup are active again.
    """
    steps: list[TrialStep] = [*_START, *_BREAK]
    for cheat in cheats:
        steps += [
            TrialStep(kind="change", use="Cheat", name=cheat.name),
            TrialStep(kind="expectUnresolved", use="Cheat", name=cheat.name),
            TrialStep(kind="undoChange", use="Cheat", name=cheat.name),
        ]
    taken_back = [s for s in repair if s.kind == "change" and s.use != "RemoveFault"]
    if taken_back and len(taken_back) == sum(s.kind == "change" for s in repair):
        steps += taken_back
        steps += [TrialStep(kind="undoChange", use=s.use, name=s.name) for s in reversed(taken_back)]
        steps += [TrialStep(kind="change", use="Cheat", name=p.name) for p in starts]
        steps.append(TrialStep(kind="expectUnresolved", use="Cheat", name=REVERT))
    return (*steps, *_END)


def list_by_use(runbook: Runbook, use: str) -> list[Procedure]:
    """Return the procedures of one use, in the author's order."""
    return [p for p in runbook.procedures if p.use == use]


def _try_decoys(decoys: Sequence[Procedure]) -> list[TrialStep]:
    """Try each decoy, which must not clear anything, and undo it."""
    return [
        step
        for decoy in decoys
        for step in (
            TrialStep(kind="change", use="Decoy", name=decoy.name),
            TrialStep(kind="expectStillFiring", use="Decoy", name=decoy.name),
            TrialStep(kind="undoChange", use="Decoy", name=decoy.name),
        )
    ]


def _build_fixes(causes: Sequence[CauseRepair]) -> list[TrialStep]:
    return [TrialStep(kind="change", use="Fix", name=c.fix.name) for c in causes]


def _names(causes: Sequence[CauseRepair]) -> str:
    return ", ".join(c.fix.name for c in causes)[:_LONGEST]
