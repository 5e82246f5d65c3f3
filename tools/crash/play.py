"""Runs one trial in a lab, and waits until it is cleaned up."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import msgspec

from scenario_kit.campaign import TRY, Campaign, PlannedTrial, Polling, plan_trials, run
from scenario_kit.catalog import Catalog, find_data_root
from scenario_kit.changes import TRIAL_LABEL
from scenario_kit.clients.kube import KubeCluster
from scenario_kit.errors import ScenarioKitError
from scenario_kit.lab import lifecycle
from scenario_kit.lab.host.state import LabState
from scenario_kit.load import load_scenario
from scenario_kit.model import Reference
from scenario_kit.model.kubernetes.reference import MANAGEMENT_NAMESPACE
from scenario_kit.render import resolve
from scenario_kit.trial import TrialStatus
from tools.crash.subjects import build_runbook, plan_trial

_PLAN: Final = msgspec.structs.replace(TRY, name="crash")
_POLL_SECONDS: Final = 0.1
#: Wall-clock seconds without progress after which a trial is abandoned.
_PATIENCE: Final = 120.0
#: Wall-clock seconds within which a deleted trial, and then its namespace, must be gone.
_GOING_SECONDS: Final = 120.0


@dataclass(frozen=True)
class Played:
    """The result of a trial, with its name and namespace."""

    outcome: str
    message: str = ""
    name: str = ""
    namespace: str = ""


def play_operation(cluster: KubeCluster, operation: str, catalog: Catalog, seed: int = 1) -> Played:
    """Run the trial of a change operation."""
    runbook = build_runbook(operation, catalog, "app")
    campaign = Campaign(
        cluster, _PLAN, runbook.scenario, runbook.digest, runbook.app.name,
        lambda namespace, _: build_runbook(operation, catalog, namespace), identity=f"crash-{operation}-{seed}",
    )  # fmt: skip
    return _play(campaign, plan_trial(operation, runbook, seed))


def play_scenario(cluster: KubeCluster, name: str, catalog: Catalog, seed: int) -> Played:
    """Run a paired repeat of a catalogue scenario."""
    scenario = load_scenario(find_data_root() / "catalog" / "scenarios" / name / "scenario.yaml").scenario
    sample = resolve(scenario, catalog, "app")
    campaign = Campaign(
        cluster, _PLAN, scenario.name, sample.digest, sample.app.name,
        lambda namespace, _: resolve(scenario, catalog, namespace), identity=f"crash-{name}-{seed}",
    )  # fmt: skip
    return _play(campaign, plan_trials(_PLAN, sample, seed)[0])


def _play(campaign: Campaign, planned: PlannedTrial) -> Played:
    name = campaign.name(planned)
    seen: list[TrialStatus] = [TrialStatus()]

    def note(planned: PlannedTrial, name: str, status: TrialStatus) -> None:
        seen.append(status)

    try:
        results = run(
            [planned], campaign, parallel=1, health=tuple, progress=note,
            polling=Polling(lambda _: time.sleep(_POLL_SECONDS), patience=_PATIENCE),
        )  # fmt: skip
    except ScenarioKitError as error:
        return Played("", str(error), name, seen[-1].namespace)
    failed = [step for step in results[0].steps if step.outcome not in ("Held", "Skipped")]
    said = [f"{s.step}: {s.outcome} {s.message}" for s in failed]
    said += [f"{f.message} ({f.observed})" for s in failed for f in s.findings if f.observed]
    return Played(results[0].outcome, "; ".join(said) or results[0].message, name, seen[-1].namespace)


def await_trial_end(lab: str, cluster: KubeCluster, played: Played) -> list[str]:
    """Wait until the trial is deleted; return its leftovers in the management namespace and in the lab."""
    trial = Reference("Trial", played.name, MANAGEMENT_NAMESPACE, "scenariokit.io")
    if not await_true(lambda: cluster.get(trial) is None):
        return [str(trial)]
    records = [
        f"{kind}/{each['metadata']['name']}"
        for kind in ("ConfigMap", "Secret")
        for each in cluster.list(kind, MANAGEMENT_NAMESPACE, labels={TRIAL_LABEL: played.name})
    ]
    open_worlds = [world["trial"] for world in lifecycle.list_worlds(LabState.load(lab))]
    return [*records, *(f"World/{trial}" for trial in open_worlds if trial == played.name)]


def await_namespace_end(cluster: KubeCluster, played: Played) -> list[str]:
    """Wait until the app's namespace is gone; returns it if it stays."""
    home = Reference("Namespace", played.namespace)
    if not played.namespace or await_true(lambda: cluster.get(home) is None):
        return []
    return [str(home)]


def await_true(holds: Callable[[], bool], seconds: float = _GOING_SECONDS) -> bool:
    """Poll a condition; returns False if it does not hold in time."""
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL_SECONDS)
    return True
