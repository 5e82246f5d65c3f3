"""Plans: which trials a validation consists of, as data (design §8)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Final

from scenario_kit.campaign import programs
from scenario_kit.errors import UsageError
from scenario_kit.model import Runbook, Step, TrialSpec, Value
from scenario_kit.render.recurrence import demand_wall_clock


class PlannedTrial(Value, frozen=True, kw_only=True):
    """One trial of a plan: what it is for, what it does, and the seed of everything that varies in it."""

    purpose: str
    describe: str
    steps: tuple[Step, ...]
    seed: int


class Plan(Value, frozen=True, kw_only=True):
    """How much evidence a validation gathers. ``repeats`` counts paired repeats."""

    name: str
    repeats: int
    control: bool
    solutions: bool
    interventions: bool


QUICK: Final = Plan(name="quick", repeats=1, control=True, solutions=True, interventions=True)
TRY: Final = Plan(name="try", repeats=1, control=False, solutions=False, interventions=False)
PLANS: Final = {p.name: p for p in (QUICK, TRY)}

#: Renders the runbook of a trial for its namespace.
Resolve = Callable[[str], Runbook]


def named(name: str) -> Plan:
    """The plan of that name.

    Raises:
        UsageError: there is none.
    """
    if name not in PLANS:
        raise UsageError(f"there is no plan '{name}'", fix=f"one of: {', '.join(PLANS)}")
    return PLANS[name]


def trials(plan: Plan, runbook: Runbook, seed: int) -> list[PlannedTrial]:
    """The trials of a plan for a scenario; a scenario without faults is its own control."""
    if not runbook.faults:
        steps = programs.control(_length(runbook))
        return [PlannedTrial(purpose="control", describe="nothing is broken, nothing fires", steps=steps, seed=seed)]
    decoys, solutions = programs.of_use(runbook, "Decoy"), programs.of_use(runbook, "Solution")
    planned = [
        PlannedTrial(
            purpose=f"repeat-{number + 1}",
            describe="quiet → broken → held → decoys → solved → clean",
            steps=programs.paired(decoys, solutions[0] if solutions else None),
            seed=seed + number,
        )
        for number in range(plan.repeats)
    ]
    if plan.control:
        steps = programs.control(_length(runbook))
        planned.append(
            PlannedTrial(purpose="control", describe="without the fault nothing fires", steps=steps, seed=seed + 100)
        )
    if plan.interventions:
        planned += _interventions(runbook, seed + 200)
    if plan.solutions:
        planned += [
            PlannedTrial(
                purpose=f"solution-{number}",
                describe=f"solution '{solution.name}' resolves it",
                steps=programs.solve(solution),
                seed=seed + 300 + number,
            )
            for number, solution in enumerate(solutions[1:], start=2)
        ]
    return planned


def _interventions(runbook: Runbook, seed: int) -> list[PlannedTrial]:
    ours, others = programs.labelled(runbook)
    planned = []
    if ours:
        steps = programs.fix_only(ours)
        planned.append(
            PlannedTrial(
                purpose="label", describe="repairing only what is labelled resolves it", steps=steps, seed=seed
            )
        )
    if others and ours:
        steps = programs.fix_others(others)
        planned.append(
            PlannedTrial(
                purpose="label-rest", describe="repairing all but what is labelled does not", steps=steps, seed=seed + 1
            )
        )
    return planned


def _length(runbook: Runbook) -> int:
    """Seconds from quiet to the end of hold: what a repeat takes before anybody acts."""
    windows = runbook.windows
    slowest = max((r.for_seconds + r.range_seconds for r in runbook.rules), default=0)
    return windows.quiet + slowest + windows.hold


def trial_name(scenario: str, planned: PlannedTrial, digest: str, plan: str) -> str:
    """A derived name: an interrupted validation finds its trials again."""
    identity = _short(f"{scenario}{digest}{plan}{planned.purpose}{planned.seed}")
    return f"{scenario[:36].rstrip('-')}-{planned.purpose}-{identity}"


def namespace(app: str, unique: str) -> str:
    """``<app>-<4 characters>``: says nothing about the scenario.

    ``unique`` differs with every run, also of the same trial: series of an earlier one are still in Prometheus.
    """
    return f"{app}-{_short(unique)}"


def spec(planned: PlannedTrial, runbook: Runbook, plan: str) -> TrialSpec:
    """The immutable spec of a trial, with everything resolved inside.

    Raises:
        AuthoringError: a fault of it follows the wall clock, and trials of plans run in virtual time.
    """
    demand_wall_clock(runbook.faults, "Virtual")
    return TrialSpec(
        scenario=runbook.scenario,
        digest=runbook.digest,
        plan=plan,
        clock="Virtual",
        seed=planned.seed,
        namespace=runbook.namespace,
        steps=planned.steps,
        resolved=runbook.packed(),
    )


def _short(text: str) -> str:
    # Letters only at the front, so that the result is a label in any position.
    value = int(hashlib.sha256(text.encode()).hexdigest(), 16)
    letters = "bcdfghjklmnpqrstvwxz"
    return "".join(letters[(value >> (8 * i)) % len(letters)] for i in range(4))
