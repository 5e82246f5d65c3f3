"""What is installed into the cluster: a name server, Prometheus, the series of objects, and the operator."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

import yaml

from scenario_kit.cli.operator import PLATFORM, collect_manifests, find_platform
from scenario_kit.clients.prometheus import PrometheusMetrics
from scenario_kit.errors import LabError, MetricsError
from scenario_kit.lab.control_plane import cluster_dns
from scenario_kit.lab.toolchain.components import COREDNS, PROMETHEUS
from scenario_kit.model import Object, Reference
from scenario_kit.observe.cluster_facts import read_metrics_facts
from scenario_kit.schema.deployment import Installation
from scenario_kit.schema.install import NAMESPACE
from scenario_kit.schema.rbac import Grant, build_binding, build_role, make_account_subject
from tools.realnode.images import REGISTRY
from tools.realnode.node import kube_state
from tools.realnode.node.cluster import RealCluster
from tools.realnode.node.isolation import ADDRESS

#: The app's collection, as the operator is given it.
COLLECTION: Final = Path(__file__).parents[1] / "collection"
MONITORING: Final = "monitoring"
_CLAIM: Final = "collection"
#: Two scrapes, and time for the target to be found.
_SCRAPE_SECONDS: Final = 60


def install_dns(cluster: RealCluster) -> None:
    """Install CoreDNS, as kubeadm does, from the image that was made here.

    Raises:
        LabError: it does not start.
    """
    name, space = cluster_dns.NAME, cluster_dns.NAMESPACE
    watched = ("list", "watch")
    grants = (
        Grant("", "endpoints services pods namespaces", watched),
        Grant("discovery.k8s.io", "endpointslices", watched),
    )
    role = {"name": name}
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name, "namespace": space}}
    subject = make_account_subject(name, space)
    binding = build_binding("ClusterRoleBinding", "ClusterRole", name, role, subject)
    objects: list[Object] = [account, build_role("ClusterRole", role, grants), binding]
    for obj in cluster_dns.build_objects():
        if obj["kind"] == "Deployment":
            template = obj["spec"]["template"]["spec"]
            template["serviceAccountName"] = name
            template["containers"][0]["image"] = f"{REGISTRY}/coredns:{COREDNS}"
            obj["spec"]["replicas"] = 1
        objects.append(obj)
    cluster.apply(objects)
    cluster.await_deployments(space)


def install_monitoring(cluster: RealCluster) -> None:
    """Install what ``operator manifests --platform`` prints, with the images that were made here.

    The series of objects come from this process, behind the Service of kube-state-metrics.

    Raises:
        LabError: Prometheus does not start, or has no series of objects.
    """
    prometheus, state = (yaml.safe_load_all((find_platform() / name).read_text()) for name in PLATFORM)
    cluster.apply(_set_image(prometheus, f"{REGISTRY}/prometheus:{PROMETHEUS}"))
    service = next(obj for obj in state if obj["kind"] == "Service")
    del service["spec"]["selector"]
    service["spec"]["ports"] = [{"name": "http", "port": kube_state.PORT}]
    slices = {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "name": service["metadata"]["name"],
            "namespace": MONITORING,
            "labels": {"kubernetes.io/service-name": service["metadata"]["name"]},
        },
        "addressType": "IPv4",
        "ports": [{"name": "http", "port": kube_state.PORT, "protocol": "TCP"}],
        "endpoints": [{"addresses": [ADDRESS], "conditions": {"ready": True}}],
    }
    cluster.apply([service, slices])
    kube_state.serve_cluster_state(cluster.client, ADDRESS)
    cluster.await_deployments(MONITORING)
    with open_metrics(cluster) as metrics:
        cluster.processes.wait(
            lambda: _has_object_series(metrics), _SCRAPE_SECONDS, lambda: "Prometheus has no series of objects"
        )


@contextmanager
def open_metrics(cluster: RealCluster) -> Iterator[PrometheusMetrics]:
    """Open the cluster's Prometheus, and close the connection afterwards.

    Raises:
        LabError: it has no Service.
    """
    service = cluster.client.get(Reference("Service", "prometheus", MONITORING))
    if service is None:
        raise LabError(f"there is no Service prometheus in {MONITORING}")
    with closing(PrometheusMetrics(f"http://{service['spec']['clusterIP']}:9090")) as metrics:
        yield metrics


def _has_object_series(metrics: PrometheusMetrics) -> bool:
    try:
        return read_metrics_facts(metrics, time.time()).kube_state
    except MetricsError:
        return False


def install_operator(cluster: RealCluster, image: str) -> None:
    """Install what ``operator manifests`` prints for an image, with the collection in a volume.

    Raises:
        LabError: it does not start.
    """
    source = cluster.folder / "memory" / "collection"
    shutil.copytree(COLLECTION, source)
    source.chmod(0o755)
    parts = collect_manifests(Installation(image=image, catalog_claim=_CLAIM), platform=False)
    cluster.run_kubectl("apply", "--server-side", "-f", "-", stdin=parts.pop("crds.yaml"))
    cluster.run_kubectl("apply", "--server-side", "-f", "-", stdin=parts.pop("access.yaml"))
    size = {"storage": "1Mi"}
    volume: Object = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": _CLAIM},
        "spec": {
            "accessModes": ["ReadOnlyMany"],
            "capacity": size,
            "storageClassName": "",
            "hostPath": {"path": str(source), "type": "Directory"},
            "claimRef": {"namespace": NAMESPACE, "name": _CLAIM},
        },
    }
    claim: Object = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": _CLAIM, "namespace": NAMESPACE},
        "spec": {"accessModes": ["ReadOnlyMany"], "storageClassName": "", "resources": {"requests": size}},
    }
    cluster.apply([volume, claim])
    for text in parts.values():
        cluster.run_kubectl("apply", "--server-side", "-f", "-", stdin=text)
    cluster.await_deployments(NAMESPACE)


def _set_image(documents: Iterable[Object], image: str) -> list[Object]:
    found = []
    for obj in documents:
        if obj["kind"] == "Deployment":
            for container in obj["spec"]["template"]["spec"]["containers"]:
                container["image"] = image
        found.append(obj)
    return found
