"""The control plane: etcd, API server, controller-manager and scheduler, created and started by kwokctl.

Two things that kwokctl would do otherwise are set here: everything listens on loopback, and no component waits for a
leader election (a stall of etcd would end it). KWOK's own controller is a part like the others, see ``nodes``.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import msgspec
import yaml

from scenario_kit.errors import LabError
from scenario_kit.lab.control_plane import apiservice
from scenario_kit.lab.control_plane.certificates import write_cluster_keys
from scenario_kit.lab.host import procfs
from scenario_kit.lab.host.addresses import LOOPBACK
from scenario_kit.lab.host.state import LabState, ProcessState, log_tail
from scenario_kit.lab.host.supervisor import locate_control_plane
from scenario_kit.model.base import Object

STORE, API_SERVER = "etcd", "kube-apiserver"
COMPONENTS = (STORE, API_SERVER, "kube-controller-manager", "kube-scheduler")
PEER = "etcd-peer"
#: Written into the Service ``kubernetes``; nothing connects to it. The default would be an address of this machine.
_ADVERTISED = "10.0.1.10"
_SERVICE_RANGE = "10.96.0.0/16"
#: What kwokctl may take for anything. A cold start takes four seconds on two cores.
_SECONDS = 90
#: Soft limits of Go's heap: well above what is alive with eight trials, or the collector does nothing else.
_MEMORY = {
    "etcd": "1GiB",
    "kube-apiserver": "900MiB",
    "kube-controller-manager": "220MiB",
    "kube-scheduler": "160MiB",
}
_EXTRA: dict[str, dict[str, str]] = {
    # The last requests are kept in memory for members that lag behind. There are none, and trials write large objects.
    # Nor does a write wait for the disk: what a power cut could take is a lab, and `lab up` makes another.
    "etcd": {"snapshot-catchup-entries": "100", "unsafe-no-fsync": "true"},
    "kube-apiserver": {
        "advertise-address": _ADVERTISED,
        "service-cluster-ip-range": _SERVICE_RANGE,
        "anonymous-auth": "false",
        # A list right after a write waits up to 100 ms for the cache to catch up; without it the answer takes 5 ms.
        "watch-cache": "false",
        # Every version of every object is kept until then: a trial writes thousands of them, within seconds.
        "etcd-compaction-interval": "1m",
        # Nodes carry the address of the process behind them as InternalDNS; logs are fetched from there.
        "kubelet-preferred-address-types": "InternalDNS",
        "profiling": "false",
    },
    "kube-controller-manager": {
        "leader-elect": "false",
        "profiling": "false",
        # The lab server holds the requests of autoscalers until there are new metrics: every tick, whatever its length.
        "horizontal-pod-autoscaler-sync-period": "250ms",
        "concurrent-horizontal-pod-autoscaler-syncs": "200",
        # A claim finds a volume that was freed when it is looked at again: by the wall clock, so often.
        "pvclaimbinder-sync-period": "1s",
    },
    "kube-scheduler": {"leader-elect": "false", "profiling": "false"},
}


def build_configuration(peer_port: int, more: Mapping[str, Mapping[str, str]] | None = None) -> Object:
    """Build the KwokctlConfiguration document; ``more`` are further flags by component."""
    flags = {name: {**_EXTRA.get(name, {}), **(more or {}).get(name, {})} for name in COMPONENTS}
    return {
        "apiVersion": "config.kwok.x-k8s.io/v1alpha1",
        "kind": "KwokctlConfiguration",
        "options": {"bindAddress": LOOPBACK, "etcdPeerPort": peer_port},
        "componentsPatches": [
            {
                "name": name,
                "extraArgs": [{"key": key, "value": value} for key, value in flags[name].items()],
                "extraEnvs": [{"name": "GOMEMLIMIT", "value": _MEMORY[name]}],
            }
            for name in COMPONENTS
        ],
    }


def create(state: LabState, binaries: Mapping[str, Path]) -> LabState:
    """Create and start the control plane; returns the state with its process ids.

    Raises:
        LabError: kwokctl failed; the message has the end of what it said.
    """
    pki = locate_control_plane(state) / "pki"
    write_cluster_keys(pki)
    apiservice.write_keys(pki)
    config = Path(state.folder) / "kwokctl.yaml"
    document = build_configuration(state.ports[PEER], {"kube-apiserver": apiservice.build_flags(pki)})
    config.write_text(yaml.safe_dump(document, sort_keys=False))
    arguments = ["--config", str(config), "create", "cluster", "--runtime", "binary", "--disable-qps-limits"]
    arguments += ["--disable", "kwok-controller", "--enable-crds", "Stage,Logs,ClusterLogs", "--timeout", "60s"]
    arguments += ["--kubeconfig", str(Path(state.folder) / "kwok" / "context.yaml")]
    for name in COMPONENTS:
        arguments += [f"--{name}-binary", str(binaries[name]), f"--{name}-port", str(state.ports[name])]
    _run_kwokctl(state, binaries, arguments)
    return read_process_ids(state)


def restart(state: LabState, binaries: Mapping[str, Path]) -> LabState:
    """Start the components that are not running, with the data that they had.

    Raises:
        LabError: they do not come up; the message has the end of what the store said.
    """
    pids = locate_control_plane(state) / "pids"
    for name in COMPONENTS:
        part = state.part(name)
        if part is None or not state.alive(part):
            (pids / f"{name}.pid").unlink(missing_ok=True)  # a reused process id would count as running
    try:
        _run_kwokctl(state, binaries, ["--config", str(Path(state.folder) / "kwokctl.yaml"), "start", "cluster"])
    except LabError as error:
        raise LabError(
            f"{error.message}\n{STORE} said last:\n{log_tail(str(log_path(state, STORE)), 2)}",
            fix="if its data was lost, as in a power cut, nothing brings this lab back: "
            f"scenario-kit lab down --name {state.name}, then scenario-kit lab up --name {state.name}",
        ) from error
    return read_process_ids(state)


def read_process_ids(state: LabState) -> LabState:
    """Read the state with the process ids that kwokctl wrote down."""
    pids = locate_control_plane(state) / "pids"
    parts: list[ProcessState] = []
    for part in state.parts:
        file = pids / f"{part.name}.pid"
        if part.name in COMPONENTS and file.exists():
            part = msgspec.structs.replace(part, pid=int(file.read_text()))
        parts.append(part)
    return msgspec.structs.replace(state, parts=tuple(parts))


def log_path(state: LabState, component: str) -> Path:
    """Return where kwokctl puts the output of a component."""
    return locate_control_plane(state) / "logs" / f"{component}.log"


def _run_kwokctl(state: LabState, binaries: Mapping[str, Path], arguments: list[str]) -> None:
    folder = Path(state.folder)
    environment = {**os.environ, **procfs.make_marker(state.folder), "KWOK_WORKDIR": str(folder / "kwok")}
    command = [str(binaries["kwokctl"]), "--name", state.name, *arguments]
    (folder / "logs").mkdir(parents=True, exist_ok=True)
    log = folder / "logs" / "kwokctl.log"
    try:
        with log.open("ab") as output:
            run = subprocess.run(command, env=environment, stdout=output, stderr=output, timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired as error:
        words = " ".join(arguments[2:4])
        raise LabError(f"kwokctl {words} did not end within {_SECONDS} s; see {log}") from error
    if run.returncode != 0:
        tail = "\n".join(log.read_text(errors="replace").splitlines()[-6:])
        raise LabError(f"kwokctl {' '.join(arguments[2:4])} failed with exit code {run.returncode}:\n{tail}")
