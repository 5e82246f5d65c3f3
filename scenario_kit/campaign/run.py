"""Running a campaign: create trials, watch them, collect the evidence. The operator executes; this only asks.

An interrupted campaign continues: trial names are derived, so a second call finds what the first one created, and
what has finished stays until the whole campaign has.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final, Protocol

from scenario_kit.campaign.plans import Plan, PlannedTrial, Resolve, namespace, spec, trial_name
from scenario_kit.campaign.result import TrialResult, from_status
from scenario_kit.campaign.schedule import further, is_repeat, settled
from scenario_kit.changes import TRIAL_LABEL
from scenario_kit.errors import AlreadyExists, InfrastructureError
from scenario_kit.model import AlertHistory, Object, Reference, Runbook
from scenario_kit.model.scenario import API_VERSION
from scenario_kit.ports import Cluster
from scenario_kit.trial import TrialStatus

MANAGEMENT_NAMESPACE: Final = "scenario-kit"
_GROUP: Final = "scenariokit.io"
KEPT_LABEL: Final = "scenariokit.io/kept"
#: The scenario whose campaign a trial belongs to: whoever cancels a campaign deletes by it.
CAMPAIGN_LABEL: Final = "scenariokit.io/campaign"
_POLL: Final = 0.25
#: Wall seconds without any progress of a trial after which it counts as not evaluated.
_STALLED: Final = 180.0


class Progress(Protocol):
    """Whoever watches: told about every change of a trial's status."""

    def __call__(self, planned: PlannedTrial, name: str, status: TrialStatus) -> None:
        """``status`` is new since the last call for this trial."""


def run(
    planned: Sequence[PlannedTrial],
    resolve: Resolve,
    cluster: Cluster,
    *,
    plan: Plan,
    app: str,
    scenario: str,
    digest: str,
    parallel: int,
    health: Callable[[], Sequence[str]],
    progress: Progress,
    keep: bool = False,
    pause: Callable[[float], None] = time.sleep,
) -> list[TrialResult]:
    """Run trials, at most ``parallel`` at once, until the plan is settled; results come in the order of the plan.

    Repeats that can no longer change anything are not begun; where the plan needs more of them, or infrastructure ended
    a trial, further ones follow, as long as the environment is healthy.

    Raises:
        ClusterError: the API server is gone; whatever was started continues when the lab does.
    """
    every, waiting = list(planned), list(planned)
    running: dict[str, _Running] = {}
    finished: dict[str, TrialResult] = {}

    def results() -> list[TrialResult]:
        return [finished[p.purpose] for p in every if p.purpose in finished]

    def begin(each: PlannedTrial) -> None:
        name = trial_name(scenario, each, digest, plan.name)
        _make_way(cluster, name, pause)
        rendered = resolve(namespace(app, uuid.uuid4().hex), each.load_percent)
        _create(cluster, each, name, rendered, plan.name, keep=keep)
        running[name] = _Running(each)

    while waiting or running:
        while waiting and len(running) < parallel:
            each = waiting.pop(0)
            if not (is_repeat(each.purpose) and settled(plan.looks, results())):
                begin(each)
        for name, entry in list(running.items()):
            result = _look(cluster, name, entry, health, progress)
            if result is not None:
                finished[entry.planned.purpose] = result
                del running[name]
        if not waiting and not running and not health():
            waiting = further(plan.looks, every, results())
            every += waiting
        if waiting or running:
            pause(_POLL)
    if not keep:
        for result in finished.values():
            cluster.delete(_reference(result.name))
    return results()


class _Running:
    """A trial that was created: when, and when it last moved (wall time)."""

    def __init__(self, planned: PlannedTrial) -> None:
        self.planned = planned
        self.started = self.moved = time.monotonic()
        self.seen: Object = {}
        self.looks = 0


def _reference(name: str) -> Reference:
    return Reference("Trial", name, MANAGEMENT_NAMESPACE, _GROUP)


def _make_way(cluster: Cluster, name: str, pause: Callable[[float], None]) -> None:
    """Old evidence makes way for a new run: a trial that goes, that was kept, or that infrastructure broke."""
    found = cluster.get(_reference(name))
    if found is None:
        return
    outcome = status_of(found).outcome
    stale = outcome and KEPT_LABEL in (found["metadata"].get("labels") or {})
    if not stale and outcome != "Infra" and not found["metadata"].get("deletionTimestamp"):
        return
    cluster.delete(_reference(name))
    while cluster.get(_reference(name)) is not None:
        pause(_POLL)


def _create(cluster: Cluster, planned: PlannedTrial, name: str, runbook: Runbook, plan: str, *, keep: bool) -> None:
    labels = {TRIAL_LABEL: name, CAMPAIGN_LABEL: runbook.scenario} | ({KEPT_LABEL: "true"} if keep else {})
    metadata = {"name": name, "namespace": MANAGEMENT_NAMESPACE, "labels": labels}
    body = spec(planned, runbook, plan).to_json()
    try:
        cluster.create({"apiVersion": API_VERSION, "kind": "Trial", "metadata": metadata, "spec": body})
    except AlreadyExists:
        return  # an interrupted campaign created it; it is watched from where it stands


def _look(
    cluster: Cluster, name: str, entry: _Running, health: Callable[[], Sequence[str]], progress: Progress
) -> TrialResult | None:
    trial = cluster.get(_reference(name))
    if trial is None:
        raise InfrastructureError(f"the trial {name} was deleted while it ran")
    entry.looks += 1
    raw = trial.get("status") or {}
    if raw and raw != entry.seen:
        entry.seen, entry.moved = raw, time.monotonic()
        progress(entry.planned, name, status_of(trial))
    status = status_of(trial)
    base = TrialResult(
        name=name,
        purpose=entry.planned.purpose,
        describe=entry.planned.describe,
        seed=entry.planned.seed,
        outcome="Infra",
        wall_seconds=_wall(trial, entry),
    )
    if status.outcome:
        history, injected = evidence(cluster, status)
        return from_status(base, status, history, injected)
    if problems := health():
        return from_status(base, status, None, None, "; ".join(problems))
    if time.monotonic() - entry.moved > _STALLED:
        return from_status(base, status, None, None, f"no progress for {_STALLED:.0f} s; is the operator running?")
    return None


def _wall(trial: Object, entry: _Running) -> float:
    """Seconds since we began to look; for what an interrupted campaign had finished, the seconds that it took."""
    ended = next((c.last_transition_time for c in status_of(trial).conditions if c.type == "Succeeded"), "")
    if entry.looks > 1 or not ended:
        return round(time.monotonic() - entry.started, 2)
    began = datetime.fromisoformat(trial["metadata"]["creationTimestamp"])
    return (datetime.fromisoformat(ended) - began).total_seconds()


def status_of(trial: Object) -> TrialStatus:
    """The status of a Trial object; empty while the operator has not seen it."""
    return TrialStatus.from_json(trial.get("status") or {})


def evidence(cluster: Cluster, status: TrialStatus) -> tuple[AlertHistory | None, float | None]:
    """The alert history that a finished trial left, and when its faults were injected."""
    found = cluster.get(Reference("ConfigMap", status.evidence, MANAGEMENT_NAMESPACE)) if status.evidence else None
    if found is None:
        return None, None
    document = json.loads(found["data"]["document"])
    return AlertHistory.from_json(document["history"]), document.get("injectedAt")
