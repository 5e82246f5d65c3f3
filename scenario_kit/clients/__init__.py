"""Clients of Kubernetes and Prometheus behind the ports, with library errors translated."""

from scenario_kit.clients.kube import KubeCluster
from scenario_kit.clients.prometheus import PrometheusMetrics

__all__ = ["KubeCluster", "PrometheusMetrics"]
