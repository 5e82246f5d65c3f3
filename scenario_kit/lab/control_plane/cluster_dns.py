"""The name server of the cluster as an operator finds it: CoreDNS, as kubeadm and kind install it.

Its pods are simulated like all others. What they answer is up to the twin, which reads the configuration.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from scenario_kit.model.base import Object

if TYPE_CHECKING:
    from scenario_kit.lab.twin import ClusterDns

NAMESPACE: Final = "kube-system"
#: Name of the ConfigMap and of the Deployment.
NAME: Final = "coredns"
SERVICE: Final = "kube-dns"
KEY: Final = "Corefile"
_LABELS: Final = {"k8s-app": SERVICE}
ADDRESS: Final = "10.96.0.10"
_COREFILE: Final = """\
.:53 {
    errors
    health {
       lameduck 5s
    }
    ready
    kubernetes cluster.local in-addr.arpa ip6.arpa {
       pods insecure
       fallthrough in-addr.arpa ip6.arpa
       ttl 30
    }
    prometheus :9153
    forward . /etc/resolv.conf {
       max_concurrent 1000
    }
    cache 30
    loop
    reload
    loadbalance
}
"""


def build_objects() -> list[Object]:
    """Build its ConfigMap, its Service at the usual address, and its Deployment."""

    def meta(name: str) -> Object:
        return {"name": name, "namespace": NAMESPACE, "labels": _LABELS}

    ports = [{"name": "dns", "port": 53, "protocol": "UDP"}, {"name": "dns-tcp", "port": 53, "protocol": "TCP"}]
    volume = {"name": "config-volume", "configMap": {"name": NAME, "items": [{"key": KEY, "path": KEY}]}}
    container = {
        "name": "coredns",
        "image": "registry.k8s.io/coredns/coredns:v1.12.4",
        "args": ["-conf", "/etc/coredns/Corefile"],
        "ports": [{"name": p["name"], "containerPort": 53, "protocol": p["protocol"]} for p in ports],
        "resources": {"limits": {"memory": "170Mi"}, "requests": {"cpu": "100m", "memory": "70Mi"}},
        "volumeMounts": [{"name": "config-volume", "mountPath": "/etc/coredns", "readOnly": True}],
    }
    return [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta(NAME), "data": {KEY: _COREFILE}},
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": meta(SERVICE),
            "spec": {"clusterIP": ADDRESS, "selector": _LABELS, "ports": ports},
        },
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": meta(NAME),
            "spec": {
                "replicas": 2,
                "selector": {"matchLabels": _LABELS},
                "strategy": {"rollingUpdate": {"maxUnavailable": 1}},
                "template": {
                    "metadata": {"labels": _LABELS},
                    "spec": {
                        "containers": [container],
                        "volumes": [volume],
                        "dnsPolicy": "Default",
                        "priorityClassName": "system-cluster-critical",
                    },
                },
            },
        },
    ]


def find_dns(objects: Mapping[str, Mapping[str, Object]]) -> ClusterDns | None:
    """Find what the objects of its namespace, by kind and name, say of it; None where it was never installed.

    Its pods live by the wall clock, which must not decide when a virtual trial sees them come and go: whether it runs
    is what its Deployment wants, and whether its Service leads there.
    """
    from scenario_kit.lab.twin import ClusterDns  # whoever starts a lab installs it, and needs no twin

    config = objects.get("ConfigMap", {}).get(NAME)
    if config is None:
        return None
    service, workload = objects.get("Service", {}).get(SERVICE), objects.get("Deployment", {}).get(NAME)
    runs = False
    if service is not None and workload is not None:
        labels = workload["spec"]["template"]["metadata"].get("labels") or {}
        desired = (service["spec"].get("selector") or {}).items()
        runs = bool(workload["spec"].get("replicas", 1)) and bool(desired) and desired <= labels.items()
    return ClusterDns(str((config.get("data") or {}).get(KEY, "")), runs)
