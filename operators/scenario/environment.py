"""Where the operator runs: its cluster, its metrics, its clocks, and what is not well among them."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from scenario_kit.catalog import Catalog
from scenario_kit.clients.kube import KubeCluster
from scenario_kit.clients.prometheus import PrometheusMetrics
from scenario_kit.lab.clock import close_world, open_world, world_exists
from scenario_kit.lab.state import LabState
from scenario_kit.model import TrialSpec, Value
from scenario_kit.ports import Clock, Cluster, Metrics

MANAGEMENT_NAMESPACE: Final = "scenario-kit"
_HEALTH_SECONDS: Final = 1.0


class Settings(Value, frozen=True, kw_only=True):
    """How the operator behaves. ``clock`` is the time in which live scenarios run."""

    clock: Literal["Wall", "Virtual"] = "Wall"
    management_namespace: str = MANAGEMENT_NAMESPACE


@dataclass
class Environment:
    """Ports and settings of one operator process."""

    cluster: Cluster
    metrics: Metrics
    catalog: Catalog
    settings: Settings
    lab: LabState

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._looked = 0.0
        self._problems: Sequence[str] = ()

    @classmethod
    def of_lab(cls, name: str, settings: Settings) -> Environment:
        """The environment of an embedded lab.

        Raises:
            LabError: there is no such lab.
        """
        lab = LabState.load(name)
        return cls(
            cluster=KubeCluster(kubeconfig=Path(lab.kubeconfig)),
            metrics=PrometheusMetrics(lab.prometheus_url),
            catalog=Catalog(),
            settings=settings,
            lab=lab,
        )

    def open_clock(self, trial: str, spec: TrialSpec) -> Clock:
        """The clock of a trial; opening it again finds it where it stood."""
        return open_world(
            self.lab.server_url,
            self.lab.server_token,
            trial,
            namespace=spec.namespace,
            app=spec.runbook().app.to_json(),
            seed=spec.seed,
            mode=spec.clock,
        )

    def has_clock(self, trial: str) -> bool:
        """Whether the world of a trial is still there."""
        return world_exists(self.lab.server_url, self.lab.server_token, trial)

    def close_clock(self, trial: str) -> None:
        """Give the world of a trial back."""
        close_world(self.lab.server_url, self.lab.server_token, trial)

    def health(self) -> Sequence[str]:
        """Parts of the lab that died, each with the tail of its log; looked at once a second at most."""
        with self._lock:
            if time.monotonic() - self._looked > _HEALTH_SECONDS:
                self._problems = [str(p) for p in LabState.load(self.lab.name).dead_parts()]
                self._looked = time.monotonic()
            return self._problems
