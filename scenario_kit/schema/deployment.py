"""The operator's Deployment and related objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import scenario_kit
from scenario_kit.schema.install import NAME, NAMESPACE, build_system_binding, get_identity
from scenario_kit.schema.webhook import (
    WEBHOOK_PORT,
    build_service_client,
    build_webhook_configuration,
    build_webhook_service,
)

#: User and group ID of the process, unnamed in the image.
_USER: Final = 65532
#: What the level "restricted" of the pod security standards asks of a pod and of a container.
POD_SECURITY: Final = {
    "runAsNonRoot": True, "runAsUser": _USER, "runAsGroup": _USER, "fsGroup": _USER,
    "seccompProfile": {"type": "RuntimeDefault"},
}  # fmt: skip
CONTAINER_SECURITY: Final = {
    "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "runAsNonRoot": True,
    "capabilities": {"drop": ["ALL"]},
}  # fmt: skip
PORT: Final = 8080
PROMETHEUS_URL: Final = "http://prometheus.monitoring:9090"
#: Folders with catalogues that precede the installed one (``catalog.loader``).
CATALOG_VARIABLE: Final = "SCENARIO_KIT_CATALOG"
_CATALOG: Final = "/catalog"
_LABELS: Final = {"app.kubernetes.io/name": NAME}


class Installation(NamedTuple):
    """The parameters of an installation.

    ``catalog_claim`` is a PersistentVolumeClaim in the operator's namespace with a catalogue that precedes the image's;
    may be empty. ``offers`` are capabilities that no probe can detect. With ``webhook``, the API server has the
    operator validate each Scenario before it is stored. ``system_namespaces`` are those, beside kube-system, whose
    components faults may disturb.
    """

    image: str = f"scenario-kit:{scenario_kit.__version__}"
    prometheus_url: str = PROMETHEUS_URL
    offers: tuple[str, ...] = ()
    catalog_claim: str = ""
    replicas: int = 1
    webhook: bool = False
    system_namespaces: tuple[str, ...] = ()


def build_deployment(installation: Installation) -> list[dict[str, Any]]:
    """Build the Deployment, its disruption budget and its network policy.

    With several replicas, one is active and the others wait for its Lease; all of them serve the webhook.
    """
    selector = {"matchLabels": _LABELS}
    metadata = {"name": NAME, "namespace": NAMESPACE, "labels": _LABELS}
    budget = {"maxUnavailable": 1, "selector": selector}
    ports = [{"port": PORT}, *([{"port": WEBHOOK_PORT}] if installation.webhook else [])]
    ingress = {"podSelector": selector, "policyTypes": ["Ingress"], "ingress": [{"ports": ports}]}
    return [
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": metadata,
            "spec": {
                "replicas": installation.replicas,
                "selector": selector,
                "template": {"metadata": _build_pod_metadata(), "spec": _build_pod_spec(installation)},
            },
        },
        {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": metadata, "spec": budget},
        {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": metadata, "spec": ingress},
        *(build_system_binding(namespace) for namespace in installation.system_namespaces),
        *(_build_webhook() if installation.webhook else []),
    ]


def _build_webhook() -> list[dict[str, Any]]:
    client = build_service_client(NAMESPACE)
    return [build_webhook_service(NAMESPACE, _LABELS), build_webhook_configuration(client, get_identity())]


def _build_pod_metadata() -> dict[str, Any]:
    scrape = {"prometheus.io/scrape": "true", "prometheus.io/port": str(PORT), "prometheus.io/path": "/metrics"}
    return {"labels": _LABELS, "annotations": scrape}


def _build_pod_spec(installation: Installation) -> dict[str, Any]:
    volumes: list[dict[str, Any]] = [{"name": "tmp", "emptyDir": {"medium": "Memory", "sizeLimit": "64Mi"}}]
    if installation.catalog_claim:
        claim = {"claimName": installation.catalog_claim, "readOnly": True}
        volumes.append({"name": "catalog", "persistentVolumeClaim": claim})
    return {
        "serviceAccountName": NAME,
        "securityContext": POD_SECURITY,
        "containers": [_build_container(installation)],
        "volumes": volumes,
    }


def _build_container(installation: Installation) -> dict[str, Any]:
    mounts: list[dict[str, Any]] = [{"name": "tmp", "mountPath": "/tmp"}]  # noqa: S108 - the pod's own, in memory
    if installation.catalog_claim:
        mounts.append({"name": "catalog", "mountPath": _CATALOG, "readOnly": True})
    return {
        "name": "operator",
        "image": installation.image,
        "command": ["python", "-m", "operators.scenario"],
        "args": list_arguments(installation),
        "env": [{"name": CATALOG_VARIABLE, "value": _CATALOG}] if installation.catalog_claim else [],
        "ports": _list_ports(installation),
        "livenessProbe": _build_probe("/healthz", 20),
        "readinessProbe": _build_probe("/readyz", 5),
        "resources": {"requests": {"cpu": "100m", "memory": "256Mi"}, "limits": {"memory": "512Mi"}},
        "volumeMounts": mounts,
        "securityContext": CONTAINER_SECURITY,
    }


def _list_ports(installation: Installation) -> list[dict[str, Any]]:
    webhook = [{"name": "webhook", "containerPort": WEBHOOK_PORT}] if installation.webhook else []
    return [{"name": "http", "containerPort": PORT}, *webhook]


def list_arguments(installation: Installation) -> Sequence[str]:
    """Return the command-line arguments of the operator."""
    found = ["--in-cluster", "--prometheus-url", installation.prometheus_url, "--listen", f"0.0.0.0:{PORT}"]
    for offer in installation.offers:
        found += ["--offer", offer]
    if installation.webhook:
        found += ["--webhook", f"0.0.0.0:{WEBHOOK_PORT}"]
    return found


def _build_probe(path: str, period: int) -> dict[str, Any]:
    get = {"path": path, "port": "http"}
    return {"httpGet": get, "periodSeconds": period, "timeoutSeconds": 5, "failureThreshold": 3}
