"""Plan the next action of a trial. Pure: program × step statuses → action (docs/architecture.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from scenario_kit.model import StepStatus, TrialStep

#: Steps that always run, so that nothing is left behind.
ALWAYS: Final = ("teardown", "expectClean")
#: Read-only steps: their findings break the trial, but later steps still run.
ASIDE: Final = ("expectNoLeaks",)


@dataclass(frozen=True, slots=True)
class RunStep:
    """Execute (or continue) the step of this index."""

    index: int


@dataclass(frozen=True, slots=True)
class Skip:
    """Skip this step because an earlier one did not hold."""

    index: int
    because: int


@dataclass(frozen=True, slots=True)
class Finish:
    """The program has ended."""

    outcome: Literal["Held", "Broken", "Infra"]


Action = RunStep | Skip | Finish


def plan(steps: Sequence[TrialStep], statuses: Sequence[StepStatus]) -> Action:
    """Return the next action. A step without status or still Running is next; after a failure only clean-up runs."""
    known = {s.index: s for s in statuses}
    failed = find_first_failure(statuses)
    for index, step in enumerate(steps):
        status = known.get(index)
        if status is not None and status.outcome != "Running":
            continue
        if failed is not None and not _is_aside(failed) and step.kind not in ALWAYS:
            return Skip(index, failed.index)
        return RunStep(index)
    return Finish(determine_outcome(statuses))


def find_first_failure(statuses: Sequence[StepStatus]) -> StepStatus | None:
    """Find the step that decides the outcome: the first that did not hold, as later failures may be consequences.

    A read-only step decides only if nothing else failed.
    """
    failed = [s for s in statuses if s.outcome in ("Broken", "Infra")]
    return min(failed, key=lambda s: (_is_aside(s), s.index), default=None)


def _is_aside(status: StepStatus) -> bool:
    return status.step in ASIDE


def determine_outcome(statuses: Sequence[StepStatus]) -> Literal["Held", "Broken", "Infra"]:
    """Return Held if every step that ran held, otherwise the outcome of the first failure."""
    failed = find_first_failure(statuses)
    if failed is None:
        return "Held"
    return "Broken" if failed.outcome == "Broken" else "Infra"
