"""Running a campaign from the command line: a thin loop around ``advance``. The operator executes; this only asks.

An interrupted campaign continues: trial names are derived, so a second call finds what the first one created, and
what has finished stays until the whole campaign has.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import msgspec

from scenario_kit.campaign.planning.plans import PlannedTrial
from scenario_kit.campaign.planning.scheduler import Move, ObservedTrial, advance
from scenario_kit.campaign.results.result import TrialResult
from scenario_kit.campaign.trial_store import Campaign, is_stale, is_terminating, read_status
from scenario_kit.errors import ClusterError, Unreachable
from scenario_kit.model import Object
from scenario_kit.trial import TrialStatus

log = logging.getLogger(__name__)
_POLL: Final = 0.25


class ProgressListener(Protocol):
    """Whoever watches: told about every change of a trial's status."""

    def __call__(self, planned: PlannedTrial, name: str, status: TrialStatus) -> None:
        """Report ``status``, new since the last call for this trial."""


@dataclass(frozen=True)
class Polling:
    """How a campaign is waited for, in wall time.

    ``patience`` is how many seconds anything may take without any sign of progress.
    """

    pause: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic
    patience: float = 180.0


def run(
    planned: Sequence[PlannedTrial],
    campaign: Campaign,
    *,
    parallel: int,
    health: Callable[[], Sequence[str]],
    progress: ProgressListener,
    polling: Polling | None = None,
) -> list[TrialResult]:
    """Run trials, at most ``parallel`` at once, until the plan is settled; results come in the order of the plan.

    Where the environment is not well, or the API server stays away, what has not ended is infrastructure's, and so is
    what could not begin: nothing of it counts for or against the scenario. What was started goes on when the lab does.

    Raises:
        ClusterError: the API server refuses what is asked of it.
    """
    polling = polling or Polling()
    watch = _RunView(campaign, progress, polling.clock, polling.patience)
    move = Move(every=tuple(planned))
    while not move.over:
        watch.look(move.every)
        problems = "; ".join(health()) or watch.silent
        if problems:
            watch.give_up(problems)
        move = advance(campaign.plan, planned, watch.seen, parallel=parallel, give_up=bool(problems))
        for each in move.missing:
            watch.ended[each.purpose] = campaign.result(each, None, problems)
        watch.begin(move.begin)
        if not move.over:
            polling.pause(_POLL)
    if not campaign.keep:
        _clear(campaign, move.every)
    return [watch.ended[p.purpose] for p in move.every if p.purpose in watch.ended]


class _Followed:
    """A trial that is waited for: as it was last seen, whether we created it, and when it last moved (wall time)."""

    def __init__(self, planned: PlannedTrial, now: float, *, began: bool = False) -> None:
        self.planned = planned
        self.began = began
        self.started = self.moved = now
        self.trial: Object | None = None
        self.status: Object = {}


class _RunView:
    """What one run of the command has seen.

    All that decides is in the cluster; kept here is what has ended, which does not change, and patience with the rest.
    """

    def __init__(
        self, campaign: Campaign, progress: ProgressListener, clock: Callable[[], float], patience: float
    ) -> None:
        self._campaign = campaign
        self._progress = progress
        self._clock = clock
        self._patience = patience
        self._open: dict[str, _Followed] = {}
        self._absent: set[str] = set()
        self._answered = clock()
        self._refused = ""
        self.ended: dict[str, TrialResult] = {}

    @property
    def seen(self) -> list[ObservedTrial]:
        """The trials that exist."""
        running = [ObservedTrial(purpose=purpose) for purpose in self._open]
        return [*running, *(ObservedTrial(purpose=p, outcome=r.outcome) for p, r in self.ended.items())]

    @property
    def silent(self) -> str:
        """What the API server did last, once it has not answered for too long."""
        return self._refused if self._clock() - self._answered > self._patience else ""

    def look(self, every: Sequence[PlannedTrial]) -> None:
        """Read what has not ended. An API server that does not answer changes nothing, for a while."""
        for planned in every:
            if planned.purpose in self.ended or planned.purpose in self._absent:
                continue
            try:
                self._look(planned)
            except Unreachable as problem:
                log.debug("%s", problem)
                self._refused = str(problem)
                break  # it may have taken a minute to say nothing; the others would wait as long, and in vain
            self._answered = self._clock()
        for entry in list(self._open.values()):
            if self._clock() - entry.moved > self._patience:
                self._end(
                    entry,
                    f"no progress for {self._patience:.0f} s: the operator does not run, or a part below it hangs",
                )

    def _look(self, planned: PlannedTrial) -> None:
        purpose, trial = planned.purpose, self._campaign.find(planned)
        if trial is None:  # it never was, made way, or was deleted by somebody: it is to be created
            self._open.pop(purpose, None)
            self._absent.add(purpose)
            return
        if purpose not in self._open and is_stale(trial):
            self._campaign.remove(planned)
            trial["metadata"].setdefault("deletionTimestamp", "now")
        entry = self._open.setdefault(purpose, _Followed(planned, self._clock()))
        entry.trial = trial
        if is_terminating(trial):
            return
        status = read_status(trial)
        if (raw := trial.get("status") or {}) != entry.status:
            entry.status, entry.moved = raw, self._clock()
            self._progress(planned, self._campaign.name(planned), status)
        if status.outcome:
            self._end(entry)

    def _end(self, entry: _Followed, trouble: str = "") -> None:
        result = self._campaign.result(entry.planned, entry.trial, trouble)
        if entry.began or not result.wall_seconds:
            result = msgspec.structs.replace(result, wall_seconds=round(self._clock() - entry.started, 2))
        self.ended[entry.planned.purpose] = result
        self._open.pop(entry.planned.purpose, None)

    def begin(self, planned: Sequence[PlannedTrial]) -> None:
        """Create what is next, and is known not to exist."""
        for each in planned:
            if each.purpose not in self._absent:
                continue
            entry = _Followed(each, self._clock(), began=True)
            try:
                self._campaign.begin(each)
            except Unreachable as problem:
                self._refused = str(problem)
                continue
            self._absent.discard(each.purpose)
            self._open[each.purpose] = entry

    def give_up(self, problems: str) -> None:
        """Stop waiting for what runs: infrastructure is not well."""
        for entry in list(self._open.values()):
            self._end(entry, problems)


def _clear(campaign: Campaign, every: Sequence[PlannedTrial]) -> None:
    """Remove the trials. One that the API server does not take goes with the next run of the campaign."""
    for planned in every:
        try:
            campaign.remove(planned)
        except ClusterError as problem:
            log.warning("%s is not removed: %s", campaign.name(planned), problem)
            return
