"""Runs an operation's trial with one disturbance, on the API server of a lab."""

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
    """A lab whose operator can be killed and reaches the API server through a proxy."""

    lab: str
    proxy: DisturbingProxy
    operator: OperatorProcess
    cluster: KubeCluster


@contextmanager
def place_proxy(lab: str) -> Iterator[Place]:
    """Insert a proxy between a lab's operator and its API server, and remove it on exit."""
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
        clear(lab)  # leftovers of an interrupted run would cause further writes
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
        AssertionError: that trial did not hold, so disturbed ones cannot be judged.
    """
    place.proxy.arm()
    played = play_operation(place.cluster, operation, catalog)
    left = await_trial_end(place.lab, place.cluster, played)
    recording = place.proxy.disarm()
    assert played.outcome == "Held", f"{operation}: {played.outcome} {played.message}"
    assert not left, f"{operation}: {left}"
    return recording.writes


def play_cell(place: Place, cell: Cell, catalog: Catalog) -> Callable[[], Outcome]:
    """Run and disturb the trial of a cell, and wait until everything but its namespace is gone.

    Returns:
        A function that waits for the end of the namespace and returns the outcome; meanwhile the next cell can run,
        since namespace deletion takes a while.
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
