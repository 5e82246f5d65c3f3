"""The control plane: etcd, API server, controller-manager and scheduler, managed by kwokctl.

Two defaults of kwokctl are overridden: everything listens on loopback, and no component uses leader election, which a
stall of etcd would end. KWOK's own controller is a separate component, see ``nodes``.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

import msgspec
import yaml

from scenario_kit.errors import LabError
from scenario_kit.lab.control_plane import apiservice, log_access, store_access, webhook_access
from scenario_kit.lab.control_plane.cluster_keys import write_cluster_keys
from scenario_kit.lab.host import procfs
from scenario_kit.lab.host.addresses import LOOPBACK
from scenario_kit.lab.host.state import LabState, ProcessState, read_log_tail
from scenario_kit.lab.host.supervisor import locate_control_plane
from scenario_kit.model.base import Object

STORE, API_SERVER = "etcd", "kube-apiserver"
COMPONENTS = (STORE, API_SERVER, "kube-controller-manager", "kube-scheduler")
PEER = "etcd-peer"
#: The ports of the lab's own webhooks, by purpose.
TARGETS, ADMISSION = "chaos-targets", "admission-webhook"
WEBHOOKS = (TARGETS, ADMISSION)
_CONTROLLERS = ("kube-controller-manager", "kube-scheduler")
#: Anonymous requests may only read health; kwokctl would add metrics.
_OPEN_PATHS = "/healthz,/readyz,/livez"
#: The address in the Service ``kubernetes``; nothing connects to it. The default would be an address of this machine.
_ADVERTISED = "10.0.1.10"
_SERVICE_RANGE = "10.96.0.0/16"
#: The timeout of kwokctl. A cold start takes four seconds on two cores.
_SECONDS = 90
#: Garbage is collected at three times the live heap instead of twice: half of that work, for 150 MB more in all.
_COLLECTION = "200"
#: Soft limits of Go's heap: well above the live heap with eight trials, or the garbage collector would dominate.
_MEMORY = {"etcd": "1GiB", "kube-apiserver": "900MiB", "kube-controller-manager": "220MiB", "kube-scheduler": "160MiB"}
#: Flags that kwokctl sets itself, and that only an override changes.
_SET_BY_KWOKCTL = frozenset({"bind-address"})
_EXTRA: dict[str, dict[str, str]] = {
    # Recent requests are kept in memory for slow members; there are none, and trials write large objects.
    # Writes do not wait for the disk: a power cut may lose a lab, and `lab up` creates another.
    "etcd": {"snapshot-catchup-entries": "100", "unsafe-no-fsync": "true"},
    "kube-apiserver": {
        "advertise-address": _ADVERTISED,
        "service-cluster-ip-range": _SERVICE_RANGE,
        "anonymous-auth": "false",
        # A list right after a write waits up to 100 ms for the cache; without it, the response takes 5 ms.
        "watch-cache": "false",
        # Old versions of objects are kept until compaction: a trial writes thousands within seconds.
        "etcd-compaction-interval": "1m",
        # A node's InternalDNS address is that of the process behind it, from which logs are fetched.
        "kubelet-preferred-address-types": "InternalDNS",
        "profiling": "false",
    },
    "kube-controller-manager": {
        "leader-elect": "false",
        "profiling": "false",
        # The lab server holds the HPA controller's requests until there are new metrics: every tick, of any length.
        "horizontal-pod-autoscaler-sync-period": "250ms",
        "concurrent-horizontal-pod-autoscaler-syncs": "200",
        # A claim is bound to a released volume at the next resync, on the wall clock; hence the short period.
        "pvclaimbinder-sync-period": "1s",
    },
    "kube-scheduler": {"leader-elect": "false", "profiling": "false"},
}


def build_configuration(
    peer_port: int,
    more: Mapping[str, Mapping[str, str]] | None = None,
    instead: Mapping[str, Mapping[str, str]] | None = None,
) -> Object:
    """Build the KwokctlConfiguration document.

    By component, ``more`` are further flags, and ``instead`` values of those that kwokctl sets.
    """
    flags = {name: {**_EXTRA.get(name, {}), **(more or {}).get(name, {})} for name in COMPONENTS}
    return {
        "apiVersion": "config.kwok.x-k8s.io/v1alpha1",
        "kind": "KwokctlConfiguration",
        "options": {"bindAddress": LOOPBACK, "etcdPeerPort": peer_port},
        "componentsPatches": [
            {
                "name": name,
                "extraArgs": [
                    *({"key": key, "value": value} for key, value in flags[name].items()),
                    *({"key": k, "value": v, "override": True} for k, v in (instead or {}).get(name, {}).items()),
                ],
                "extraEnvs": [
                    {"name": "GOMEMLIMIT", "value": _MEMORY[name]},
                    {"name": "GOGC", "value": _COLLECTION},
                ],
            }
            for name in COMPONENTS
        ],
    }


def create(
    state: LabState, binaries: Mapping[str, Path], changed: Mapping[str, Mapping[str, str]] | None = None
) -> LabState:
    """Create and start the control plane; return the state with its process IDs.

    ``changed`` are flags by component whose values differ from those of a lab, for nodes that are not simulated.

    Raises:
        LabError: kwokctl failed; the message has the end of its output.
    """
    pki = locate_control_plane(state) / "pki"
    write_cluster_keys(pki)
    apiservice.write_keys(pki)
    store_access.locate_store_tls(pki).write()
    log_access.locate_kubelet_tls(pki).write()
    admission = webhook_access.write_admission_configuration(pki, [state.ports[name] for name in WEBHOOKS])
    config = Path(state.folder) / "kwokctl.yaml"
    more = {
        API_SERVER: {
            **apiservice.build_flags(pki),
            **store_access.build_client_flags(pki),
            **log_access.build_kubelet_flags(pki),
            **admission,
        },
        STORE: store_access.build_store_flags(pki),
    }
    instead = {
        API_SERVER: {"etcd-servers": store_access.build_store_url(state.ports[STORE])},
        **{name: {"authorization-always-allow-paths": _OPEN_PATHS} for name in _CONTROLLERS},
        STORE: store_access.build_store_addresses(state.ports[STORE], state.ports[PEER]),
    }
    for name, flags in (changed or {}).items():
        more[name] = {**more.get(name, {}), **{k: v for k, v in flags.items() if k not in _SET_BY_KWOKCTL}}
        instead[name] = {**instead.get(name, {}), **{k: v for k, v in flags.items() if k in _SET_BY_KWOKCTL}}
    document = build_configuration(state.ports[PEER], more, instead)
    config.write_text(yaml.safe_dump(document, sort_keys=False))
    arguments = ["--config", str(config), "create", "cluster", "--runtime", "binary", "--disable-qps-limits"]
    arguments += ["--disable", "kwok-controller", "--enable-crds", "Stage", "--timeout", "60s"]
    arguments += ["--kubeconfig", str(Path(state.folder) / "kwok" / "context.yaml")]
    for name in COMPONENTS:
        arguments += [f"--{name}-binary", str(binaries[name]), f"--{name}-port", str(state.ports[name])]
    _run_kwokctl(state, binaries, arguments)
    return read_process_ids(state)


def restart(state: LabState, binaries: Mapping[str, Path]) -> LabState:
    """Restart components that are not running, with their data.

    Raises:
        LabError: they do not start; the message has the end of etcd's log.
    """
    pids = locate_control_plane(state) / "pids"
    for name in COMPONENTS:
        part = state.part(name)
        if part is None or not state.alive(part):
            (pids / f"{name}.pid").unlink(missing_ok=True)  # a reused process ID would count as running
    try:
        _run_kwokctl(state, binaries, ["--config", str(Path(state.folder) / "kwokctl.yaml"), "start", "cluster"])
    except LabError as error:
        raise LabError(
            f"{error.message}\n{STORE} said last:\n{read_log_tail(str(log_path(state, STORE)), 2)}",
            fix="if its data is lost, as after a power cut, the lab cannot be repaired: "
            f"scenario-kit lab down --name {state.name}, then scenario-kit lab up --name {state.name}",
        ) from error
    return read_process_ids(state)


def read_process_ids(state: LabState) -> LabState:
    """Read the process IDs written by kwokctl."""
    pids = locate_control_plane(state) / "pids"
    parts: list[ProcessState] = []
    for part in state.parts:
        file = pids / f"{part.name}.pid"
        if part.name in COMPONENTS and file.exists():
            part = msgspec.structs.replace(part, pid=int(file.read_text()))
        parts.append(part)
    return msgspec.structs.replace(state, parts=tuple(parts))


def log_path(state: LabState, component: str) -> Path:
    """Return the path of a component's log."""
    return locate_control_plane(state) / "logs" / f"{component}.log"


def _run_kwokctl(state: LabState, binaries: Mapping[str, Path], arguments: list[str]) -> None:
    folder = Path(state.folder)
    environment = procfs.build_environment(state.folder, {"KWOK_WORKDIR": str(folder / "kwok")})
    command = [str(binaries["kwokctl"]), "--name", state.name, *arguments]
    (folder / "logs").mkdir(parents=True, exist_ok=True)
    log = folder / "logs" / "kwokctl.log"
    try:
        with log.open("ab") as output:
            run = subprocess.run(command, env=environment, stdout=output, stderr=output, timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired as error:
        words = " ".join(arguments[2:4])
        raise LabError(f"kwokctl {words} did not finish within {_SECONDS} s; see {log}") from error
    if run.returncode != 0:
        tail = "\n".join(log.read_text(errors="replace").splitlines()[-6:])
        raise LabError(f"kwokctl {' '.join(arguments[2:4])} failed with exit code {run.returncode}:\n{tail}")
