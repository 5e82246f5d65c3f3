"""Programs: which steps a trial of each purpose consists of (docs/architecture.md, docs/plans.md). Pure."""

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
#: The longest name of a step.
_LONGEST: Final = 128


def build_live(outcome: str = "Incident") -> tuple[TrialStep, ...]:
    """Build a Scenario that was applied, until the object is deleted, which cleans up.

    An incident lasts until somebody resolves it, what is benign until it has passed, and where there is no incident the
    app (with the harmless changes) is there to be looked at.
    """
    if outcome == "NoIncident":
        return (*_START, TrialStep(kind="inject"), TrialStep(kind="hold", forever=True))
    return (*_START, *_BREAK, TrialStep(kind="expectCleared", forever=True))


def build_handover(outcome: str, seconds: int) -> tuple[TrialStep, ...]:
    """Build what comes before somebody investigates: a quiet app, and then the trouble with its alerts.

    Where there is no incident, the app with the harmless changes runs for so many ``seconds``.
    """
    if outcome == "NoIncident":
        return (*_START, TrialStep(kind="inject"), TrialStep(kind="hold", seconds=seconds))
    return (*_START, *_BREAK)


def build_paired(decoys: Sequence[Procedure], repair: Sequence[TrialStep]) -> tuple[TrialStep, ...]:
    """Build the paired repeat: quiet, broken, held; each decoy tried and undone; then repaired."""
    return (*_START, *_BREAK, TrialStep(kind="hold"), *_try_decoys(decoys), *repair, *_END)


def build_benign() -> tuple[TrialStep, ...]:
    """Build a trial in which something harmless happens: only declared alerts fire, and it passes by itself."""
    return (*_START, *_BREAK, TrialStep(kind="hold"), TrialStep(kind="expectCleared"), *_END)


def build_no_incident(seconds: int) -> tuple[TrialStep, ...]:
    """Build a trial without a fault: with the distractors, if there are any, nothing fires for as long as a repeat
    takes.
    """
    return (*_START, TrialStep(kind="inject"), TrialStep(kind="hold", seconds=seconds), *_END)


def build_recorded(
    outcome: str = "Incident", *, quiet: int | None = None, hold: int | None = None
) -> tuple[TrialStep, ...]:
    """Build an incident that is only looked at: quiet, broken, held for ``hold`` seconds, then everything is removed.

    ``quiet`` are the seconds before anything is broken; without either, the scenario's windows.
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
    """Return a further way to repair it, on an app that nothing else was tried on."""
    return (*_START, *_BREAK, *repair, *_END)


def build_control(seconds: int, rollout: Procedure | None = None, *, after: int = 0) -> tuple[TrialStep, ...]:
    """Build the no-fault control: as long as a repeat is from quiet to the end of hold, and nothing may fire.

    With ``rollout``, the sham control follows on the same app: the restarts that injecting brings with it, without the
    change, and nothing may fire for ``after`` seconds either.
    """
    sham: tuple[TrialStep, ...] = ()
    if rollout is not None:
        sham = (
            TrialStep(kind="change", use="Sham", name=rollout.name),
            TrialStep(kind="expectQuiet", use="Sham", name=rollout.name, seconds=after),
        )
    return (TrialStep(kind="deploy"), TrialStep(kind="expectQuiet", seconds=seconds), *sham, *_END)


def scan() -> tuple[TrialStep, ...]:
    """Return what a solver can read, once everything has happened, does not say what did."""
    return (*_START, *_BREAK, TrialStep(kind="expectNoLeaks"), *_END)


def build_distractors(names: Sequence[str], seconds: int) -> tuple[TrialStep, ...]:
    """Build a trial of the harmless changes alone: nothing may fire, for as long as a repeat holds."""
    return (
        *_START,
        TrialStep(kind="inject", faults=tuple(names)),
        TrialStep(kind="expectQuiet", seconds=seconds),
        *_END,
    )


def build_without(names: Sequence[str]) -> tuple[TrialStep, ...]:
    """Build the incident without its triggers, or without its distractors: which alerts still come shows what those
    are.
    """
    left = tuple(names)
    return (*_START, TrialStep(kind="inject", except_=left), TrialStep(kind="expectAlerts", faults=left), *_END)


def fix_only(causes: Sequence[CauseRepair], *, scanned: bool = False) -> tuple[TrialStep, ...]:
    """Check the label intervention: repairing just these labelled causes must resolve the incident.

    ``scanned``: before anything is repaired, what a solver can read is searched for the answer.
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
    """Check the counter-intervention: repairing everything but what is labelled must not clear the alerts."""
    return (
        *_START,
        *_BREAK,
        *_build_fixes(causes),
        TrialStep(kind="expectStillFiring", use="Fix", name=_names(causes)),
        *_END,
    )


def fix_beside(each: SideEffect) -> tuple[TrialStep, ...]:
    """Return what a repair does beside its cause, with every other cause repaired: the cause alone keeps
    alerts firing.
    """
    steps = [*_build_fixes(each.others), TrialStep(kind="change", use="Fix", name=each.part.name)]
    return (*_START, *_BREAK, *steps, TrialStep(kind="expectStillFiring", use="Fix", name=each.part.name), *_END)


def undo_artefact(each: Artefact) -> tuple[TrialStep, ...]:
    """Return what the fault did to one object without a label is undone alone: what is labelled keeps alerts firing."""
    undone, left = (each.fault,), (each.fault,) if each.others else ()
    steps = [*_build_fixes(each.others), TrialStep(kind="change", use="Undo", name=each.entity, faults=undone)]
    asked = TrialStep(kind="expectStillFiring", use="Undo", name=each.entity, faults=left)
    return (*_START, *_BREAK, *steps, asked, *_END)


def end(each: Ending) -> tuple[TrialStep, ...]:
    """Wait for what ends by itself; what ends with its pods ends when every workload is restarted."""
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
    """Leave-one-out: with all but one cause repaired, alerts of the one that is left keep firing.

    No decoy repairs that one either, and its own solution does: beside other causes, neither would show.
    """
    asked = TrialStep(kind="expectStillFiring", use="Fix", name=_names(claim.repaired), faults=(claim.left.fault,))
    return (*_START, *_BREAK, *_build_fixes(claim.repaired), asked, *_try_decoys(decoys), *repair, *_END)


def build_cheated(
    cheats: Sequence[Procedure], repair: Sequence[TrialStep], starts: Sequence[Procedure] = ()
) -> tuple[TrialStep, ...]:
    """Build each cheat tried and undone; at last a repair that is taken back at once, which repairs nothing either.

    ``starts`` follow that, so that the fault is there again for what acts only on a start.
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
    """List the procedures of one use, in the author's order."""
    return [p for p in runbook.procedures if p.use == use]


def _try_decoys(decoys: Sequence[Procedure]) -> list[TrialStep]:
    """Return each decoy, which clears nothing, and is undone."""
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
