"""A Validation that an operator carries out, from the outside: created, found again, followed to its verdict.

Nothing of it is remembered here. Its name follows from what is validated, so that the same question, asked again from
anywhere, finds the campaign that is under way.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from scenario_kit.campaign.planning.plans import PlannedTrial
from scenario_kit.campaign.run import Polling
from scenario_kit.campaign.trial_store import KEPT_LABEL, is_terminating, read_status
from scenario_kit.errors import AlreadyExists, InfrastructureError, NotFound, Unreachable, UsageError
from scenario_kit.model import Object, Reference, TrialSpec, Value
from scenario_kit.model.authored.scenario import API_VERSION
from scenario_kit.model.kubernetes.reference import GROUP, MANAGEMENT_NAMESPACE
from scenario_kit.model.results.trial import CAMPAIGN_LABEL, PURPOSE_LABEL, VALIDATION_LABEL
from scenario_kit.ports import Cluster
from scenario_kit.trial import TrialStatus

#: Key of the ConfigMap that holds the report of a Validation.
REPORT_KEY: Final = "report.json"
_POLL_SECONDS: Final = 2.0
#: Seconds beyond its budget in which an operator concludes, and undoes what is left.
GRACE_SECONDS: Final = 900.0
#: Parts of a spec that say how it is run, and not what is asked: whoever asks with others finds the same campaign.
_MANNER: Final = ("maxMinutes", "parallelism")
_FIX_OPERATOR: Final = f"see whether it runs: kubectl -n {MANAGEMENT_NAMESPACE} get pods"


def make_validation_reference(name: str) -> Reference:
    """Make the reference of a Validation that the operator carries out."""
    return Reference("Validation", name, MANAGEMENT_NAMESPACE, GROUP)


def derive_validation_name(scenario: str, spec: Object) -> str:
    """Derive the name of a Validation from what it asks: scenario, fault types, plan and seed."""
    asked = {key: value for key, value in spec.items() if key not in _MANNER}
    digest = hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()
    return f"{scenario[:43].rstrip('-')}-{digest[:8]}"


def build_validation(scenario: str, spec: Object, *, keep: bool = False) -> Object:
    """Build the object; ``keep`` marks one that stays when its report has been read."""
    labels = {CAMPAIGN_LABEL: scenario} | ({KEPT_LABEL: "true"} if keep else {})
    metadata = {
        "name": derive_validation_name(scenario, spec), "namespace": MANAGEMENT_NAMESPACE, "labels": labels,
    }  # fmt: skip
    return {"apiVersion": API_VERSION, "kind": "Validation", "metadata": metadata, "spec": spec}


class ValidationProgress(Value, frozen=True, kw_only=True):
    """What the status of a Validation says.

    ``seen`` is whether an operator has looked at it, ``refusal`` why it is not accepted, ``waiting`` why no trial
    begins. ``digest`` is the operator's of the scenario, ``outcomes`` are those of the trials by purpose.
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
        """How many trials have ended."""
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
    """Choose how to begin, by what is there under the name.

    One that was kept after its verdict makes way for a new one; one that is being deleted has to be gone first. Any
    other is taken up where it stands: also one whose verdict is there, because nobody has read it yet.
    """
    if found is None:
        return "Create"
    if is_terminating(found):
        return "Wait"
    kept = KEPT_LABEL in (found["metadata"].get("labels") or {})
    return "Replace" if kept and read_progress(found).verdict else "TakeUp"


class ValidationListener:
    """Whoever watches a Validation; these methods say nothing."""

    def show_waiting(self, reason: str) -> None:
        """Show why nothing goes on; an empty reason means that it does again."""

    def show_progress(self, progress: ValidationProgress) -> None:
        """Show what the status says, whenever that has changed."""

    def show_trial(self, planned: PlannedTrial, name: str, status: TrialStatus) -> None:
        """Show a trial whose status has changed."""


@dataclass(frozen=True)
class RemoteValidation:
    """A Validation in a cluster, by the object that it is, or is to become."""

    cluster: Cluster
    desired: Object
    polling: Polling = field(default_factory=Polling)

    @property
    def name(self) -> str:
        """Its name."""
        return str(self.desired["metadata"]["name"])

    @property
    def reference(self) -> Reference:
        """Its reference."""
        return make_validation_reference(self.name)

    def find(self) -> Object | None:
        """Find the object; None where there is none."""
        return self.cluster.get(self.reference)

    def begin(self, listener: ValidationListener) -> Object:
        """Create it, or take up the one that is there. Returns the object as it is stored.

        Raises:
            InfrastructureError: an earlier one does not go away.
            ClusterError: the API server did not take it.
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
                        continue  # somebody asked the same at the same time
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
        """Follow it until its verdict is there. An API server that does not answer changes nothing, for a while.

        Args:
            planned: trials that are known to be planned; others are told by their own programs.
            limit: seconds after which it is given up.
            listener: is told about every change.

        Raises:
            UsageError: the operator refuses it.
            InfrastructureError: nobody carries it out, it is deleted meanwhile, or has no verdict within the limit.
            Unreachable: the API server stays away.
        """
        watch = _ValidationWatch(self, planned, listener)
        while True:
            progress = watch.look()
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
        """Read the text of its report.

        Raises:
            InfrastructureError: it is gone.
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
        """List its trials that there are."""
        labels = {VALIDATION_LABEL: self.name}
        return self.cluster.list("Trial", MANAGEMENT_NAMESPACE, group=GROUP, labels=labels)

    def remove(self) -> None:
        """Delete it: the operator undoes its trials, and removes them and the report."""
        self.cluster.delete(self.reference)


class _ValidationWatch:
    """What was seen last, so that only changes are told."""

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
        """Seconds since it is followed."""
        return self._remote.polling.clock() - self._started

    def look(self) -> ValidationProgress | None:
        """Look once, and tell what has changed; None where the API server did not answer."""
        try:
            found = self._remote.find()
            trials = self._remote.list_trials() if found is not None else []
        except Unreachable as problem:
            if self._remote.polling.clock() - self._answered > self._remote.polling.patience:
                raise
            self._show_waiting(str(problem))
            return None
        except NotFound as problem:
            raise InfrastructureError(f"the kinds of the operator are gone: {problem}", fix=_FIX_OPERATOR) from problem
        self._answered = self._remote.polling.clock()
        if found is None or is_terminating(found):
            raise InfrastructureError(
                f"somebody has deleted the Validation {self._remote.name}", fix="give the same command again"
            )
        self._tell(read_progress(found), trials)
        return self.progress

    def _tell(self, progress: ValidationProgress, trials: Sequence[Object]) -> None:
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
    """Read what a Trial object was planned as, from its program."""
    spec = TrialSpec.from_json(trial["spec"])
    return PlannedTrial(purpose=purpose, describe="", steps=spec.steps, seed=spec.seed)
