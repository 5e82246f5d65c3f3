"""Run a campaign from the command line: a loop around ``advance``. The operator executes the trials.

An interrupted campaign continues: trial names are deterministic, so that the next run finds existing trials. Finished
ones are kept until the campaign is over.
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
from scenario_kit.campaign.trial_store import Campaign, is_stale, read_status
from scenario_kit.errors import ClusterError, Unreachable
from scenario_kit.model import Object
from scenario_kit.model.kubernetes.status import is_terminating
from scenario_kit.trial import TrialStatus

log = logging.getLogger(__name__)
_POLL: Final = 0.25


class ProgressListener(Protocol):
    """Receives every change of a trial's status."""

    def __call__(self, planned: PlannedTrial, name: str, status: TrialStatus) -> None:
        """Report a new status of a trial."""


@dataclass(frozen=True)
class Polling:
    """Polling of a campaign, in wall-clock time.

    ``patience`` is the maximum number of seconds without progress.
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
    """Run trials, at most ``parallel`` at once, until the plan is decided; results are in the order of the plan.

    If the environment is unhealthy, or the API server unreachable, unfinished trials count as infrastructure failures,
    and so do those not started. Running trials continue with the lab.

    Raises:
        ClusterError: the API server rejects a request.
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
    """A trial in progress: its last state, whether this process created it, and its last change (wall time)."""

    def __init__(self, planned: PlannedTrial, now: float, *, began: bool = False) -> None:
        self.planned = planned
        self.began = began
        self.started = self.moved = now
        self.trial: Object | None = None
        self.status: Object = {}


class _RunView:
    """The view of one run of the command.

    All decisions depend on the cluster; kept here are finished trials, which do not change, and timeouts.
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
        """The last error of the API server, after it was unreachable for too long."""
        return self._refused if self._clock() - self._answered > self._patience else ""

    def look(self, every: Sequence[PlannedTrial]) -> None:
        """Read the unfinished trials. An unreachable API server is tolerated for a while."""
        for planned in every:
            if planned.purpose in self.ended or planned.purpose in self._absent:
                continue
            try:
                self._look(planned)
            except Unreachable as error:
                log.debug("%s", error)
                self._refused = str(error)
                break  # this may have taken a minute; do not let the others wait as well
            self._answered = self._clock()
        for entry in list(self._open.values()):
            if self._clock() - entry.moved > self._patience:
                self._end(
                    entry, f"no progress for {self._patience:.0f} s: the operator is not running, or a component hangs"
                )

    def _look(self, planned: PlannedTrial) -> None:
        purpose, trial = planned.purpose, self._campaign.find(planned)
        if trial is None:  # not created yet, replaced, or deleted by a user
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

    def _end(self, entry: _Followed, failure: str = "") -> None:
        result = self._campaign.result(entry.planned, entry.trial, failure)
        if entry.began or not result.wall_seconds:
            result = msgspec.structs.replace(result, wall_seconds=round(self._clock() - entry.started, 2))
        self.ended[entry.planned.purpose] = result
        self._open.pop(entry.planned.purpose, None)

    def begin(self, planned: Sequence[PlannedTrial]) -> None:
        """Create the next trials, which are known not to exist."""
        for each in planned:
            if each.purpose not in self._absent:
                continue
            entry = _Followed(each, self._clock(), began=True)
            try:
                self._campaign.begin(each)
            except Unreachable as error:
                self._refused = str(error)
                continue
            self._absent.discard(each.purpose)
            self._open[each.purpose] = entry

    def give_up(self, problems: str) -> None:
        """Stop waiting for running trials, as infrastructure is unhealthy."""
        for entry in list(self._open.values()):
            self._end(entry, problems)


def _clear(campaign: Campaign, every: Sequence[PlannedTrial]) -> None:
    """Delete the trials. Those that cannot be deleted now are deleted by the next run of the campaign."""
    for planned in every:
        try:
            campaign.remove(planned)
        except ClusterError as error:
            log.warning("%s was not deleted: %s", campaign.name(planned), error)
            return
