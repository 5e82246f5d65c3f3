"""Playing the trial of an operation with one disturbance, on the API server of a lab."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from scenario_kit.campaign import TRY, Campaign, PlannedTrial, Polling, run
from scenario_kit.catalog import Catalog
from scenario_kit.changes import TRIAL_LABEL
from scenario_kit.clients.certificates import Authority, issue
from scenario_kit.clients.kube import KubeCluster
from scenario_kit.errors import ScenarioKitError
from scenario_kit.lab import lifecycle
from scenario_kit.lab.control_plane.kubeconfigs import write_operator
from scenario_kit.lab.host.state import LabState
from scenario_kit.lab.host.supervisor import locate_pki
from scenario_kit.lab.process_specs import build_api_server_url
from scenario_kit.model import Reference
from scenario_kit.model.kubernetes.reference import MANAGEMENT_NAMESPACE
from scenario_kit.schema.install import get_identity
from scenario_kit.trial import TrialStatus
from tools.crash.cells import Cell, Outcome, Write
from tools.crash.operator_process import OperatorProcess
from tools.crash.proxy import DisturbingProxy
from tools.crash.subjects import build_runbook, plan_trial

_PLAN: Final = msgspec.structs.replace(TRY, name="crash")
_POLL_SECONDS: Final = 0.1
_PATIENCE: Final = 120.0
#: Wall seconds that a trial may take to go after it was deleted, and its namespace after that.
_GOING_SECONDS: Final = 120.0


@dataclass(frozen=True)
class Place:
    """A lab whose operator can be killed, and reaches its API server through a proxy."""

    lab: str
    proxy: DisturbingProxy
    operator: OperatorProcess
    cluster: KubeCluster


@dataclass(frozen=True)
class Played:
    """A trial that was played: how it ended, and what was its own."""

    outcome: str
    message: str = ""
    name: str = ""
    namespace: str = ""


@contextmanager
def place_proxy(lab: str) -> Iterator[Place]:
    """Put a proxy between the operator of a lab and its API server, and take it out again."""
    state = LabState.load(lab)
    pki, kubeconfig = locate_pki(state), Path(state.operator_kubeconfig)
    authority = Authority.load(pki / "ca.crt", pki / "ca.key")
    url = build_api_server_url(state)
    operators: list[OperatorProcess] = []
    proxy = DisturbingProxy(url, lambda: operators[0].kill())
    with tempfile.TemporaryDirectory() as folder:
        keys = {name: (Path(folder) / f"{name}.crt", Path(folder) / f"{name}.key") for name in ("server", "client")}
        issue(authority, "kubernetes", addresses=["127.0.0.1"]).write(*keys["server"])
        groups = ["system:serviceaccounts", "system:serviceaccounts:scenario-kit"]
        issue(authority, get_identity(), groups=groups).write(*keys["client"])
        port = proxy.start(keys["server"], keys["client"], pki / "ca.crt")
    try:
        write_operator(kubeconfig, f"https://127.0.0.1:{port}", pki)
        operators.append(OperatorProcess(lab))
        yield Place(lab, proxy, operators[0], KubeCluster(kubeconfig=Path(state.kubeconfig)))
    finally:
        for operator in operators:
            operator.close()
        write_operator(kubeconfig, url, pki)
        lifecycle.bring_up(lab)
        proxy.close()


def record_writes(place: Place, operation: str, catalog: Catalog) -> tuple[Write, ...]:
    """Record the writes of the undisturbed trial of an operation.

    Raises:
        AssertionError: that trial did not hold, so that nothing can be said about disturbed ones.
    """
    place.proxy.arm()
    played = _play(place, operation, 1, catalog)
    left = _await_end(place, played)
    recording = place.proxy.disarm()
    assert played.outcome == "Held", f"{operation}: {played.outcome} {played.message}"
    assert not left, f"{operation}: {left}"
    return recording.writes


def disturb(place: Place, cell: Cell, catalog: Catalog) -> Callable[[], Outcome]:
    """Play the trial of a cell, disturb it, and wait until nothing of it is left but its namespace.

    Returns:
        What waits for the end of the namespace, and tells what came of the cell. A namespace controller takes its time
        for that, in which the next cell may be played.
    """
    began = time.monotonic()
    place.operator.ends.clear()
    place.proxy.arm(cell)
    played = _play(place, cell.operation, 1, catalog)
    left = _await_end(place, played)
    recording = place.proxy.disarm()
    outcome = Outcome(
        cell=cell, write=next(iter(recording.disturbed), None), times=len(recording.disturbed),
        outcome=played.outcome, message=played.message[:300], jobs=recording.jobs, left=tuple(left),
        ends=tuple(place.operator.ends), seconds=round(time.monotonic() - began, 1),
    )  # fmt: skip
    return lambda: _finish(place, outcome, played.namespace)


def _finish(place: Place, outcome: Outcome, namespace: str) -> Outcome:
    home = Reference("Namespace", namespace)
    if namespace and not _await(lambda: place.cluster.get(home) is None):
        return msgspec.structs.replace(outcome, left=(*outcome.left, str(home)))
    return outcome


def _play(place: Place, operation: str, seed: int, catalog: Catalog) -> Played:
    runbook = build_runbook(operation, catalog, "app")
    campaign = Campaign(
        place.cluster, _PLAN, runbook.scenario, runbook.digest, runbook.app.name,
        lambda namespace, _: build_runbook(operation, catalog, namespace), identity=f"crash-{operation}",
    )  # fmt: skip
    planned = plan_trial(operation, runbook, seed)
    name = campaign.name(planned)
    seen: list[TrialStatus] = [TrialStatus()]

    def note(planned: PlannedTrial, name: str, status: TrialStatus) -> None:
        seen.append(status)

    try:
        results = run(
            [planned], campaign, parallel=1, health=tuple, progress=note,
            polling=Polling(lambda _: time.sleep(_POLL_SECONDS), patience=_PATIENCE),
        )  # fmt: skip
    except ScenarioKitError as problem:
        return Played("", str(problem), name, seen[-1].namespace)
    message = "; ".join(f"{s.step}: {s.outcome} {s.message}" for s in results[0].steps if s.outcome != "Held")
    return Played(results[0].outcome, results[0].message or message, name, seen[-1].namespace)


def _await_end(place: Place, played: Played) -> list[str]:
    """Wait until the trial is gone; returns what stays of it in the management namespace and in the lab."""
    cluster = place.cluster
    trial = Reference("Trial", played.name, MANAGEMENT_NAMESPACE, "scenariokit.io")
    if not _await(lambda: cluster.get(trial) is None):
        return [str(trial)]
    records = [
        f"{kind}/{each['metadata']['name']}"
        for kind in ("ConfigMap", "Secret")
        for each in cluster.list(kind, MANAGEMENT_NAMESPACE, labels={TRIAL_LABEL: played.name})
    ]
    worlds = [
        f"World/{w['trial']}" for w in lifecycle.list_worlds(LabState.load(place.lab)) if w["trial"] == played.name
    ]
    return [*records, *worlds]


def _await(holds: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + _GOING_SECONDS
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL_SECONDS)
    return True
