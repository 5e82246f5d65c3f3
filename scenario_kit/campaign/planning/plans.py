"""Plans: the trials of a validation, as data (docs/plans.md)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

import msgspec

from scenario_kit.campaign.interventions import label_interventions, programs
from scenario_kit.campaign.interventions.artefacts import find_artefacts
from scenario_kit.campaign.interventions.cheats import add_cheats, build_cheats, starts
from scenario_kit.campaign.interventions.decoys import (
    find_independent_decoys,
    find_overlapping_decoys,
    find_separate_decoys,
)
from scenario_kit.campaign.interventions.persistence import Ending, add_restart, list_endings
from scenario_kit.campaign.interventions.repair_side_effects import (
    BESIDE,
    add_side_effects,
    find_own_repairs,
    find_side_effects,
)
from scenario_kit.campaign.interventions.repairs import (
    build_single_solution,
    build_single_solutions,
    build_solutions,
)
from scenario_kit.campaign.interventions.rollout_control import USE as SHAM
from scenario_kit.campaign.interventions.rollout_control import add_rollout_control, build_rollout_control
from scenario_kit.campaign.planning.sequential_test import FIVE_THEN_FIVE, ONCE, REPRODUCIBLE, Look, check_reachable
from scenario_kit.errors import UsageError
from scenario_kit.model import Procedure, Runbook, Scenario, TrialSpec, TrialStep, Value
from scenario_kit.model.authored.alert_rule import find_slowest
from scenario_kit.model.results.purpose import Purpose, PurposeKind
from scenario_kit.model.results.trial import APART, ClockMode


class PlannedTrial(Value, frozen=True, kw_only=True):
    """A trial of a plan: its purpose, its steps, and the seed of its random choices.

    ``load_percent`` is its share of the scenario's users, ``variation`` selects values of the twin's assumptions; 0 are
    the declared ones.
    """

    purpose: str
    describe: str
    steps: tuple[TrialStep, ...]
    seed: int
    load_percent: int = 100
    variation: int = 0


class Plan(Value, frozen=True, kw_only=True):
    """The amount of evidence that a validation collects. ``looks`` define when the paired repeats are decided.

    ``loads`` are those of successive repeats in percent of the users, by default ``LOADS``. ``parallel`` is the number
    of concurrent trials; None leaves it to the caller.

    Raises:
        UsageError: the looks are inconsistent, or can never pass.
    """

    name: str
    describe: str = ""
    looks: tuple[Look, ...]
    control: bool = True
    solutions: bool = True
    interventions: bool = True
    cheats: bool = True
    sham: bool = True
    leaks: bool = True
    assumptions: bool = True
    loads: tuple[int, ...] = ()
    parallel: int | None = None

    def __post_init__(self) -> None:
        check_reachable(self.name, self.looks)


TRY: Final = Plan(
    name="try", describe="one paired repeat", looks=ONCE, control=False, solutions=False, interventions=False,
    cheats=False, sham=False, leaks=False,
)  # fmt: skip
QUICK: Final = Plan(
    name="quick", describe="one paired repeat, control, interventions, all solutions", looks=ONCE, cheats=False,
    sham=False,
)  # fmt: skip
STANDARD: Final = Plan(
    name="standard", describe="five paired repeats, five more if one breaks, and everything else", looks=FIVE_THEN_FIVE
)
THOROUGH: Final = Plan(
    name="thorough", describe="17 to 33 paired repeats (holds in more than 80 % of runs)", looks=REPRODUCIBLE
)
PLANS: Final = {p.name: p for p in (TRY, QUICK, STANDARD, THOROUGH)}
#: Loads of successive repeats: a pass should not depend on one number of users (docs/plans.md: ± 20 %).
LOADS: Final = (100, 80, 120, 90, 110)

_REPORTED: Final = {
    "Incident": "quiet → broken → held → decoys → solved → clean",
    "Benign": "quiet → something happens → it passes by itself → clean",
    "NoIncident": "quiet → no fault, no alert → clean",
}

#: Render the runbook of a trial for its namespace and its load in percent.
Resolve = Callable[[str, int], Runbook]


def count_users(scenario: Scenario, load_percent: int) -> int:
    """Return the number of users in a trial: that share of the scenario's, at least one."""
    return max(1, round(scenario.spec.app.load.users * load_percent / 100))


def get_plan(name: str) -> Plan:
    """Return a built-in plan.

    Raises:
        UsageError: there is none.
    """
    if name not in PLANS:
        raise UsageError(f"there is no plan '{name}'", fix=f"one of: {', '.join(PLANS)}")
    return PLANS[name]


def plan_trials(plan: Plan, runbook: Runbook, seed: int) -> list[PlannedTrial]:
    """Return the trials of a plan for a scenario, by its outcome and the roles and joins of its causes."""
    outcome = runbook.outcome
    repairs = build_solutions(runbook) if outcome == "Incident" else []
    repair = repairs[0] if repairs else ()
    apart = find_independent_decoys(runbook, repair)
    steps = _repeat(runbook, apart, repair)
    first = PlannedTrial(
        purpose=str(Purpose(PurposeKind.REPEAT, 1)), describe=_REPORTED[outcome], steps=steps, seed=seed
    )
    planned = [repeat(first, number, plan.loads) for number in range(1, plan.looks[0].n + 1)]
    if plan.solutions and outcome == "Incident" and apart:
        describe = f"{join_names([d.name for d in apart])} resolves nothing, with no rollback later"
        steps = programs.build_paired(apart, ())
        planned.append(PlannedTrial(purpose=PurposeKind.DECOYS.value, describe=describe, steps=steps, seed=seed + 120))
    planned += _plan_controls(plan, runbook, seed + 100)
    if plan.control and outcome == "Incident":
        planned += _plan_role_checks(runbook, seed + 110)
    if plan.interventions and outcome == "Incident":
        planned += _plan_interventions(runbook, seed + 200, scanned=plan.leaks)
    if plan.leaks and runbook.faults and not any(s.kind == "expectNoLeaks" for p in planned for s in p.steps):
        describe = "nothing that a solver can read gives the answer away"
        planned.append(
            PlannedTrial(purpose=PurposeKind.LEAKS.value, describe=describe, steps=programs.scan(), seed=seed + 103)
        )
    if plan.solutions:
        planned += [
            PlannedTrial(
                purpose=str(Purpose(PurposeKind.SOLUTION, number)),
                describe=f"solution '{steps[-1].name}' resolves it",
                steps=programs.solve(steps),
                seed=seed + 300 + number,
            )
            for number, steps in enumerate(repairs[1:], start=2)
        ]
        planned += _plan_further_solutions(runbook, len(repairs), seed + 300) if repairs else []
    if plan.cheats and outcome == "Incident":
        back = _make_revertible(runbook, repair)
        steps = programs.build_cheated(build_cheats(runbook), back, starts(runbook))
        describe = "no cheat counts as resolved"
        planned.append(PlannedTrial(purpose=PurposeKind.CHEATS.value, describe=describe, steps=steps, seed=seed + 400))
    return planned


def _plan_controls(plan: Plan, runbook: Runbook, seed: int) -> list[PlannedTrial]:
    """Plan the controls: without faults, with a rollout alone, and with the distractors alone."""
    planned: list[PlannedTrial] = []
    rollout = build_rollout_control(runbook) if plan.sham and runbook.outcome == "Incident" else None
    if runbook.faults and (plan.control or rollout is not None):
        length = _compute_length(runbook)
        steps = programs.build_control(length, rollout, after=length - runbook.windows.quiet)
        rolled = join_names([c.target or "" for c in rollout.solution.changes]) if rollout is not None else ""
        also = f", nor when {rolled} restarts" if rolled else ""
        describe = f"without the fault nothing fires{also}"
        planned.append(PlannedTrial(purpose=PurposeKind.CONTROL.value, describe=describe, steps=steps, seed=seed))
    if plan.control and runbook.outcome != "NoIncident" and (harmless := _list_role(runbook, "Distractor")):
        steps = programs.build_distractors(harmless, runbook.windows.hold)
        describe = f"with {join_names(harmless)} alone nothing fires"
        planned.append(
            PlannedTrial(purpose=PurposeKind.DISTRACTORS.value, describe=describe, steps=steps, seed=seed + 1)
        )
    return planned


def _plan_role_checks(runbook: Runbook, seed: int) -> list[PlannedTrial]:
    """Plan trials of the roles of triggers and distractors: whether the incident depends on them."""
    claims = (
        ("Trigger", PurposeKind.UNTRIGGERED, "does not occur"),
        ("Distractor", PurposeKind.UNDISTURBED, "still occurs"),
    )
    return [
        PlannedTrial(
            purpose=purpose.value,
            describe=f"without {join_names(names)} the incident {says}",
            steps=programs.build_without(names),
            seed=seed + number,
        )
        for number, (role, purpose, says) in enumerate(claims)
        if (names := _list_role(runbook, role))
    ]


def _make_revertible(runbook: Runbook, repair: Sequence[TrialStep]) -> Sequence[TrialStep]:
    """Return the repair if each of its procedures can be reverted; restarts cannot."""
    for step in repair:
        if step.kind == "change" and step.use != "RemoveFault":
            changes = runbook.procedure(step.use, step.name).solution.changes
            if all(c.operation.restarts or c.operation.runs_command for c in changes):
                return ()
    return repair


def repeat(first: PlannedTrial, number: int, loads: Sequence[int] = ()) -> PlannedTrial:
    """Return a repeat by its number, from 1: the same steps with another seed, load and variation."""
    loads = loads or LOADS
    return msgspec.structs.replace(
        first,
        purpose=str(Purpose(PurposeKind.REPEAT, number)),
        seed=first.seed + number - 1,
        load_percent=loads[(number - 1) % len(loads)],
        variation=number - 1,
    )


def _repeat(runbook: Runbook, apart: Sequence[Procedure], repair: Sequence[TrialStep]) -> tuple[TrialStep, ...]:
    match runbook.outcome:
        case "Incident":
            return programs.build_paired([d for d in programs.list_by_use(runbook, "Decoy") if d not in apart], repair)
        case "Benign":
            return programs.build_benign()
        case "NoIncident":
            return programs.build_no_incident(_compute_length(runbook))


def _plan_interventions(runbook: Runbook, seed: int, *, scanned: bool) -> list[PlannedTrial]:
    """Plan the label interventions of docs/validator.md: labelled causes, all others, and all labels but one."""
    ours, others = label_interventions.find_repairs(runbook), label_interventions.list_unlabelled(runbook)
    planned = []
    for number, repaired in enumerate(ours):
        alone = f" {_format_entities(repaired)} alone" if len(ours) > 1 else " only what is labelled"
        planned.append(
            PlannedTrial(
                purpose=str(Purpose(PurposeKind.LABEL, number + 1 if len(ours) > 1 else None)),
                describe=f"repairing{alone} resolves it",
                steps=programs.fix_only(repaired, scanned=scanned and number == 0),
                seed=seed + number,
            )
        )
    if others and ours:
        planned.append(
            PlannedTrial(
                purpose=PurposeKind.LABEL_REST.value,
                describe="repairing all but what is labelled does not",
                steps=programs.fix_others(others),
                seed=seed + 40,
            )
        )
    beside = [
        (f"what the repair of {each.cause.entity} does to other objects resolves nothing", programs.fix_beside(each))
        for each in find_side_effects(runbook)
    ]
    apart = [
        (f"repairing only {each.cause.entity}, and no object without a label, resolves it", programs.fix_apart(each))
        for each in find_own_repairs(runbook)
    ]
    artefacts = [
        (
            f"undoing only what '{artefact.fault}' did to {artefact.entity} resolves nothing",
            programs.undo_artefact(artefact),
        )
        for artefact in find_artefacts(runbook)
    ]
    endings = [(_describe_ending(ending), programs.end(ending)) for ending in list_endings(runbook)]
    planned += _plan_numbered(PurposeKind.LABEL_BESIDE, beside, seed + 60)
    planned += _plan_numbered(PurposeKind.LABEL_APART, apart, seed + 70)
    planned += _plan_numbered(PurposeKind.LABEL_ARTEFACT, artefacts if ours else (), seed + 20)
    planned += _plan_numbered(PurposeKind.ENDING, endings if ours else (), seed + 90)
    for number, claim in enumerate(label_interventions.leave_one_out(ours), start=1):
        planned += _plan_left_out_cause(runbook, claim, number, seed)
    return planned


def _plan_numbered(
    kind: PurposeKind, trials: Iterable[tuple[str, tuple[TrialStep, ...]]], seed: int
) -> list[PlannedTrial]:
    """Plan trials of one kind, given by description and steps, with numbers and seeds in order."""
    return [
        PlannedTrial(purpose=str(Purpose(kind, number)), describe=describe, steps=steps, seed=seed + number)
        for number, (describe, steps) in enumerate(trials, start=1)
    ]


def _describe_ending(ending: Ending) -> str:
    how = "by itself" if ending.how == "Wait" else "once every workload is restarted"
    return f"'{ending.fault}' ends {how}, as its persistence {ending.persistence} declares"


def _plan_left_out_cause(
    runbook: Runbook, claim: label_interventions.LeftOut, number: int, seed: int
) -> Iterator[PlannedTrial]:
    """Plan leave-one-out trials of a cause, with the decoys that do not depend on the repair of others."""
    own, possible = build_single_solution(runbook, claim), find_separate_decoys(runbook, claim)
    apart = find_independent_decoys(runbook, own)
    yield PlannedTrial(
        purpose=str(Purpose(PurposeKind.LEAVE_OUT, number)),
        describe=f"with {claim.left.entity} left, its alerts keep firing",
        steps=programs.leave_out(claim, [d for d in possible if d not in apart], own),
        seed=seed + 40 + number,
    )
    if others := [d for d in possible if d in apart]:
        yield PlannedTrial(
            purpose=str(Purpose(PurposeKind.DECOYS_LEFT, number)),
            describe=f"with {claim.left.entity} left, {join_names([d.name for d in others])} resolves nothing either",
            steps=programs.leave_out(claim, others),
            seed=seed + 80 + number,
        )
    for i, decoy in enumerate(find_overlapping_decoys(runbook, claim), start=1):
        yield PlannedTrial(
            purpose=str(Purpose(PurposeKind.DECOYS_LEFT, 10 * number + i)),
            describe=f"with {claim.left.entity} left, {decoy.name} resolves nothing either",
            steps=programs.try_before_fixes(claim, decoy),
            seed=seed + 120 + 10 * number + i,
        )


def _plan_further_solutions(runbook: Runbook, number: int, seed: int) -> Iterator[PlannedTrial]:
    """Plan trials of all but the first solution of a single cause, each with only this cause left.

    Elsewhere they are executed with the solutions of other causes, which could repair this one as well.
    """
    claims = label_interventions.leave_one_out(label_interventions.find_repairs(runbook))
    further = [(claim, steps) for claim in claims for steps in build_single_solutions(runbook, claim)[1:]]
    for i, (claim, steps) in enumerate(further, start=number + 1):
        yield PlannedTrial(
            purpose=str(Purpose(PurposeKind.SOLUTION, i)),
            describe=f"with only {claim.left.entity} left, solution '{steps[-1].name}' resolves it",
            steps=programs.solve_left(claim, steps),
            seed=seed + i,
        )


def _list_role(runbook: Runbook, role: str) -> list[str]:
    return [f.name for f in runbook.faults if f.role == role]


def _format_entities(repaired: Sequence[label_interventions.CauseRepair]) -> str:
    return join_names([c.entity for c in repaired])


def join_names(names: Sequence[str], last: str = "and") -> str:
    """Join names in prose: ``a``, ``a and b``, ``a, b and c``."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {last} {names[-1]}"


def _compute_length(runbook: Runbook) -> int:
    """Return the seconds from quiet to the end of hold, before anything is repaired."""
    windows = runbook.windows
    return windows.quiet + find_slowest(runbook.rules) + windows.hold


def build_trial_spec(planned: PlannedTrial, runbook: Runbook, plan: str, clock: ClockMode = "Virtual") -> TrialSpec:
    """Build the immutable spec of a trial, with its runbook."""
    if any(step.use == "Cheat" for step in planned.steps):
        cheated = any(step.kind == "expectUnresolved" for step in planned.steps)
        runbook = add_cheats(runbook) if cheated else add_restart(runbook)
    if any(step.name.endswith((BESIDE, APART)) for step in planned.steps):
        runbook = add_side_effects(runbook)
    if any(step.use == SHAM for step in planned.steps):
        runbook = add_rollout_control(runbook)
    return TrialSpec(
        scenario=runbook.scenario,
        digest=runbook.digest,
        plan=plan,
        clock=clock,
        seed=planned.seed,
        namespace=runbook.namespace,
        steps=planned.steps,
        resolved=runbook.pack(),
    )
