"""Create a Validation that an operator runs, find it again, and follow it until its verdict.

No state is kept here. The name of a Validation is derived from its scenario and spec, so the same request, made again
from any machine, finds the campaign that is already running.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from scenario_kit.campaign.planning.plans import PlannedTrial
from scenario_kit.campaign.run import Polling
from scenario_kit.campaign.trial_store import KEPT_LABEL, read_status
from scenario_kit.errors import AlreadyExists, InfrastructureError, NotFound, Unreachable, UsageError
from scenario_kit.model import Object, Reference, TrialSpec, Value
from scenario_kit.model.authored.scenario import API_VERSION
from scenario_kit.model.kubernetes.reference import GROUP, MANAGEMENT_NAMESPACE
from scenario_kit.model.kubernetes.status import is_terminating
from scenario_kit.model.results.trial import CAMPAIGN_LABEL, PURPOSE_LABEL, VALIDATION_LABEL
from scenario_kit.ports import Cluster
from scenario_kit.trial import TrialStatus

#: Key of the report in the ConfigMap of a Validation.
REPORT_KEY: Final = "report.json"
_POLL_SECONDS: Final = 2.0
#: Seconds after its budget in which the operator concludes a Validation and cleans up its trials.
GRACE_SECONDS: Final = 900.0
#: Keys of a spec that do not change the result, and so are not part of the name.
_UNNAMED_KEYS: Final = ("maxMinutes", "parallelism")
_FIX_OPERATOR: Final = f"see whether it runs: kubectl -n {MANAGEMENT_NAMESPACE} get pods"


def make_validation_reference(name: str) -> Reference:
    """Return the reference of a Validation in the namespace of the operator."""
    return Reference("Validation", name, MANAGEMENT_NAMESPACE, GROUP)


def derive_validation_name(scenario: str, spec: Object) -> str:
    """Derive the name of a Validation from its scenario, fault types, plan and seed."""
    named = {key: value for key, value in spec.items() if key not in _UNNAMED_KEYS}
    digest = hashlib.sha256(json.dumps(named, sort_keys=True).encode()).hexdigest()
    return f"{scenario[:43].rstrip('-')}-{digest[:8]}"


def build_validation(scenario: str, spec: Object, *, keep: bool = False) -> Object:
    """Build the Validation object; ``keep`` labels it to stay after its report has been read."""
    labels = {CAMPAIGN_LABEL: scenario} | ({KEPT_LABEL: "true"} if keep else {})
    metadata = {
        "name": derive_validation_name(scenario, spec), "namespace": MANAGEMENT_NAMESPACE, "labels": labels,
    }  # fmt: skip
    return {"apiVersion": API_VERSION, "kind": "Validation", "metadata": metadata, "spec": spec}


class ValidationProgress(Value, frozen=True, kw_only=True):
    """The status of a Validation.

    ``seen`` is true once the operator has set a condition. ``refusal`` is the reason it is not accepted, ``waiting``
    the reason no trial starts. ``digest`` is the digest of the scenario that the operator has, ``outcomes`` has the
    outcome of each trial by purpose.
    """

    seen: bool = False
    refusal: str = ""
    waiting: str = ""
    digest: str = ""
    started_at: str = ""
    verdict: str = ""
    report: str = ""
    planned: int = 0
    outcomes: Mapping[str, str] = {}

    @property
    def ended(self) -> int:
        """The number of trials that have ended."""
        return sum(outcome != "Running" for outcome in self.outcomes.values())


def read_progress(validation: Object) -> ValidationProgress:
    """Read the progress of a Validation from its object."""
    status: Object = validation.get("status") or {}
    conditions = {c["type"]: c for c in status.get("conditions") or ()}
    accepted, ready = conditions.get("Accepted") or {}, conditions.get("Ready") or {}
    running = ready.get("status") == "False" and ready.get("reason") not in ("TrialsRunning", "Concluded")
    refused = accepted.get("status") == "False"
    return ValidationProgress(
        seen=bool(conditions),
        refusal=f"{accepted['reason']}: {accepted.get('message', '')}" if refused else "",
        waiting="" if refused or not running else str(ready.get("message", "")),
        digest=status.get("digest", ""),
        started_at=status.get("startedAt", ""),
        verdict=status.get("verdict", ""),
        report=status.get("report", ""),
        planned=status.get("planned", 0),
        outcomes={t["purpose"]: t["outcome"] for t in status.get("trials") or ()},
    )


Beginning = Literal["Create", "TakeUp", "Replace", "Wait"]


def choose_beginning(found: Object | None) -> Beginning:
    """Choose how to begin, given the object that exists under the name.

    A Validation that was kept after its verdict is replaced; one that is being deleted must be gone first. Any other
    is followed from its present state, even if it has a verdict: its report has not been read yet.
    """
    if found is None:
        return "Create"
    if is_terminating(found):
        return "Wait"
    kept = KEPT_LABEL in (found["metadata"].get("labels") or {})
    return "Replace" if kept and read_progress(found).verdict else "TakeUp"


class ValidationListener:
    """Receives the progress of a Validation; these methods do nothing."""

    def show_waiting(self, reason: str) -> None:
        """Show why the Validation waits; an empty reason means that it no longer does."""

    def show_progress(self, progress: ValidationProgress) -> None:
        """Show the progress; called when it has changed."""

    def show_trial(self, planned: PlannedTrial, name: str, status: TrialStatus) -> None:
        """Show a trial; called when its status has changed."""


@dataclass(frozen=True)
class RemoteValidation:
    """A Validation in a cluster; ``desired`` is the object to create."""

    cluster: Cluster
    desired: Object
    polling: Polling = field(default_factory=Polling)

    @property
    def name(self) -> str:
        """The name of the Validation."""
        return str(self.desired["metadata"]["name"])

    @property
    def reference(self) -> Reference:
        """The reference of the Validation."""
        return make_validation_reference(self.name)

    def find(self) -> Object | None:
        """Return the stored object, None if there is none."""
        return self.cluster.get(self.reference)

    def begin(self, listener: ValidationListener) -> Object:
        """Create the Validation, or take up the existing one. Return the stored object.

        Raises:
            InfrastructureError: an earlier Validation of this name is not deleted in time.
            ClusterError: the API server rejects the object.
        """
        started = self.polling.clock()
        while True:
            found = self.find()
            match choose_beginning(found):
                case "TakeUp" if found is not None:
                    return found
                case "Create":
                    try:
                        return self.cluster.create(self.desired)
                    except AlreadyExists:
                        continue  # created by another client in the meantime
                case "Replace":
                    self.remove()
            listener.show_waiting(f"an earlier {self.name} is being undone")
            if self.polling.clock() - started > GRACE_SECONDS:
                raise InfrastructureError(
                    f"the Validation {self.name} of an earlier run is not gone after {GRACE_SECONDS:.0f} s",
                    fix=f"see what its trials wait for: kubectl -n {MANAGEMENT_NAMESPACE} get trials"
                    f" -l {VALIDATION_LABEL}={self.name}",
                )
            self.polling.pause(_POLL_SECONDS)

    def follow(self, planned: Sequence[PlannedTrial], limit: float, listener: ValidationListener) -> ValidationProgress:
        """Follow the Validation until its verdict. An unreachable API server is tolerated for ``polling.patience``.

        Args:
            planned: the planned trials; those not given are read from their Trial objects.
            limit: seconds after which to give up.
            listener: is called on every change.

        Raises:
            UsageError: the operator does not accept the Validation.
            InfrastructureError: no operator runs it, it was deleted, or it has no verdict within the limit.
            Unreachable: the API server does not answer.
        """
        watch = _ValidationWatch(self, planned, listener)
        while True:
            progress = watch.poll()
            if progress is not None and progress.verdict:
                return progress
            self._check(watch, limit)
            self.polling.pause(_POLL_SECONDS)

    def _check(self, watch: _ValidationWatch, limit: float) -> None:
        if watch.progress.refusal:
            raise UsageError(
                f"the operator does not accept the Validation {self.name}: {watch.progress.refusal}",
                fix=f"kubectl -n {MANAGEMENT_NAMESPACE} describe validation {self.name}",
            )
        if not watch.progress.seen and watch.elapsed > self.polling.patience:
            raise InfrastructureError(
                f"no operator has looked at the Validation {self.name} for {watch.elapsed:.0f} s", fix=_FIX_OPERATOR
            )
        if watch.elapsed > limit:
            raise InfrastructureError(
                f"the Validation {self.name} has no verdict after {watch.elapsed / 60:.0f} min", fix=_FIX_OPERATOR
            )

    def read_report(self, progress: ValidationProgress) -> str:
        """Return the text of the report.

        Raises:
            InfrastructureError: the report does not exist.
        """
        ref = Reference("ConfigMap", progress.report, MANAGEMENT_NAMESPACE)
        found = self.cluster.get(ref) if progress.report else None
        if found is None or REPORT_KEY not in (found.get("data") or {}):
            raise InfrastructureError(
                f"the Validation {self.name} ended with {progress.verdict}, but its report is gone",
                fix=f"delete it and begin again: kubectl -n {MANAGEMENT_NAMESPACE} delete validation {self.name}",
            )
        return str(found["data"][REPORT_KEY])

    def list_trials(self) -> list[Object]:
        """List the existing Trial objects of the Validation."""
        labels = {VALIDATION_LABEL: self.name}
        return self.cluster.list("Trial", MANAGEMENT_NAMESPACE, group=GROUP, labels=labels)

    def remove(self) -> None:
        """Delete the Validation; the operator then cleans up its trials and deletes them and the report."""
        self.cluster.delete(self.reference)


class _ValidationWatch:
    """Polls a Validation; keeps the last state to report changes only."""

    def __init__(self, remote: RemoteValidation, planned: Sequence[PlannedTrial], listener: ValidationListener) -> None:
        self._remote = remote
        self._listener = listener
        self._planned = {each.purpose: each for each in planned}
        self._statuses: dict[str, Object] = {}
        self._waiting = ""
        self._started = self._answered = remote.polling.clock()
        self.progress = ValidationProgress()

    @property
    def elapsed(self) -> float:
        """Seconds since the watch began."""
        return self._remote.polling.clock() - self._started

    def poll(self) -> ValidationProgress | None:
        """Poll once and report changes; return None if the API server did not answer."""
        try:
            found = self._remote.find()
            trials = self._remote.list_trials() if found is not None else []
        except Unreachable as error:
            if self._remote.polling.clock() - self._answered > self._remote.polling.patience:
                raise
            self._show_waiting(str(error))
            return None
        except NotFound as error:
            raise InfrastructureError(f"the kinds of the operator are gone: {error}", fix=_FIX_OPERATOR) from error
        self._answered = self._remote.polling.clock()
        if found is None or is_terminating(found):
            raise InfrastructureError(
                f"the Validation {self._remote.name} was deleted", fix="run the same command again"
            )
        self._report_changes(read_progress(found), trials)
        return self.progress

    def _report_changes(self, progress: ValidationProgress, trials: Sequence[Object]) -> None:
        for planned, trial in self._list_changes(trials):
            self._listener.show_trial(planned, trial["metadata"]["name"], read_status(trial))
        if progress != self.progress:
            self.progress = progress
            self._listener.show_progress(progress)
        self._show_waiting(progress.waiting)

    def _list_changes(self, trials: Sequence[Object]) -> Iterator[tuple[PlannedTrial, Object]]:
        for trial in trials:
            purpose, status = trial["metadata"]["labels"].get(PURPOSE_LABEL, ""), trial.get("status") or {}
            if is_terminating(trial) or status == self._statuses.get(purpose, {}):
                continue
            self._statuses[purpose] = status
            yield self._planned.setdefault(purpose, read_planned(trial, purpose)), trial

    def _show_waiting(self, reason: str) -> None:
        if reason != self._waiting:
            self._waiting = reason
            self._listener.show_waiting(reason)


def read_planned(trial: Object, purpose: str) -> PlannedTrial:
    """Build the planned trial from a Trial object."""
    spec = TrialSpec.from_json(trial["spec"])
    return PlannedTrial(purpose=purpose, describe="", steps=spec.steps, seed=spec.seed)
