"""One step of a campaign: what the trials so far ask for next. Pure (docs/architecture.md).

Whoever runs a campaign reads the trials from the cluster, asks here, does what is said, and asks again: nothing is
remembered between two steps, so whoever is killed in between, or takes over, goes on from the trials alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from scenario_kit.campaign.planning.plans import Plan, PlannedTrial
from scenario_kit.campaign.planning.retries import is_settled, plan_further_trials
from scenario_kit.model import Value
from scenario_kit.model.results.purpose import is_repeat


class ObservedTrial(Value, frozen=True, kw_only=True):
    """A trial as it stands in the cluster; ``outcome`` is empty until it has ended."""

    purpose: str
    outcome: str = ""


class Move(Value, frozen=True, kw_only=True):
    """What is next. ``every`` is all that is planned by now, in its order; ``begin`` is to be created now.

    ``over`` says that nothing is left to run; ``missing`` are those that were given up before they began.
    """

    every: tuple[PlannedTrial, ...]
    begin: tuple[PlannedTrial, ...] = ()
    missing: tuple[PlannedTrial, ...] = ()
    over: bool = False


def advance(
    plan: Plan,
    planned: Sequence[PlannedTrial],
    seen: Iterable[ObservedTrial],
    *,
    parallel: int,
    give_up: bool = False,
) -> Move:
    """Return the next step of a campaign: at most ``parallel`` trials run at once, none begins once it is to
    ``give_up``.

    Repeats that can no longer change anything are not begun; where the plan needs more of them, or infrastructure ended
    a trial, further ones follow when all others have ended.
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
