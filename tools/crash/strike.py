"""Playing the trial of an operation with one disturbance, on the API server of a lab."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from scenario_kit.catalog import Catalog
from scenario_kit.clients.certificates import Authority, issue
from scenario_kit.clients.kube import KubeCluster
from scenario_kit.lab import lifecycle
from scenario_kit.lab.control_plane.kubeconfigs import write_operator
from scenario_kit.lab.host.state import LabState
from scenario_kit.lab.host.supervisor import locate_pki
from scenario_kit.lab.process_specs import build_api_server_url
from scenario_kit.schema.install import get_identity
from tools.crash.cells import Cell, Outcome, Write
from tools.crash.operator_process import OperatorProcess
from tools.crash.play import await_namespace_end, await_trial_end, play_operation
from tools.crash.proxy import DisturbingProxy
from tools.resilience.strike import clear


@dataclass(frozen=True)
class Place:
    """A lab whose operator can be killed, and reaches its API server through a proxy."""

    lab: str
    proxy: DisturbingProxy
    operator: OperatorProcess
    cluster: KubeCluster


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
        clear(lab)  # what an interrupted run left would add its own writes
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
    played = play_operation(place.cluster, operation, catalog)
    left = await_trial_end(place.lab, place.cluster, played)
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
    played = play_operation(place.cluster, cell.operation, catalog)
    left = await_trial_end(place.lab, place.cluster, played)
    recording = place.proxy.disarm()
    outcome = Outcome(
        cell=cell, write=next(iter(recording.disturbed), None), times=len(recording.disturbed),
        outcome=played.outcome, message=played.message[:300], jobs=recording.jobs, left=tuple(left),
        ends=tuple(place.operator.ends), seconds=round(time.monotonic() - began, 1),
    )  # fmt: skip
    return lambda: msgspec.structs.replace(outcome, left=(*outcome.left, *await_namespace_end(place.cluster, played)))
