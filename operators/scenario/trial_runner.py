"""Run a Trial; all of its state is in the Trial object."""

from __future__ import annotations

import logging
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from operators.access.trial_objects import delete_records, read_trial, write_status
from operators.scenario.environment import Environment
from operators.scenario.trial_context import TrialCallbacks, build_context
from scenario_kit.campaign.trial_store import read_status
from scenario_kit.clients.clock import WallClock
from scenario_kit.errors import AuthoringError, ClusterError, InfrastructureError
from scenario_kit.lint.rules.security.runbook_admission import list_refusals
from scenario_kit.load.rules import build_finding
from scenario_kit.model import AlertHistory, Answer, Finding, Object, Runbook, Severity, TrialSpec
from scenario_kit.model.kubernetes.status import is_terminating
from scenario_kit.model.results.trial import make_trial_reference
from scenario_kit.ports import Clock
from scenario_kit.trial import (
    AlertNow,
    Baseline,
    Stopped,
    TrialContext,
    TrialStatus,
    list_alerts_now,
    mark_infra,
    reject,
    run,
    truncate_reasons,
)
from scenario_kit.trial.deploy import CLEAN_DEADLINE, remove

log = logging.getLogger(__name__)
#: Minimum wall seconds between progress updates; a virtual hour may pass in between.
_UPDATE_SECONDS: Final = 0.8

#: One run per trial at a time, so that the clean-up of a deleted trial waits for its last step.
_locks: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)


class TrialRun:
    """The execution of one Trial object."""

    def __init__(self, environment: Environment, name: str, stopping: Callable[[], bool]) -> None:
        self._environment = environment
        self._name = name
        self._stopping = stopping
        self._ref = make_trial_reference(name, environment.settings.management_namespace)
        self._status = TrialStatus()
        self._reported = 0.0
        self._alerts: tuple[AlertNow, ...] = ()

    def execute(self) -> None:
        """Run or resume the trial until it ends or is stopped.

        Raises:
            InfrastructureError: the API server or the lab server does not respond; retry later.
        """
        with _locks[self._name]:
            trial = self._environment.cluster.get(self._ref)
            if trial is None or is_terminating(trial):  # what it would write now, the clean-up would not see
                return
            spec, self._status = read_trial(trial)
            if self._status.outcome:
                return
            self._status = msgspec.structs.replace(self._status, observed_generation=trial["metadata"]["generation"])
            opened = self._open(spec)
            if isinstance(opened, Finding):
                self._write(reject(self._name, spec.steps, self._status, opened))
                return
            try:
                self._status = run(opened, self._status, self._save, self._pause)
            except Stopped:
                log.info("%s stops at step %d", self._name, self._status.current)
                return
            self._conclude(opened)

    def _open(self, spec: TrialSpec) -> TrialContext | Finding:
        """Open the clock of a trial and build its context, or return the finding that prevents a start."""
        started = self._status.started_at is not None
        if unreadable := self._find_unreadable(spec):
            return unreadable
        if not started and (refused := list_refusals(spec.runbook(), spec.namespace)):
            return refused[0]
        platform = self._environment.platform
        try:
            clock = platform.open_clock(self._name, spec)
        except AuthoringError as error:
            if started:  # its world is lost; only clean-up remains
                raise
            return _explain_missing_world(spec.runbook(), error)
        context = self._build_context(spec, clock)
        if started and spec.clock == "Virtual" and not platform.has_clock(self._name):
            message = "the world of this trial is lost: the lab server was restarted"
            self._status = mark_infra(context, self._status, message)
        return context

    def _build_context(self, spec: TrialSpec, clock: Clock) -> TrialContext:
        callbacks = TrialCallbacks(stopping=self._stopping, pause=self._pause, tell=self._tell, show=self._show)
        return build_context(self._environment, self._name, spec, clock, callbacks, self._status.started_at)

    def _conclude(self, context: TrialContext) -> None:
        """Save the evidence, then write the outcome; keep the world of an app that stays deployed."""
        try:
            history = context.history()
        except InfrastructureError as error:
            log.warning("%s ends without its alert history: %s", self._name, error)
            history = AlertHistory(start=self._status.started_at or 0.0, end=self._status.now or 0.0)
        seen = context.baseline() or Baseline()
        document: Object = {
            "history": history.to_json(),
            "injectedAt": self._injected,
            "injections": {name: each.injected_at for name, each in context.progress().faults.items()},
            "signs": list(seen.found),
            "placement": seen.placement,
            "passages": [passage.to_json() for passage in seen.passages],
        }
        name = context.save_evidence(document)
        self._status = msgspec.structs.replace(self._status, evidence=name)
        self._save(self._status)
        if any(s.kind == "teardown" for s in context.spec.steps):
            self._environment.platform.close_clock(self._name)

    @property
    def _injected(self) -> float | None:
        return next((s.started_at for s in self._status.steps if s.kind == "inject"), None)

    def _save(self, status: TrialStatus) -> None:
        """Write the status with the current alerts, but no outcome until the evidence is saved."""
        if not status.outcome:
            status = msgspec.structs.replace(status, alerts=self._alerts)
        self._environment.measurements.count_progress(self._status, status)
        self._status = status
        self._write(status if status.evidence or not status.outcome else msgspec.structs.replace(status, outcome=""))

    def _write(self, status: TrialStatus) -> None:
        """Write the status; nothing else does."""
        if not write_status(self._environment.cluster, self._ref, status.to_json()):
            raise Stopped

    def _tell(self, now: float, history: AlertHistory) -> None:
        self._alerts = list_alerts_now(history)
        if time.monotonic() - self._reported > _UPDATE_SECONDS:
            self._reported = time.monotonic()
            self._save(msgspec.structs.replace(self._status, now=now))

    def _show(self, answer: Answer, reasons: Sequence[str]) -> None:
        """Show in the Resolved condition what is missing until the incident is over; written only on change."""
        reason = {"True": "ExpectClearedHeld", "False": "NotResolved", "Unknown": "NotKnown"}[answer]
        shown = self._status.with_condition("Resolved", answer, reason, truncate_reasons(reasons))
        if answer != "True" and shown.conditions != self._status.conditions:
            self._save(shown)

    def _pause(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while not self._stopping() and (left := deadline - time.monotonic()) > 0:
            time.sleep(min(left, 0.2))
        if self._stopping():
            raise Stopped

    def clean(self) -> list[str]:
        """Undo every change, remove the app and the trial's records; return what is still blocked.

        Raises:
            InfrastructureError: the cluster refused or did not answer; retry later.
        """
        with _locks[self._name]:
            trial = self._environment.cluster.get(self._ref)
            if trial is None:
                return []
            spec, self._status = read_trial(trial)
            if self._find_unreadable(spec):  # it never started
                return []
            if not self._is_verified_clean(spec):
                context = self._build_context(spec, self._open_cleanup_clock(spec))
                if blocked := context.engine.undo_all():
                    return [f"{b.group} on {b.target}: {b.reason}" for b in blocked]
                if context.baseline() is not None:
                    remove(context, context.clock.now() + CLEAN_DEADLINE)
            self._environment.platform.close_clock(self._name)
            delete_records(self._environment, self._name)
            return []

    def _is_verified_clean(self, spec: TrialSpec) -> bool:
        """Return whether the trial already cleaned up and verified it; checking again would list every kind."""
        if not self._status.outcome or spec.steps[-1].kind != "expectClean":
            return False
        proof = self._status.step(len(spec.steps) - 1)
        return proof is not None and proof.outcome == "Held" and not proof.findings

    def _find_unreadable(self, spec: TrialSpec) -> Finding | None:
        """Return a finding if this version of the operator cannot read the trial's spec.

        Raises:
            InfrastructureError: the trial was started by another version and must be ended by it.
        """
        try:
            spec.runbook()
        except InfrastructureError as error:
            if self._status.started_at is not None:
                raise
            return build_finding("SK901", error.message, severity=Severity.WARNING, fix=error.fix, why="")
        return None

    def _open_cleanup_clock(self, spec: TrialSpec) -> Clock:
        try:
            return self._environment.platform.open_clock(self._name, spec)
        except AuthoringError:  # pods without a world run on the wall clock
            return WallClock()


def _explain_missing_world(runbook: Runbook, problem: AuthoringError) -> Finding:
    """Explain a missing world: an invalid twin, or an app without one."""
    if runbook.app.twin is None:
        return build_finding("SK911", problem.message, fix="run it on a real cluster", why="")
    return build_finding("SK138", problem.message, fix=problem.fix, why="")


def show_blocked(environment: Environment, name: str, blocked: list[str]) -> None:
    """Set the condition Clean to False, reason UndoBlocked; the finalizer stays."""
    ref = make_trial_reference(name, environment.settings.management_namespace)
    trial = environment.cluster.get(ref)
    if trial is None:
        return
    status = read_status(trial).with_condition("Clean", "False", "UndoBlocked", "; ".join(blocked)[:1000])
    try:
        write_status(environment.cluster, ref, status.to_json())
    except ClusterError as error:
        log.warning("%s: cannot update the Clean condition: %s", name, error)
