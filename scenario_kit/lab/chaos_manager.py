"""The real Chaos Mesh manager, which talks to a simulated daemon: certificates, environment, process."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from cryptography.hazmat.primitives.serialization import Encoding

from scenario_kit.clients.certificates import Authority, issue
from scenario_kit.lab.chaos_daemon.endpoints import NAME_SERVICE, SERVER_NAME
from scenario_kit.lab.control_plane.bootstrap_manifests import CHAOS_NAMESPACE
from scenario_kit.lab.host.addresses import LOOPBACK, UNREACHABLE
from scenario_kit.lab.host.state import ChaosDaemonState, LabState
from scenario_kit.lab.host.supervisor import Spec

PART = "chaos-controller-manager"
WEBHOOK = "chaos-webhook"
#: The port of the DNS server that returns wrong answers; the lab server implements it.
NAMES = "chaos-names"
#: The image that pod-failure sets everywhere; the simulated kubelet runs it without an open port.
PAUSE_IMAGE = "registry.k8s.io/pause:3.10"


def prepare(folder: Path, address: str, port: int, proto: Path) -> ChaosDaemonState:
    """Write the certificates; return the daemon's address and credentials."""
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
    """Return the path of the webhooks' certificate (``.crt``) and key (``.key``), without the suffix."""
    return folder / "chaos-mesh" / "webhook" / "tls"


def locate_kubeconfig(folder: Path) -> Path:
    """Return the path of the manager's kubeconfig."""
    return folder / "chaos-mesh" / "kubeconfig"


def build_health_url(state: LabState) -> str:
    """Build the URL at which the server of the manager's webhooks has nothing (404), once it works."""
    return f"https://{LOOPBACK}:{state.ports[WEBHOOK]}/"


def build_spec(state: LabState, binaries: Mapping[str, Path]) -> Spec:
    """Build the process specification of the manager."""
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
            # Metrics count kinds of faults and have no authentication; the manager cannot disable them.
            "METRICS_HOST": UNREACHABLE,
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
