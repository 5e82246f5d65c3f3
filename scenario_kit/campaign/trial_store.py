"""The trials of a campaign in the cluster: find them by name, create, read and delete them."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, NamedTuple

import msgspec

from scenario_kit.campaign.planning import concurrency
from scenario_kit.campaign.planning.assumptions import draw_assumptions, vary_runbook
from scenario_kit.campaign.planning.derived_names import derive_namespace, derive_trial_name
from scenario_kit.campaign.planning.plans import (
    Plan,
    PlannedTrial,
    Resolve,
    build_trial_spec,
)
from scenario_kit.campaign.results.result import TrialResult, complete_from_status
from scenario_kit.changes import TRIAL_LABEL
from scenario_kit.errors import AlreadyExists
from scenario_kit.model import AlertHistory, Object, Reference, TrialSpec
from scenario_kit.model.authored.scenario import API_VERSION
from scenario_kit.model.kubernetes.reference import GROUP, MANAGEMENT_NAMESPACE
from scenario_kit.model.kubernetes.timestamp import parse_timestamp
from scenario_kit.model.results.trial import CAMPAIGN_LABEL, PURPOSE_LABEL, ClockMode, make_trial_reference
from scenario_kit.model.runtime.observation import Passage
from scenario_kit.ports import Cluster
from scenario_kit.trial import TrialStatus

KEPT_LABEL: Final = f"{GROUP}/kept"


@dataclass(frozen=True)
class Campaign:
    """The common properties of a campaign's trials.

    ``scenario``, ``digest`` and ``identity`` (by default the plan's name) determine their names. ``keep`` leaves the
    trials in the cluster after the campaign.
    """

    cluster: Cluster
    plan: Plan
    scenario: str
    digest: str
    app: str
    resolve: Resolve
    clock: ClockMode = "Virtual"
    identity: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    keep: bool = False

    def name(self, planned: PlannedTrial) -> str:
        """Return the deterministic name of a trial."""
        return derive_trial_name(self.scenario, planned, self.digest, self.identity or self.plan.name)

    def find(self, planned: PlannedTrial) -> Object | None:
        """Return the Trial object, even while it is terminating; None if there is none."""
        return self.cluster.get(make_trial_reference(self.name(planned)))

    def begin(self, planned: PlannedTrial) -> None:
        """Create a trial in its own namespace, unless it already exists.

        Raises:
            AuthoringError: it cannot be resolved, or not for this clock.
            ClusterError: the API server rejected it.
        """
        name = self.name(planned)
        runbook = self.resolve(derive_namespace(self.app, uuid.uuid4().hex), planned.load_percent)
        runbook = vary_runbook(runbook, self._variation(planned))
        body = build_trial_spec(planned, runbook, self.plan.name, self.clock).to_json()
        labels = {TRIAL_LABEL: name, CAMPAIGN_LABEL: runbook.scenario, PURPOSE_LABEL: planned.purpose}
        labels |= {**concurrency.build_labels(runbook), **self.labels, **({KEPT_LABEL: "true"} if self.keep else {})}
        metadata = {"name": name, "namespace": MANAGEMENT_NAMESPACE, "labels": labels}
        try:
            self.cluster.create({"apiVersion": API_VERSION, "kind": "Trial", "metadata": metadata, "spec": body})
        except AlreadyExists:
            return

    def _variation(self, planned: PlannedTrial) -> int:
        return planned.variation if self.plan.assumptions and self.clock == "Virtual" else 0

    def remove(self, planned: PlannedTrial) -> None:
        """Delete a trial, which first undoes its changes."""
        self.cluster.delete(make_trial_reference(self.name(planned)))

    def result(self, planned: PlannedTrial, trial: Object | None, failure: str = "") -> TrialResult:
        """Return the result of a trial with its evidence; ``failure`` is why an unfinished one was abandoned."""
        base = TrialResult(
            name=self.name(planned), purpose=planned.purpose, describe=planned.describe, seed=planned.seed,
            outcome="Infra", message=failure,
        )  # fmt: skip
        if trial is None:
            return base
        status = read_status(trial)
        base = msgspec.structs.replace(base, wall_seconds=measure_duration(trial, status))
        if failure or not status.outcome:
            unended = msgspec.structs.replace(status, outcome="")
            return complete_from_status(base, unended, None, None, failure)
        left = read_evidence(self.cluster, status)
        base = msgspec.structs.replace(
            base,
            signs=left.signs,
            passages=left.passages,
            placement=dict(left.placement),
            injections=dict(left.injections),
        )
        if number := self._variation(planned):
            app = TrialSpec.from_json(trial["spec"]).runbook().app
            base = msgspec.structs.replace(base, assumed=draw_assumptions(app, number))
        return complete_from_status(base, status, left.history, left.injected_at)


def read_status(trial: Object) -> TrialStatus:
    """Read the status of a Trial object; empty until the operator sets it."""
    return TrialStatus.from_json(trial.get("status") or {})


def is_stale(trial: Object) -> bool:
    """Return whether a trial of an earlier run must be replaced: it was kept, or infrastructure ended it."""
    outcome = read_status(trial).outcome
    return outcome == "Infra" or bool(outcome and KEPT_LABEL in (trial["metadata"].get("labels") or {}))


def measure_duration(trial: Object, status: TrialStatus) -> float:
    """Return the wall seconds from creation to the end of a trial; 0 if it has not ended."""
    ended = next((c.last_transition_time for c in status.conditions if c.type == "Succeeded"), None)
    if ended is None:
        return 0.0
    return ended.seconds - parse_timestamp(trial["metadata"]["creationTimestamp"])


class TrialEvidence(NamedTuple):
    """The evidence of a finished trial: alerts, injections, and other observations up to the end of hold."""

    history: AlertHistory | None = None
    injected_at: float | None = None
    signs: tuple[str, ...] = ()
    passages: tuple[Passage, ...] = ()
    placement: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    injections: Mapping[str, float] = MappingProxyType({})


def read_evidence(cluster: Cluster, status: TrialStatus) -> TrialEvidence:
    """Read the evidence of a finished trial; empty if it is gone."""
    found = cluster.get(Reference("ConfigMap", status.evidence, MANAGEMENT_NAMESPACE)) if status.evidence else None
    if found is None:
        return TrialEvidence()
    document = json.loads(found["data"]["document"])
    return TrialEvidence(
        AlertHistory.from_json(document["history"]),
        document.get("injectedAt"),
        tuple(document.get("signs") or ()),
        tuple(Passage.from_json(p) for p in document.get("passages") or ()),
        {workload: tuple(nodes) for workload, nodes in (document.get("placement") or {}).items()},
        document.get("injections") or {},
    )
