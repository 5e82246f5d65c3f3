"""The metrics of the operator (docs/install.md lists them)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from scenario_kit.errors import ScenarioKitError
from scenario_kit.model import StepStatus
from scenario_kit.trial.status import TrialStatus

_T = TypeVar("_T")
#: Histogram buckets: steps take milliseconds in virtual time and up to an hour in wall time.
_STEP_SECONDS: Final = (0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600)


class Measurements:
    """Metrics of one operator process, in their own registry."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.leader = Gauge(
            "scenario_kit_operator_leader", "1 if this process holds the Lease, else 0.", registry=self.registry
        )
        self._steps = Counter(
            "scenario_kit_operator_steps", "Steps of trials that ended.", ("step", "outcome"), registry=self.registry
        )
        self._step_seconds = Histogram(
            "scenario_kit_operator_step_seconds", "Time of the trial that a step took, in seconds.", ("step",),
            buckets=_STEP_SECONDS, registry=self.registry,
        )  # fmt: skip
        self._trials = Counter(
            "scenario_kit_operator_trials", "Trials that ended.", ("outcome",), registry=self.registry
        )
        self._errors = Counter(
            "scenario_kit_operator_handler_errors", "Calls of a handler that failed and are tried again.",
            ("handler",), registry=self.registry,
        )  # fmt: skip

    def count_progress(self, before: TrialStatus, after: TrialStatus) -> None:
        """Count the steps that ended between two statuses of a trial, and the trial if it ended."""
        for step in list_ended(before, after):
            self._steps.labels(step.kind, step.outcome).inc()
            if step.finished_at is not None:
                self._step_seconds.labels(step.kind).observe(max(step.finished_at - step.started_at, 0.0))
        if after.outcome and not before.outcome:
            self._trials.labels(after.outcome).inc()

    def count_errors(self, handler: str, call: Callable[[], _T]) -> Callable[[], _T]:
        """Wrap a handler's call to count its errors."""

        def counted() -> _T:
            try:
                return call()
            except ScenarioKitError:
                self._errors.labels(handler).inc()
                raise

        return counted


def list_ended(before: TrialStatus, after: TrialStatus) -> list[StepStatus]:
    """List the steps that ended between two statuses of a trial, without skipped ones."""
    known = {step.index for step in before.steps if step.outcome != "Running"}
    return [s for s in after.steps if s.index not in known and s.outcome not in ("Running", "Skipped")]
