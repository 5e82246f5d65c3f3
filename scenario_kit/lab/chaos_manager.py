"""The real Chaos Mesh manager, beside a daemon that is simulated: its certificates, its environment, its start."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from cryptography.hazmat.primitives.serialization import Encoding

from scenario_kit.lab.chaos_daemon.endpoints import NAME_SERVICE, SERVER_NAME
from scenario_kit.lab.control_plane.bootstrap_manifests import CHAOS_NAMESPACE
from scenario_kit.lab.control_plane.certificates import Authority, issue
from scenario_kit.lab.host.addresses import LOOPBACK
from scenario_kit.lab.host.state import ChaosDaemonState, LabState
from scenario_kit.lab.host.supervisor import Spec

PART = "chaos-controller-manager"
WEBHOOK = "chaos-webhook"
#: The port of the name server that hands out wrong answers; the lab server plays it.
NAMES = "chaos-names"
#: The port at which the lab server resolves names for it.
TARGETS = "chaos-targets"
#: What pod-failure puts in place of every image; the simulated kubelet runs it and it listens nowhere.
PAUSE_IMAGE = "registry.k8s.io/pause:3.10"


def prepare(folder: Path, address: str, port: int, proto: Path) -> ChaosDaemonState:
    """Write the certificates; returns where the daemon is to listen, and with what."""
    certificates = folder / "chaos-mesh"
    certificates.mkdir(parents=True, exist_ok=True, mode=0o700)
    daemon = ChaosDaemonState(
        address=address,
        port=port,
        ca=str(certificates / "ca.crt"),
        server_certificate=str(certificates / "server.crt"),
        server_key=str(certificates / "server.key"),
        client_certificate=str(certificates / "client.crt"),
        client_key=str(certificates / "client.key"),
        proto=str(proto),
    )
    authority = Authority.create("chaos-mesh")
    Path(daemon.ca).write_bytes(authority.certificate.public_bytes(Encoding.PEM))
    issue(authority, SERVER_NAME, hosts=[SERVER_NAME], client=False).write(
        Path(daemon.server_certificate), Path(daemon.server_key)
    )
    issue(authority, PART).write(Path(daemon.client_certificate), Path(daemon.client_key))
    webhook = locate_certificate(folder)
    webhook.parent.mkdir(exist_ok=True)
    issue(authority, PART, hosts=["localhost"], addresses=[LOOPBACK], client=False).write(
        webhook.with_suffix(".crt"), webhook.with_suffix(".key")
    )
    return daemon


def locate_certificate(folder: Path) -> Path:
    """Locate the certificate (``.crt``) and key (``.key``) that webhooks show, without the ending."""
    return folder / "chaos-mesh" / "webhook" / "tls"


def locate_kubeconfig(folder: Path) -> Path:
    """Locate where the manager finds its credentials."""
    return folder / "chaos-mesh" / "kubeconfig"


def build_spec(state: LabState, binaries: Mapping[str, Path]) -> Spec:
    """Build how to start the manager."""
    daemon, part = state.chaos_daemon, state.part(PART)
    assert daemon is not None, PART
    assert part is not None, PART
    return Spec(
        name=PART,
        program=binaries[PART],
        arguments=[],
        environment={
            "KUBECONFIG": str(locate_kubeconfig(Path(state.folder))),
            "NAMESPACE": CHAOS_NAMESPACE,
            "ENABLE_LEADER_ELECTION": "false",
            "SECURITY_MODE": "false",
            "CLUSTER_SCOPED": "true",
            "CERTS_DIR": str(locate_certificate(Path(state.folder)).parent),
            "WEBHOOK_HOST": LOOPBACK,
            "WEBHOOK_PORT": str(state.ports[WEBHOOK]),
            "METRICS_HOST": LOOPBACK,
            "METRICS_PORT": str(part.port),
            "CHAOS_DAEMON_SERVICE_PORT": str(daemon.port),
            "CHAOS_DNS_SERVICE_NAME": NAME_SERVICE,
            "CHAOS_DNS_SERVICE_PORT": str(state.ports.get(NAMES, 0)),
            "CHAOS_MESH_CA_CERT": daemon.ca,
            "CHAOS_DAEMON_CLIENT_CERT": daemon.client_certificate,
            "CHAOS_DAEMON_CLIENT_KEY": daemon.client_key,
            "POD_FAILURE_PAUSE_IMAGE": PAUSE_IMAGE,
            "QPS": "500",
            "BURST": "1000",
            "GOMEMLIMIT": "300MiB",
            "TZ": "UTC",
        },
    )
