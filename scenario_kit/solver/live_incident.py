"""An incident handed to a solver: a trial with the solver's investigation in its middle."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

from scenario_kit.campaign.interventions.repairs import build_solutions
from scenario_kit.changes.three_way_restore import strip_to_desired
from scenario_kit.errors import AuthoringError, InfrastructureError
from scenario_kit.judge import leftovers
from scenario_kit.judge.repair import resolution
from scenario_kit.model import Object, TrialStep
from scenario_kit.solver.records.run_record import IncidentTimes
from scenario_kit.trial import TrialContext, TrialStatus
from scenario_kit.trial.alerts import extended_wait
from scenario_kit.trial.alerts.alert_steps import await_interval
from scenario_kit.trial.run import execute, run

#: Kinds that a solver may change, compared before and after.
CHANGEABLE: Final = (
    "ConfigMap", "CronJob", "DaemonSet", "Deployment", "HorizontalPodAutoscaler", "Ingress", "Job", "LimitRange",
    "NetworkPolicy", "PersistentVolumeClaim", "PodDisruptionBudget", "ResourceQuota", "Secret", "Service",
    "ServiceAccount", "StatefulSet",
)  # fmt: skip
_SOLVER: Final = "the solver"


class LiveIncident:
    """An active incident on the clock of its trial. ``pause`` waits for wall seconds."""

    def __init__(self, context: TrialContext, pause: Callable[[float], None]) -> None:
        self._context = context
        self._pause = pause
        self._before: dict[str, str] = {}

    @property
    def mode(self) -> Literal["virtual", "wall"]:
        """The clock of the incident: virtual or wall time."""
        return "virtual" if self._context.virtual else "wall"

    def now(self) -> float:
        """Return the trial clock's time in seconds since the epoch."""
        return self._context.clock.now()

    def advance(self, seconds: float) -> None:
        """Advance the clock, while lasting faults follow new pods and background noise continues."""
        self._context.wait(self._context.clock.now() + seconds)

    def begin(self, save: Callable[[TrialStatus], None]) -> None:
        """Run the trial's steps up to the hand-over.

        Raises:
            AuthoringError: the incident does not develop as its scenario declares; with the findings.
            InfrastructureError: the trial failed for another reason.
        """
        status = run(self._context, TrialStatus(), save, self._pause)
        if status.outcome == "Broken":
            raise AuthoringError(f"the incident {self._context.name} does not develop as declared", status.findings)
        if status.outcome != "Held":
            failed = next((s for s in status.steps if s.outcome == "Infra"), None)
            raise InfrastructureError(f"{failed.step}: {failed.message}" if failed else "the trial did not end")
        self._before = self._digest()

    def repair(self) -> None:
        """Carry out the documented solution, as a campaign does, to verify that the incident can be solved."""
        if self._context.runbook.outcome != "Incident":
            return
        for step in build_solutions(self._context.runbook)[0]:
            if step.kind == "change":
                index = len(self._context.spec.steps)
                execute(self._context, step, index, self._context.clock.now())

    def judge(self) -> tuple[bool | None, tuple[str, ...]]:
        """Judge whether the incident is resolved within its window and does not recur; with the reasons if not.

        The result is None if nothing is broken.
        """
        context, start = self._context, self._context.clock.now()
        if context.runbook.outcome == "NoIncident":
            return None, ()
        index = len(context.spec.steps)
        findings, _ = execute(context, TrialStep(kind="expectCleared", name=_SOLVER), index, start)
        if findings:
            return False, tuple(f"{f.message}: {f.observed}" if f.observed else f.message for f in findings)
        cleared = context.clock.now()
        await_interval(context, start, extended_wait.compute_recurrence_time(context, start))
        returned = resolution.find_returned(context.history(), context.runbook.expect, cleared)
        return not returned, tuple(f"{t.name} on {t.entity or 'the app'} fires again" for t, _ in returned)

    def list_changed(self) -> tuple[str, ...]:
        """List the objects that changed since the hand-over, as ``namespace/Kind/name``."""
        after = self._digest()
        names = sorted(self._before.keys() | after.keys())
        return tuple(name for name in names if self._before.get(name) != after.get(name))

    def measure(self, handed_over: float, ended: float) -> IncidentTimes:
        """Measure the times of the first fault and the first alert."""
        context, injected = self._context, self._context.injected_at()
        onsets = [at for t in context.history().timelines if (at := t.onset(injected or handed_over)) is not None]
        return IncidentTimes(
            handed_over=handed_over, ended=ended, first_fault=injected,
            first_alert=min((at for at in onsets if at <= ended), default=None),
        )  # fmt: skip

    def end(self) -> None:
        """Undo everything and remove the app.

        Raises:
            InfrastructureError: the clean-up failed.
        """
        for kind in ("teardown", "expectClean"):
            step = TrialStep(kind=kind)
            execute(self._context, step, len(self._context.spec.steps), self._context.clock.now())

    def _digest(self) -> dict[str, str]:
        """Digest the objects that a solver may change, except owned ones."""
        found = [o for o in self._context.contents(*CHANGEABLE) if not o["metadata"].get("ownerReferences")]
        return {_name(obj): leftovers.digest(strip_to_desired(obj)) for obj in found}


def _name(obj: Object) -> str:
    return f"{obj['metadata']['namespace']}/{obj['kind']}/{obj['metadata']['name']}"
