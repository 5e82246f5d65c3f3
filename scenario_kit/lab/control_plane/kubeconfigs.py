"""Kubeconfigs of administrator, operator and solver, with embedded credentials."""

from __future__ import annotations

import base64
from pathlib import Path

import yaml

from scenario_kit.clients.certificates import Authority, KeyPair, issue
from scenario_kit.lab.control_plane.bootstrap_manifests import CHAOS_NAMESPACE
from scenario_kit.load.atomic_file import write_private
from scenario_kit.model.base import Object
from scenario_kit.model.kubernetes.kubeconfig import build_kubeconfig
from scenario_kit.model.kubernetes.reference import MANAGEMENT_NAMESPACE
from scenario_kit.schema.install import get_identity
from scenario_kit.schema.solver import SOLVER

#: The service account of the Chaos Mesh manager in a cluster with its chart.
MANAGER = f"system:serviceaccount:{CHAOS_NAMESPACE}:chaos-controller-manager"
#: The solver's default namespace: the conventional namespace of the first app.
SOLVER_NAMESPACE = "otel-demo"


def build_embedded(server: str, authority: bytes, user: str, pair: KeyPair, namespace: str, context: str) -> Object:
    """Build a kubeconfig with embedded credentials. ``authority`` is the PEM of the cluster's CA."""
    credentials = {"client-certificate-data": _encode(pair.certificate), "client-key-data": _encode(pair.key)}
    cluster = {"server": server, "certificate-authority-data": _encode(authority)}
    return build_kubeconfig(context, cluster, (user, credentials), namespace)


def write_admin(path: Path, lab: str, server: str, pki: Path) -> None:
    """Write the administrator's kubeconfig; its default namespace is that of our own objects."""
    pair = KeyPair((pki / "admin.crt").read_bytes(), (pki / "admin.key").read_bytes())
    authority = (pki / "ca.crt").read_bytes()
    write_private_yaml(
        path, build_embedded(server, authority, "admin", pair, MANAGEMENT_NAMESPACE, f"scenario-kit-{lab}")
    )


def write_solver(path: Path, server: str, pki: Path) -> None:
    """Write the solver's kubeconfig, for a user with RBAC permissions only."""
    _issue(path, server, pki, SOLVER, (SOLVER, [SOLVER]), SOLVER_NAMESPACE)


def write_operator(path: Path, server: str, pki: Path) -> None:
    """Write the operator's kubeconfig, for its ServiceAccount in other clusters, with the same permissions."""
    groups = ["system:serviceaccounts", f"system:serviceaccounts:{MANAGEMENT_NAMESPACE}"]
    _issue(path, server, pki, "operator", (get_identity(), groups), MANAGEMENT_NAMESPACE)


def write_manager(path: Path, server: str, pki: Path) -> None:
    """Write the kubeconfig of the Chaos Mesh manager: an administrator with its own name, which webhooks see."""
    _issue(path, server, pki, "manager", (MANAGER, ["system:masters"]), CHAOS_NAMESPACE)


def _issue(path: Path, server: str, pki: Path, name: str, identity: tuple[str, list[str]], namespace: str) -> None:
    """Write a kubeconfig with a new certificate of a user and its groups."""
    authority = Authority.load(pki / "ca.crt", pki / "ca.key")
    pair = issue(authority, identity[0], groups=identity[1])
    write_private_yaml(path, build_embedded(server, (pki / "ca.crt").read_bytes(), name, pair, namespace, name))


def write_private_yaml(path: Path, document: Object) -> None:
    """Write a document that only its owner may read."""
    write_private(path, yaml.safe_dump(document, sort_keys=False).encode())


def _encode(pem: bytes) -> str:
    return base64.b64encode(pem).decode()
