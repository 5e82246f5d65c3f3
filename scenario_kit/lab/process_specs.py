"""Specifications of a lab's processes: components, ports and health checks."""

from __future__ import annotations

import os
import secrets
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import scenario_kit
from scenario_kit.catalog import loader
from scenario_kit.errors import LabError
from scenario_kit.lab import chaos_manager
from scenario_kit.lab.control_plane import apiservice, cluster, log_access, nodes, prometheus, store_access
from scenario_kit.lab.control_plane.bootstrap_manifests import find_operators_folder
from scenario_kit.lab.host.addresses import LOOPBACK, find_free_ports
from scenario_kit.lab.host.state import LabState, ProcessState, find_home, find_lab_folder, list_lab_names
from scenario_kit.lab.host.supervisor import Spec, locate_pki
from scenario_kit.lab.telemetry import prometheus_access

SERVER = "lab-server"
OPERATOR = "operator"
CHAOS_DAEMON = "chaos-daemon"
#: Virtual clocks start at a midnight (UTC) this many days ago: enough for long trials, within Prometheus' window.
EPOCH_DAYS = 3
_DAY = 86400

#: Components started one by one, in this order, after the control plane.
STARTED = (prometheus.PART, nodes.PART, SERVER, OPERATOR, chaos_manager.PART)
_LISTENING = (
    *cluster.COMPONENTS,
    cluster.PEER,
    prometheus.PART,
    SERVER,
    chaos_manager.PART,
    apiservice.PORT,
    log_access.PORT,
)
_HEALTH = {
    "etcd": "https://{}/health",
    "kube-apiserver": "https://{}/readyz",
    "kube-controller-manager": "https://{}/healthz",
    "kube-scheduler": "https://{}/healthz",
    prometheus.PART: "https://{}/-/ready",
    SERVER: "http://{}/healthz",
}


def choose_epoch(now: float) -> int:
    """Choose the start of virtual time for a lab created now."""
    return (int(now) // _DAY - EPOCH_DAYS) * _DAY


def plan(name: str, packs: tuple[str, ...], host: str, count: int = nodes.MIN_NODES) -> LabState:
    """Plan a new lab with ``count`` nodes: ports, token and components, with process IDs 0."""
    taken = _list_taken_ports(name)
    beside = (chaos_manager.WEBHOOK, chaos_manager.NAMES, *cluster.WEBHOOKS)
    loopback = find_free_ports(len(_LISTENING) + len(beside), taken)
    ports = dict(zip((*_LISTENING, *beside), loopback, strict=True))
    ports[CHAOS_DAEMON] = find_free_ports(1, {*taken, *loopback}, host)[0]
    folder = find_lab_folder(name)
    now = time.time()
    state = LabState(
        name=name,
        folder=str(folder),
        version=scenario_kit.__version__,
        epoch=choose_epoch(now),
        created=now,
        kubeconfig=str(folder / "kubeconfig"),
        operator_kubeconfig=str(folder / "operator.kubeconfig"),
        solver_kubeconfig=str(folder / "oncall.kubeconfig"),
        prometheus_url=f"https://{LOOPBACK}:{ports[prometheus.PART]}",
        server_url=f"http://{LOOPBACK}:{ports[SERVER]}",
        server_token=secrets.token_urlsafe(24),
        nodes=nodes.list_node_names(count),
        alert_packs=packs,
        ports=ports,
    )
    for part in (*cluster.COMPONENTS, *STARTED):
        state = state.with_part(_find_part(state, part))
    return state


def list_specs() -> Mapping[str, Callable[[LabState, Mapping[str, Path]], Spec]]:
    """Map each component of ``STARTED`` to its process specification."""
    return {
        prometheus.PART: prometheus.build_spec,
        nodes.PART: nodes.build_spec,
        chaos_manager.PART: chaos_manager.build_spec,
        SERVER: lambda state, _: _build_python_spec(SERVER, "scenario_kit.lab.server", state),
        OPERATOR: lambda state, _: _build_python_spec(OPERATOR, "operators.scenario", state),
    }


def build_api_server_url(state: LabState) -> str:
    """Build the URL of the API server."""
    return f"https://{LOOPBACK}:{state.ports['kube-apiserver']}"


def _find_part(state: LabState, name: str) -> ProcessState:
    log = cluster.log_path(state, name) if name in cluster.COMPONENTS else Path(state.folder) / "logs" / f"{name}.log"
    port = state.ports.get(name)
    health = _HEALTH[name].format(f"{LOOPBACK}:{port}") if name in _HEALTH else ""
    client = _find_client(state, name)
    if name == chaos_manager.PART:
        url = chaos_manager.build_health_url(state)
        return ProcessState(name=name, pid=0, log=str(log), port=port, health=url, answer=404, client=client)
    return ProcessState(name=name, pid=0, log=str(log), port=port, health=health, client=client)


def _find_client(state: LabState, name: str) -> str:
    """Find the certificate that the health check of a component shows, without its suffix."""
    pki = locate_pki(state)
    if name == cluster.STORE:
        return str(store_access.locate_store_tls(pki).client_certificate.with_suffix(""))
    if name == prometheus.PART:
        tls = prometheus_access.locate_prometheus_tls(Path(state.folder) / "prometheus")
        return str(tls.client_certificate.with_suffix(""))
    return str(pki / "admin") if name in cluster.COMPONENTS else ""


def _build_python_spec(name: str, module: str, state: LabState) -> Spec:
    """Build the specification of one of our own programs, run by this interpreter and installation."""
    roots = {str(Path(scenario_kit.__file__).parent.parent): None}
    operators = find_operators_folder()
    if operators is not None:
        roots[str(operators.parent)] = None
    return Spec(
        name=name,
        program=Path(sys.executable),
        arguments=["-m", module, "--lab", state.name],
        environment={
            "PYTHONPATH": ":".join(roots),
            # A component runs in the lab's folder, so relative folders of the variable would not exist there.
            loader.VARIABLE: os.pathsep.join(map(str, loader.list_named_collections())),
            "PYTHONUNBUFFERED": "1",
            "KUBECONFIG": state.operator_kubeconfig if name == OPERATOR else state.kubeconfig,
            "SCENARIO_KIT_HOME": str(find_home()),
            "OPENBLAS_NUM_THREADS": "1",
            # glibc's per-thread heaps would keep memory of finished trials: each has free fragments.
            "MALLOC_ARENA_MAX": "2",
        },
    )


def _list_taken_ports(name: str) -> set[int]:
    """List the ports of other labs, running or not."""
    ports: set[int] = set()
    for other in list_lab_names():
        try:
            state = LabState.find(other) if other != name else None
        except LabError:
            continue  # from another version; ports in use are detected anyway
        ports.update(state.ports.values() if state is not None else ())
    return ports
