"""Reconcile Scenarios: execute the planned action and write the status, as its only writer."""

from __future__ import annotations

import logging
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any, Final

from operators.access.trial_objects import delete_trials, list_trials, write_status
from operators.scenario.admission import AcceptedScenario, accept, build_live_spec
from operators.scenario.environment import Environment
from operators.scenario.plan import ATTEMPT_LABEL, CreateTrial, Remove, ShowTrial, build_conditions, plan, read_attempt
from scenario_kit.campaign.planning import concurrency
from scenario_kit.campaign.trial_store import read_status
from scenario_kit.errors import AlreadyExists
from scenario_kit.model import Object, Reference, Runbook
from scenario_kit.model.authored.scenario import API_VERSION
from scenario_kit.model.kubernetes.reference import GROUP
from scenario_kit.model.kubernetes.status import is_terminating
from scenario_kit.model.results.trial import make_trial_reference
from scenario_kit.trial import Condition, TrialStatus

log = logging.getLogger(__name__)
SCENARIO_LABEL: Final = "scenariokit.io/scenario"
#: Seconds until a missing capability is checked again.
_CANARY_SECONDS: Final = 60.0

#: Serializes the reconciliation and deletion of a Scenario, by namespace and name: none is created behind a deletion.
_locks: defaultdict[tuple[str, str], threading.Lock] = defaultdict(threading.Lock)


def reconcile(
    environment: Environment, name: str, namespace: str, now: Callable[[], float] = time.time
) -> float | None:
    """Execute the next action of a Scenario and update its status.

    Returns:
        The wall time of the next due action; None if only a change requires one.

    Raises:
        ClusterError: the API server refused or did not answer; try again later.
    """
    with _locks[namespace, name]:
        return _reconcile(environment, Reference("Scenario", name, namespace, GROUP), now)


def _reconcile(environment: Environment, ref: Reference, now: Callable[[], float]) -> float | None:
    name, namespace = ref.name, ref.namespace
    obj = environment.cluster.get(ref)
    if obj is None or is_terminating(obj):
        return None
    judged = accept(environment, obj)
    refusal, accepted = (None, judged) if isinstance(judged, AcceptedScenario) else (judged, None)
    desired = accepted.desired if accepted else None
    generation = obj["metadata"]["generation"]
    trials = (
        list_trials(environment, SCENARIO_LABEL, name) if namespace == environment.settings.management_namespace else []
    )
    before: dict[str, Any] = obj.get("status") or {}
    ended = before.get("attempt", 0) if desired and before.get("digest") == desired.digest else 0
    action = plan(name, generation, desired, trials, ended=ended, now=now())
    if isinstance(action, Remove):
        environment.cluster.delete(make_trial_reference(action.trial, namespace))
    elif isinstance(action, CreateTrial) and accepted is not None:
        _create(environment, obj, action, accepted.runbook)
    # A terminating trial is not mirrored: its conditions no longer hold.
    shown = [t for t in trials if desired and t["spec"]["digest"] == desired.digest]
    trial = read_status(shown[0]) if shown else None
    again = action.again if isinstance(action, ShowTrial) else None
    conditions = build_conditions(_read_conditions(obj), generation, refusal, desired, trial, again)
    status: dict[str, Any] = {"observedGeneration": generation, "conditions": [c.to_json() for c in conditions]}
    if desired and not desired.suspended and (attempt := read_attempt(shown[0]) if shown else ended):
        status |= {"digest": desired.digest, "attempt": attempt}
    _show(environment, ref, obj, status, shown, trial)
    return now() + _CANARY_SECONDS if refusal is not None and refusal.reason == "CapabilityMissing" else again


def _create(environment: Environment, scenario: Object, action: CreateTrial, runbook: Runbook) -> None:
    spec = build_live_spec(environment, scenario, runbook).to_json()
    labels = {SCENARIO_LABEL: scenario["metadata"]["name"], ATTEMPT_LABEL: str(action.attempt)}
    labels |= concurrency.build_labels(runbook)
    metadata = {"name": action.trial, "namespace": scenario["metadata"]["namespace"], "labels": labels}
    try:
        environment.cluster.create({"apiVersion": API_VERSION, "kind": "Trial", "metadata": metadata, "spec": spec})
    except AlreadyExists:
        log.info("%s already exists", action.trial)


def _read_conditions(obj: Object) -> list[Condition]:
    return [Condition.from_json(c) for c in (obj.get("status") or {}).get("conditions") or []]


def _show(
    environment: Environment,
    ref: Reference,
    obj: Object,
    status: dict[str, Any],
    trials: list[Object],
    trial: TrialStatus | None,
) -> None:
    if trials:
        status["trial"] = trials[0]["metadata"]["name"]
        status["namespace"] = trials[0]["spec"]["namespace"]
    if trial is not None and trial.alerts:
        status["firing"] = sorted({a.name for a in trial.alerts if a.state == "Firing"})
    if status != obj.get("status"):
        write_status(environment.cluster, ref, status)


def release(environment: Environment, name: str) -> bool:
    """Delete every trial of a terminating Scenario; return True if none is left."""
    with _locks[environment.settings.management_namespace, name]:
        trials = list_trials(environment, SCENARIO_LABEL, name)
        delete_trials(environment, trials)
    return not trials
