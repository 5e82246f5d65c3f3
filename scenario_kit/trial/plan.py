"""What a trial does next. Pure: program × what became of its steps → action (docs/architecture.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from scenario_kit.model import StepStatus, TrialStep

#: Steps that run whatever happened before them: nothing that was done may stay behind.
ALWAYS: Final = ("teardown", "expectClean")
#: Steps that only look: what they find breaks the trial, and says nothing about what the later steps would show.
ASIDE: Final = ("expectNoLeaks",)


@dataclass(frozen=True, slots=True)
class RunStep:
    """Execute (or continue) the step of this index."""

    index: int


@dataclass(frozen=True, slots=True)
class Skip:
    """Leave this step out, because an earlier one did not hold."""

    index: int
    because: int


@dataclass(frozen=True, slots=True)
class Finish:
    """The program has ended."""

    outcome: Literal["Held", "Broken", "Infra"]


Action = RunStep | Skip | Finish


def plan(steps: Sequence[TrialStep], statuses: Sequence[StepStatus]) -> Action:
    """Plan the next action. A step without status or still Running is next; after a failure only clean-up steps run."""
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
    """Find the first step that did not hold: it decides what the trial shows, later ones are consequences.

    One that only looks has no consequences, so it decides where nothing else failed.
    """
    failed = [s for s in statuses if s.outcome in ("Broken", "Infra")]
    return min(failed, key=lambda s: (_is_aside(s), s.index), default=None)


def _is_aside(status: StepStatus) -> bool:
    return status.step in ASIDE


def determine_outcome(statuses: Sequence[StepStatus]) -> Literal["Held", "Broken", "Infra"]:
    """Return held if every step that ran held; otherwise what the first failure was."""
    failed = find_first_failure(statuses)
    if failed is None:
        return "Held"
    return "Broken" if failed.outcome == "Broken" else "Infra"
