"""Reconcile Validations from cluster state and write their status, as its only writer."""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from operators.access.trial_objects import delete_trials, list_trials, write_status
from operators.last_applied import LAST_APPLIED_ANNOTATION
from operators.scenario.admission import check_object
from operators.scenario.environment import Environment
from operators.scenario.plan import Refusal
from operators.scenario.validation_input import ValidationInput, resolve_validation
from operators.scenario.validation_plan import Begin, CampaignView, Conclude, ShowCampaign, build_status, decide
from scenario_kit.campaign import CatalogEvidence, ValidationSubject, conclude
from scenario_kit.campaign.planning.concurrency import find_blocking_trial, limit_concurrency
from scenario_kit.campaign.planning.plans import PlannedTrial
from scenario_kit.campaign.planning.scheduler import ObservedTrial
from scenario_kit.campaign.remote_validation import REPORT_KEY
from scenario_kit.campaign.results.result import TrialResult, Validation
from scenario_kit.campaign.trial_store import Campaign, read_status
from scenario_kit.catalog.evidence import read_fingerprints
from scenario_kit.judge.platform import find_platform_needs
from scenario_kit.model import Object, Reference, Runbook
from scenario_kit.model.kubernetes.reference import GROUP
from scenario_kit.model.kubernetes.status import is_terminating
from scenario_kit.model.kubernetes.timestamp import format_timestamp, parse_timestamp
from scenario_kit.model.results.trial import PURPOSE_LABEL, VALIDATION_LABEL
from scenario_kit.report import Report
from scenario_kit.report.truncation import truncate_report

#: Resync interval in seconds of a running and of a refused campaign.
_STEP_SECONDS: Final = 1.0
_REFUSED_SECONDS: Final = 5.0


class Validations:
    """Reconciles Validations. All state is in the cluster, apart from a cache of resolved scenarios."""

    def __init__(self, environment: Environment, now: Callable[[], float] = time.time) -> None:
        self._environment = environment
        self._now = now
        self._inputs: dict[str, tuple[object, Refusal | ValidationInput]] = {}
        self._creation = threading.Lock()  # serializes the check for other trials and the creation

    def reconcile(self, name: str, namespace: str) -> float | None:
        """Execute the next action of a Validation and update its status.

        Returns:
            The wall time of the next reconciliation if nothing changes.

        Raises:
            InfrastructureError: a component did not answer; retry later.
            AuthoringError: the scenario no longer resolves.
        """
        ref = Reference("Validation", name, namespace, GROUP)
        obj = self._environment.cluster.get(ref)
        if obj is None or is_terminating(obj):
            return None
        before: dict[str, Any] = obj.get("status") or {}
        if before.get("verdict"):
            self._inputs.pop(name, None)
            return None if self._remove(name) else self._now() + _STEP_SECONDS
        case = self._get_input(obj)
        if isinstance(case, Refusal):
            self._show(ref, before, build_status(before, obj["metadata"]["generation"], case, None))
            return self._now() + _REFUSED_SECONDS
        self._advance(ref, obj, case)
        return self._now() + _STEP_SECONDS

    def release(self, name: str) -> bool:
        """Delete the trials and the report of a terminating Validation; return True once no trial is left."""
        self._inputs.pop(name, None)
        self._environment.cluster.delete(self._make_report_reference(name))
        return self._remove(name)

    def _remove(self, name: str) -> bool:
        trials = list_trials(self._environment, VALIDATION_LABEL, name)
        delete_trials(self._environment, trials)
        return not trials

    def _get_input(self, obj: Object) -> Refusal | ValidationInput:
        if refusal := check_object(self._environment.settings, obj):
            return refusal
        name, version = obj["metadata"]["name"], self._make_cache_key(obj)
        known = self._inputs.get(name)
        if known is None or known[0] != version:
            known = self._inputs[name] = (version, resolve_validation(self._environment, obj))
        return known[1]

    def _make_cache_key(self, obj: Object) -> object:
        """Return the cache key of a case: the Validation, and the version of a stored scenario."""
        uid, name = obj["metadata"]["uid"], obj["spec"].get("scenario")
        if not name:  # the API server cannot keep fault types, which have no schema there, from changing
            return uid, obj["metadata"].get("generation")
        stored = self._environment.cluster.get(Reference("Scenario", name, obj["metadata"]["namespace"], GROUP))
        found = (stored or {}).get("metadata") or {}
        applied = (found.get("annotations") or {}).get(LAST_APPLIED_ANNOTATION)
        return uid, found.get("uid"), found.get("generation"), found.get("deletionTimestamp"), applied

    def _advance(self, ref: Reference, obj: Object, case: ValidationInput) -> None:
        before: dict[str, Any] = obj.get("status") or {}
        generation, digest = obj["metadata"]["generation"], case.sample.digest if case.sample else ""
        if not before.get("startedAt"):  # recorded before the first trial is created
            begun = {"scenario": case.name, "digest": digest, "startedAt": format_timestamp(self._now())}
            self._show(ref, before, build_status(begun, generation, None, CampaignView(planned=len(case.planned))))
            return
        if before.get("digest", "") != digest:
            self._conclude(ref, obj, dataclasses.replace(case, sample=None, static=()), [_discard_edited(ref)], 1)
            return
        if case.sample is None:
            self._conclude(ref, obj, case, [], 0)
            return
        campaign = self._build_campaign(obj, case.sample, case)
        trials = {
            t["metadata"]["labels"][PURPOSE_LABEL]: t
            for t in list_trials(self._environment, VALIDATION_LABEL, ref.name)
        }
        seen = [
            ObservedTrial(purpose=p, outcome="" if is_terminating(t) else read_status(t).outcome)
            for p, t in trials.items()
        ]
        parallel = limit_concurrency(case.sample, case.spec.parallel)
        action, move = decide(
            case.plan, case.planned, seen,
            parallel=parallel, problems=self._describe_problems(case, case.sample),
            spent=self._describe_spent_budget(before, case),
        )  # fmt: skip
        if isinstance(action, Conclude):
            results = [_build_result(campaign, p, trials.get(p.purpose), action.because) for p in action.trials]
            self._conclude(ref, obj, case, results, len(move.every))
            return
        if isinstance(action, Begin):
            action = self._create_trials(ref.name, campaign, case.sample, action)
        if isinstance(action, Begin):
            seen += [ObservedTrial(purpose=p.purpose) for p in action.trials]
        outcomes = {s.purpose: s.outcome or "Running" for s in seen}
        rows = tuple((campaign.name(p), p.purpose, outcomes[p.purpose]) for p in move.every if p.purpose in outcomes)
        shown = CampaignView(planned=len(move.every), trials=rows)
        if isinstance(action, ShowCampaign):
            shown = msgspec.structs.replace(shown, waiting=action.because, reason=action.reason)
        self._show(ref, before, build_status(before, generation, None, shown))

    def _create_trials(self, name: str, campaign: Campaign, sample: Runbook, action: Begin) -> Begin | ShowCampaign:
        """Create trials unless other trials block them."""
        with self._creation:
            others = [
                t
                for t in list_trials(self._environment)
                if t["metadata"].get("labels", {}).get(VALIDATION_LABEL) != name
            ]
            if because := find_blocking_trial(sample, others):
                return ShowCampaign(because, "Occupied")
            for planned in action.trials:
                campaign.begin(planned)
        return action

    def _build_campaign(self, obj: Object, sample: Runbook, case: ValidationInput) -> Campaign:
        return Campaign(
            self._environment.cluster, case.plan, case.name, sample.digest, sample.app.name, case.resolve,
            clock=self._environment.platform.campaign_clock,
            identity=f"{case.plan.name}/{obj['metadata']['uid']}",
            labels={VALIDATION_LABEL: obj["metadata"]["name"]},
        )  # fmt: skip

    def _conclude(
        self, ref: Reference, obj: Object, case: ValidationInput, results: list[TrialResult], planned: int
    ) -> None:
        """Save the report, then write the verdict; a crash in between repeats both."""
        before = obj["status"]
        took = self._now() - parse_timestamp(before["startedAt"])
        catalog = self._environment.catalog
        matrix = catalog.matrix(case.sample.app) if case.sample is not None else ()
        verdict = conclude(
            ValidationSubject(
                case.name,
                "",
                before.get("digest", ""),
                case.plan,
                case.incident,
                data_plane=self._environment.platform.data_plane,
            ),
            results,
            list(case.static),
            round(max(took, 0.0), 1),
            promised=case.sample,
            evidence=CatalogEvidence(read_fingerprints(catalog.scenarios()), matrix),
        )
        report = self._make_report_reference(ref.name)
        command = f"kubectl get configmap {report.name} -n {report.namespace} -o jsonpath='{{.data.report\\.json}}'"
        verdict = msgspec.structs.replace(verdict, next=command)
        self._save_report(ref, verdict)
        rows = tuple((r.name, r.purpose, r.outcome) for r in results)
        shown = CampaignView(planned=planned, trials=rows)
        self._show(ref, before, build_status(before, obj["metadata"]["generation"], None, shown, verdict, report.name))

    def _save_report(self, ref: Reference, verdict: Validation) -> None:
        created = datetime.fromtimestamp(self._now(), UTC).isoformat(timespec="seconds")
        report = self._make_report_reference(ref.name)
        metadata = {"name": report.name, "namespace": report.namespace, "labels": {VALIDATION_LABEL: ref.name}}
        kubernetes, engine = self._environment.platform.versions
        written = Report(created=created, kubernetes=kubernetes, engine=engine, validation=verdict)
        data = {REPORT_KEY: truncate_report(written)}
        self._environment.cluster.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data})

    def _make_report_reference(self, name: str) -> Reference:
        return Reference("ConfigMap", f"{name}-report", self._environment.settings.management_namespace)

    def _describe_problems(self, case: ValidationInput, sample: Runbook) -> str:
        needs = find_platform_needs(sample, [step for planned in case.planned for step in planned.steps])
        return "; ".join(self._environment.platform.health(needs))

    def _describe_spent_budget(self, before: dict[str, Any], case: ValidationInput) -> str:
        began = parse_timestamp(before["startedAt"])
        minutes = case.spec.max_minutes
        return f"the budget of {minutes} min was spent" if self._now() - began > 60 * minutes else ""

    def _show(self, ref: Reference, before: dict[str, Any], after: dict[str, Any]) -> None:
        if after != before:
            write_status(self._environment.cluster, ref, after)


def _build_result(campaign: Campaign, planned: PlannedTrial, trial: Object | None, because: str) -> TrialResult:
    ended = trial is not None and bool(read_status(trial).outcome) and not is_terminating(trial)
    return campaign.result(planned, trial, "" if ended else because)


def _discard_edited(ref: Reference) -> TrialResult:
    """Build the result of a campaign whose scenario was edited while it ran."""
    message = "the scenario was edited while it was validated; create another validation"
    return TrialResult(
        name=ref.name, purpose="campaign", describe="the whole campaign", seed=0, outcome="Infra", message=message
    )
