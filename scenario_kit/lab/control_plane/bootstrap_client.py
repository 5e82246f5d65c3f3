"""A client for the setup of a new cluster: server-side apply of documents over a few parallel connections.

The client behind the ``Cluster`` port requires discovery of every kind; here nothing is served yet, and definitions are
sent as plain text.
"""

from __future__ import annotations

import json
import ssl
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Self

import httpx

from scenario_kit.errors import LabError
from scenario_kit.model.base import Object

FIELD_MANAGER = "platform"
_CONNECTIONS = 4
_SECONDS = 30.0
_POLL_SECONDS = 0.05
_CLUSTER_SCOPED = {
    "Namespace": "namespaces",
    "Node": "nodes",
    "ClusterRole": "clusterroles",
    "ClusterRoleBinding": "clusterrolebindings",
    "CustomResourceDefinition": "customresourcedefinitions",
    "MutatingWebhookConfiguration": "mutatingwebhookconfigurations",
    "Stage": "stages",
    "ValidatingAdmissionPolicy": "validatingadmissionpolicies",
    "ValidatingAdmissionPolicyBinding": "validatingadmissionpolicybindings",
    "ValidatingWebhookConfiguration": "validatingwebhookconfigurations",
}
_NAMESPACED = {
    "ConfigMap": "configmaps",
    "Deployment": "deployments",
    "EndpointSlice": "endpointslices",
    "Role": "roles",
    "RoleBinding": "rolebindings",
    "Service": "services",
}


class BootstrapClient:
    """A client of a lab's API server, as its administrator."""

    def __init__(self, server: str, pki: Path) -> None:
        context = ssl.create_default_context(cafile=str(pki / "ca.crt"))
        context.load_cert_chain(pki / "admin.crt", pki / "admin.key")
        self._client = httpx.Client(base_url=server, verify=context, timeout=_SECONDS, trust_env=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()

    def apply(self, objects: Iterable[Object]) -> None:
        """Apply objects, in order."""
        for obj in objects:
            self._apply(build_path(obj), json.dumps(obj).encode())

    def apply_definitions(self, files: Iterable[Path]) -> None:
        """Apply CustomResourceDefinitions in parallel, the biggest first; each file is named after its definition."""
        biggest_first = sorted(files, key=lambda file: -file.stat().st_size)
        with ThreadPoolExecutor(_CONNECTIONS) as pool:
            for result in [
                pool.submit(self._apply, build_definition_path(f.name), f.read_bytes()) for f in biggest_first
            ]:
                result.result()

    def wait_served(self, group_version: str, kinds: int) -> None:
        """Wait until discovery lists that many kinds of a group; raises ``LabError`` on timeout."""
        deadline = time.monotonic() + _SECONDS
        while (found := self._count_served(group_version)) < kinds:
            if time.monotonic() > deadline:
                raise LabError(
                    f"{group_version}: the API server serves {found} of {kinds} kinds after {_SECONDS:.0f} s"
                )
            time.sleep(_POLL_SECONDS)

    def _count_served(self, group_version: str) -> int:
        response = self._client.get(f"/apis/{group_version}")
        if response.status_code != 200:
            return 0
        return sum(1 for resource in response.json()["resources"] if "/" not in resource["name"])

    def _apply(self, path: str, body: bytes) -> None:
        try:
            response = self._client.patch(
                path,
                params={"fieldManager": FIELD_MANAGER, "force": "true"},
                headers={"Content-Type": "application/apply-patch+yaml"},
                content=body,
            )
        except httpx.HTTPError as error:
            raise LabError(f"the API server does not respond to an apply of {path}: {error!r}") from error
        if response.status_code not in (200, 201):
            raise LabError(f"the API server rejected {path}: {response.status_code} {response.text[:300]}")


def build_definition_path(file_name: str) -> str:
    """Build the path of a CRD from its file name ``<group>_<plural>``, the convention of the CRD generator."""
    group, plural = Path(file_name).stem.split("_", 1)
    return f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{plural}.{group}"


def build_path(obj: Object) -> str:
    """Build the path of an object, for the kinds used in the setup of a lab."""
    version, kind, metadata = obj["apiVersion"], obj["kind"], obj["metadata"]
    root = f"/apis/{version}" if "/" in version else f"/api/{version}"
    if kind in _CLUSTER_SCOPED:
        return f"{root}/{_CLUSTER_SCOPED[kind]}/{metadata['name']}"
    return f"{root}/namespaces/{metadata['namespace']}/{_NAMESPACED[kind]}/{metadata['name']}"
