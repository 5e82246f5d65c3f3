"""The cluster's DNS server, CoreDNS, as installed by kubeadm and kind.

Its pods are simulated like all others. The twin computes their answers from the configuration.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from scenario_kit.model.base import Object

if TYPE_CHECKING:
    from scenario_kit.lab.twin import ClusterDns

NAMESPACE: Final = "kube-system"
#: The name of the ConfigMap and the Deployment.
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
    """Build its ConfigMap, its Service with the usual address, and its Deployment."""

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
    """Return the DNS server from the objects of its namespace, by kind and name; None if it was never installed.

    Its pods are on the wall clock, so their state must not affect virtual trials: whether it runs is taken from the
    spec of its Deployment and the selector of its Service.
    """
    from scenario_kit.lab.twin import ClusterDns  # `lab up` does not need the twin

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
