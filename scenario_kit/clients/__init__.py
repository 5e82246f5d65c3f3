"""The outside world behind the ports: a Kubernetes API and a Prometheus. Errors of their libraries end here."""

from scenario_kit.clients.kube import KubeCluster
from scenario_kit.clients.prometheus import PrometheusMetrics

__all__ = ["KubeCluster", "PrometheusMetrics"]
