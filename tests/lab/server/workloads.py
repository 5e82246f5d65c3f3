"""Workloads that tests deploy in a lab."""

from __future__ import annotations

from scenario_kit.model import Object


def workload(namespace: str, name: str, image: str = "ghcr.io/valkey-io/valkey:9.0.4-alpine3.23") -> list[Object]:
    labels = {"app": name}
    container = {"name": "c", "image": image, "ports": [{"containerPort": 80}]}
    return [
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": name, "namespace": namespace},
            "spec": {
                "replicas": 2,
                "progressDeadlineSeconds": 60,
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
            },
        },
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": name, "namespace": namespace},
            "spec": {"selector": labels, "ports": [{"port": 80}]},
        },
    ]
