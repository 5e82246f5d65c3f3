"""The scheduler: which trials a campaign starts next. Pure (docs/architecture.md).

The caller reads the trials from the cluster, calls `advance`, executes the result, and repeats. There is no other
state, so that an interrupted campaign continues from its trials.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from scenario_kit.campaign.planning.plans import Plan, PlannedTrial
from scenario_kit.campaign.planning.retries import is_settled, plan_further_trials
from scenario_kit.model import Value
from scenario_kit.model.results.purpose import is_repeat


class ObservedTrial(Value, frozen=True, kw_only=True):
    """A trial in the cluster; ``outcome`` is empty until it has ended."""

    purpose: str
    outcome: str = ""


class Move(Value, frozen=True, kw_only=True):
    """The next action. ``every`` are all planned trials in order; ``begin`` are to be created now.

    ``over`` is set when nothing is left to run; ``missing`` were given up before they started.
    """

    every: tuple[PlannedTrial, ...]
    begin: tuple[PlannedTrial, ...] = ()
    missing: tuple[PlannedTrial, ...] = ()
    over: bool = False


def advance(
    plan: Plan, planned: Sequence[PlannedTrial], seen: Iterable[ObservedTrial], *, parallel: int, give_up: bool = False
) -> Move:
    """Return the next action: at most ``parallel`` trials run at once, and none starts after ``give_up``.

    Repeats that cannot change the result are skipped. If the plan needs more repeats, or infrastructure ended a trial,
    further ones start when all others have ended.
    """
    known = {s.purpose: s for s in seen}
    every = list(planned)
    while True:
        ended = [known[p.purpose] for p in every if p.purpose in known and known[p.purpose].outcome]
        running = [p for p in every if p.purpose in known and not known[p.purpose].outcome]
        enough = is_settled(plan.looks, ended)
        waiting = [p for p in every if p.purpose not in known and not (is_repeat(p.purpose) and enough)]
        if give_up:
            return Move(every=tuple(every), missing=tuple(waiting), over=not running)
        if waiting or running:
            return Move(every=tuple(every), begin=tuple(waiting[: max(0, parallel - len(running))]))
        more = plan_further_trials(plan.looks, every, ended, plan.loads)
        if not more:
            return Move(every=tuple(every), over=True)
        every += more
