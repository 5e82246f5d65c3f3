"""Kubeconfigs of administrator, operator and solver, with embedded credentials."""

from __future__ import annotations

import base64
from pathlib import Path

import yaml

from scenario_kit.clients.certificates import Authority, KeyPair, issue, write_private
from scenario_kit.lab.control_plane.bootstrap_manifests import CHAOS_NAMESPACE
from scenario_kit.model.base import Object
from scenario_kit.model.kubernetes.reference import MANAGEMENT_NAMESPACE
from scenario_kit.schema.install import get_identity
from scenario_kit.schema.solver import SOLVER

#: The service account of the Chaos Mesh manager in a cluster with its chart.
MANAGER = f"system:serviceaccount:{CHAOS_NAMESPACE}:chaos-controller-manager"
#: The solver's default namespace: the conventional namespace of the first app.
SOLVER_NAMESPACE = "otel-demo"


def build_kubeconfig(server: str, authority: bytes, user: str, pair: KeyPair, namespace: str, context: str) -> Object:
    """Build a kubeconfig with one context. ``authority`` is the PEM of the cluster's CA."""
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": context,
        "clusters": [
            {"name": context, "cluster": {"server": server, "certificate-authority-data": _encode(authority)}}
        ],
        "users": [
            {
                "name": user,
                "user": {"client-certificate-data": _encode(pair.certificate), "client-key-data": _encode(pair.key)},
            }
        ],
        "contexts": [{"name": context, "context": {"cluster": context, "user": user, "namespace": namespace}}],
    }


def write_admin(path: Path, lab: str, server: str, pki: Path) -> None:
    """Write the administrator's kubeconfig; its default namespace is that of our own objects."""
    pair = KeyPair((pki / "admin.crt").read_bytes(), (pki / "admin.key").read_bytes())
    authority = (pki / "ca.crt").read_bytes()
    _write(path, build_kubeconfig(server, authority, "admin", pair, MANAGEMENT_NAMESPACE, f"scenario-kit-{lab}"))


def write_solver(path: Path, server: str, pki: Path) -> None:
    """Write the solver's kubeconfig, for a user with RBAC permissions only."""
    pair = issue(Authority.load(pki / "ca.crt", pki / "ca.key"), SOLVER, groups=[SOLVER])
    _write(path, build_kubeconfig(server, (pki / "ca.crt").read_bytes(), SOLVER, pair, SOLVER_NAMESPACE, SOLVER))


def write_operator(path: Path, server: str, pki: Path) -> None:
    """Write the operator's kubeconfig, for its ServiceAccount in other clusters, with the same permissions."""
    groups = ["system:serviceaccounts", f"system:serviceaccounts:{MANAGEMENT_NAMESPACE}"]
    pair = issue(Authority.load(pki / "ca.crt", pki / "ca.key"), get_identity(), groups=groups)
    authority = (pki / "ca.crt").read_bytes()
    _write(path, build_kubeconfig(server, authority, "operator", pair, MANAGEMENT_NAMESPACE, "operator"))


def write_manager(path: Path, server: str, pki: Path) -> None:
    """Write the kubeconfig of the Chaos Mesh manager: an administrator with its own name, which webhooks see."""
    pair = issue(Authority.load(pki / "ca.crt", pki / "ca.key"), MANAGER, groups=["system:masters"])
    authority = (pki / "ca.crt").read_bytes()
    _write(path, build_kubeconfig(server, authority, "manager", pair, CHAOS_NAMESPACE, "manager"))


def _write(path: Path, document: Object) -> None:
    write_private(path, yaml.safe_dump(document, sort_keys=False).encode())


def _encode(pem: bytes) -> str:
    return base64.b64encode(pem).decode()
