"""Playing the trial of an operation with one disturbance, on the API server of a lab."""

from __future__ import annotations

import os
import signal
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import msgspec
import yaml

from scenario_kit.campaign import TRY, Campaign, Polling, run
from scenario_kit.catalog import Catalog
from scenario_kit.clients.certificates import Authority, issue, write_private
from scenario_kit.clients.kube import KubeCluster
from scenario_kit.errors import ScenarioKitError
from scenario_kit.lab import lifecycle
from scenario_kit.lab.host import procfs
from scenario_kit.lab.host.state import LabState
from scenario_kit.lab.host.supervisor import locate_pki
from scenario_kit.lab.process_specs import OPERATOR, build_api_server_url
from scenario_kit.schema.install import get_identity
from tools.crash.cells import Cell, Outcome, Write
from tools.crash.proxy import DisturbingProxy
from tools.crash.subjects import build_runbook, plan_trial
from tools.resilience.strike import clear

_PLAN: Final = msgspec.structs.replace(TRY, name="crash")
_POLL_SECONDS: Final = 0.2
_PATIENCE: Final = 120.0


@contextmanager
def place_proxy(lab: str) -> Iterator[DisturbingProxy]:
    """Put a proxy between the operator of a lab and its API server, and take it out again.

    The operator is started anew with each kubeconfig, and again whenever it has died.
    """
    state = LabState.load(lab)
    pki, kubeconfig = locate_pki(state), Path(state.operator_kubeconfig)
    authority = Authority.load(pki / "ca.crt", pki / "ca.key")
    original = kubeconfig.read_bytes()
    proxy = DisturbingProxy(build_api_server_url(state), lambda: _find_operator(lab))
    ended = threading.Event()
    keeper = threading.Thread(target=_keep_alive, args=(lab, ended), daemon=True)
    with tempfile.TemporaryDirectory() as folder:
        keys = {name: (Path(folder) / f"{name}.crt", Path(folder) / f"{name}.key") for name in ("server", "client")}
        issue(authority, "kubernetes", addresses=["127.0.0.1"]).write(*keys["server"])
        groups = ["system:serviceaccounts", "system:serviceaccounts:scenario-kit"]
        issue(authority, get_identity(), groups=groups).write(*keys["client"])
        port = proxy.start(keys["server"], keys["client"], pki / "ca.crt")
    try:
        document = yaml.safe_load(original)
        document["clusters"][0]["cluster"]["server"] = f"https://127.0.0.1:{port}"
        write_private(kubeconfig, yaml.safe_dump(document, sort_keys=False).encode())
        _restart_operator(lab)
        keeper.start()
        yield proxy
    finally:
        ended.set()
        keeper.join()
        write_private(kubeconfig, original)
        _restart_operator(lab)
        proxy.close()


def record_writes(lab: str, proxy: DisturbingProxy, operation: str, catalog: Catalog) -> tuple[Write, ...]:
    """Record the writes of the undisturbed trial of an operation.

    Raises:
        AssertionError: that trial did not hold, so that nothing can be said about disturbed ones.
    """
    proxy.arm()
    outcome, message = _play(lab, operation, 1, catalog)
    left = clear(lab)
    recording = proxy.disarm()
    assert outcome == "Held", f"{operation}: {outcome} {message}"
    assert not left, f"{operation}: {left}"
    return recording.writes


def disturb(lab: str, proxy: DisturbingProxy, cell: Cell, catalog: Catalog) -> Outcome:
    """Play the trial of a cell, disturb it, and wait until nothing of it is left."""
    began = time.monotonic()
    proxy.arm(cell.number, cell.disturbance)
    outcome, message = _play(lab, cell.operation, 1, catalog)
    left = clear(lab)
    recording = proxy.disarm()
    return Outcome(
        cell=cell, write=recording.disturbed, outcome=outcome, message=message[:300], jobs=recording.jobs,
        left=tuple(left), seconds=round(time.monotonic() - began, 1),
    )  # fmt: skip


def _play(lab: str, operation: str, seed: int, catalog: Catalog) -> tuple[str, str]:
    state = LabState.load(lab)
    runbook = build_runbook(operation, catalog, "app")
    campaign = Campaign(
        KubeCluster(kubeconfig=Path(state.kubeconfig)), _PLAN, runbook.scenario, runbook.digest, runbook.app.name,
        lambda namespace, _: build_runbook(operation, catalog, namespace), identity=f"crash-{operation}",
    )  # fmt: skip
    try:
        results = run(
            [plan_trial(operation, runbook, seed)], campaign, parallel=1, health=tuple, progress=lambda *_: None,
            polling=Polling(lambda _: time.sleep(_POLL_SECONDS), patience=_PATIENCE),
        )  # fmt: skip
    except ScenarioKitError as problem:
        return "", str(problem)
    message = "; ".join(f"{s.step}: {s.outcome} {s.message}" for s in results[0].steps if s.outcome != "Held")
    return results[0].outcome, results[0].message or message


def _find_operator(lab: str) -> int:
    part = LabState.load(lab).part(OPERATOR)
    assert part is not None, f"lab {lab} has no operator"
    return part.pid


def _restart_operator(lab: str) -> None:
    with suppress(ProcessLookupError):
        os.kill(_find_operator(lab), signal.SIGKILL)
    while not procfs.has_ended(_find_operator(lab)):
        time.sleep(_POLL_SECONDS)
    lifecycle.bring_up(lab)


def _keep_alive(lab: str, ended: threading.Event) -> None:
    """Start the operator again whenever it has died, as a Deployment would."""
    while not ended.wait(_POLL_SECONDS):
        if procfs.has_ended(_find_operator(lab)):
            lifecycle.bring_up(lab)
