"""The operator's environment: cluster, metrics, catalogue, and the platform for trials."""

from __future__ import annotations

import ssl
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from operators.access.bound_cluster import BoundCluster
from operators.monitoring.measurements import Measurements
from operators.scenario.platforms import RealCluster, TrialPlatform
from scenario_kit.catalog import Catalog
from scenario_kit.clients.kube import KubeCluster
from scenario_kit.clients.prometheus import PrometheusMetrics
from scenario_kit.errors import ClusterError, GuardRailError, UsageError
from scenario_kit.model import Reference, Value
from scenario_kit.model.kubernetes.reference import MANAGEMENT_NAMESPACE
from scenario_kit.model.results.trial import ClockMode
from scenario_kit.ports import Cluster, Metrics
from scenario_kit.schema.solver import SOLVER


class Settings(Value, frozen=True, kw_only=True):
    """Operator settings. ``clock`` is the clock of live scenarios; ``offers`` are declared capabilities of the cluster
    that no canary can detect.
    """

    clock: ClockMode = "Wall"
    management_namespace: str = MANAGEMENT_NAMESPACE
    offers: tuple[str, ...] = ()


class WebhookListener(NamedTuple):
    """Address and TLS of a lab's webhook."""

    address: tuple[str, int]
    tls: ssl.SSLContext


@dataclass(frozen=True)
class Environment:
    """Ports and settings of one operator process. ``kubeconfig`` is empty inside a cluster.

    ``solver`` is the same cluster with the solver's permissions. ``webhook`` is set in a lab, which created the
    certificate.
    """

    cluster: Cluster
    solver: Cluster
    metrics: Metrics
    catalog: Catalog
    settings: Settings
    platform: TrialPlatform
    kubeconfig: str = ""
    webhook: WebhookListener | None = None
    measurements: Measurements = field(default_factory=Measurements)

    def describe_silence(self) -> str:
        """Describe why the API server cannot be used; empty if it can."""
        try:
            self.cluster.get(Reference("Namespace", self.settings.management_namespace))
        except ClusterError as error:
            return str(error)
        return ""

    @classmethod
    def of_lab(cls, name: str, settings: Settings) -> Environment:
        """Build the environment of an embedded lab.

        Raises:
            LabError: there is no such lab.
            UsageError: this installation has no lab, as in the operator's image.
        """
        if find_spec("scenario_kit.lab") is None:
            raise UsageError(
                "this installation of the operator has no lab", fix="--in-cluster, or --context with a kubeconfig"
            )
        from operators.scenario.lab_platform import Lab  # not installed in the operator's image
        from scenario_kit.lab.admission_webhook import locate_listener
        from scenario_kit.lab.host.state import LabState
        from scenario_kit.lab.lab_cluster import LabCluster
        from scenario_kit.lab.telemetry.prometheus_access import connect_metrics

        lab = LabState.load(name)
        listener = locate_listener(lab)
        return cls(
            cluster=BoundCluster(LabCluster(lab)),
            solver=KubeCluster(kubeconfig=Path(lab.operator_kubeconfig), as_user=SOLVER),
            metrics=connect_metrics(lab),
            catalog=Catalog(),
            settings=settings,
            platform=Lab(name),
            kubeconfig=lab.operator_kubeconfig,
            webhook=WebhookListener(*listener) if listener else None,
        )

    @classmethod
    def of_cluster(cls, context: str, allowed: str, prometheus_url: str, settings: Settings) -> Environment:
        """Build the environment of a cluster with real nodes: a kubeconfig context, or (empty) in-cluster
        configuration.

        Raises:
            GuardRailError: the context is not the current one, or neither of a kind cluster nor allowed by name.
        """
        if context and not context.startswith("kind-") and context != allowed:
            raise GuardRailError(
                f"the context '{context}' is not allowed: faults would be injected there",
                fix=f"if intended: --allow-context {context}",
            )
        from scenario_kit.clients.kubernetes_client import read_current_context  # not needed for a lab

        if context and context != read_current_context():
            # Kopf always watches the current context; a different one here would mix two clusters in one process.
            raise GuardRailError(
                f"the context '{context}' is not the current one", fix=f"kubectl config use-context {context}"
            )
        cluster = BoundCluster(KubeCluster(context=context or None))
        metrics = PrometheusMetrics(prometheus_url)
        return cls(
            cluster=cluster,
            solver=KubeCluster(context=context or None, as_user=SOLVER),
            metrics=metrics,
            catalog=Catalog(),
            settings=settings,
            platform=RealCluster(cluster, metrics, settings.offers),
        )
