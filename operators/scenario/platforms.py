"""Platforms for trials: capabilities, clocks and health of a cluster."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Collection, Sequence
from typing import Final, Protocol

from scenario_kit.clients.clock import WallClock
from scenario_kit.errors import ClusterError, LabError, MetricsError
from scenario_kit.judge.platform import PlatformCheck, PlatformNeeds, judge_chaos, judge_metrics
from scenario_kit.model import Reference, TrialSpec
from scenario_kit.model.authored.capability import Capability
from scenario_kit.model.results.trial import ClockMode
from scenario_kit.observe.capability_probe import has_capability
from scenario_kit.observe.cluster_facts import (
    read_chaos_facts,
    read_engine,
    read_kubernetes_version,
    read_metrics_facts,
)
from scenario_kit.ports import Clock, Cluster, Metrics

#: Seconds for which a component's health is cached, since every trial checks it once a second.
_HEALTH_SECONDS: Final = 5.0
#: Seconds for which a canary's result is cached.
_CANARY_SECONDS: Final = 60.0
_INJECTOR: Final = Reference("Deployment", "chaos-controller-manager", "chaos-mesh")


#: Prefix of the ``providerID`` of kind's nodes (https://kind.sigs.k8s.io).
_KIND_PROVIDER: Final = "kind://"


class TrialPlatform(Protocol):
    """A platform for trials. ``name`` identifies it in messages.

    ``campaign_clock`` is the clock of a campaign's trials, ``data_plane`` the data plane behind their evidence,
    ``versions`` those of Kubernetes and of the chaos engine, if known.
    """

    name: str
    campaign_clock: ClockMode

    @property
    def data_plane(self) -> str:
        """The data plane: ``Twin``, ``RealNode`` or ``Kind``."""

    @property
    def versions(self) -> tuple[str, str]:
        """The versions of Kubernetes and of the chaos engine."""

    def offers(self, capability: Capability, argument: str, clock: str) -> bool:
        """Return whether a trial on ``clock`` (``Wall`` or ``Virtual``) has a capability on this platform.

        Raises:
            ClusterError: the API server does not answer.
        """

    def check_platform(self) -> Sequence[PlatformCheck]:
        """Check the platform beyond its capabilities: Prometheus's series and the chaos engine's configuration.

        Raises:
            ClusterError: the API server does not answer.
        """

    def open_clock(self, trial: str, spec: TrialSpec) -> Clock:
        """Open the clock of a trial; a clock that exists already keeps its time."""

    def has_clock(self, trial: str) -> bool:
        """Return whether the clock of a trial still exists."""

    def close_clock(self, trial: str) -> None:
        """Release the resources of a trial's clock."""

    def health(self, needs: PlatformNeeds) -> Sequence[str]:
        """Describe unhealthy needed components. Cheap, since it is called once a second."""

    def diagnose(self, needs: PlatformNeeds) -> Sequence[str]:
        """Describe unhealthy components thoroughly: probe each needed one, with retries. Takes seconds."""


class RealCluster:
    """A cluster with real nodes: wall time only; health is that of Chaos Mesh and Prometheus.

    ``declared`` are capabilities asserted by the operator's command line.
    """

    name = "the cluster"
    campaign_clock: ClockMode = "Wall"

    def __init__(
        self,
        cluster: Cluster,
        metrics: Metrics,
        declared: Collection[str] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._cluster = cluster
        self._metrics = metrics
        self._declared = frozenset(declared)
        self._clock = clock
        self._canaries: dict[str, tuple[float, bool]] = {}
        self._turn = threading.Lock()
        self._health: dict[str, tuple[float, str]] = {}
        self._checked: tuple[float, tuple[PlatformCheck, ...]] = (float("-inf"), ())

    @property
    def data_plane(self) -> str:
        """See ``TrialPlatform``: kind is recognised by the ``providerID`` of its nodes."""
        providers = [str((node.get("spec") or {}).get("providerID", "")) for node in self._cluster.list("Node")]
        return "Kind" if any(provider.startswith(_KIND_PROVIDER) for provider in providers) else "RealNode"

    @property
    def versions(self) -> tuple[str, str]:
        """See ``TrialPlatform``: the version of the oldest kubelet, and the image tag of Chaos Mesh's manager."""
        return read_kubernetes_version(self._cluster), read_engine(self._cluster)

    def offers(self, capability: Capability, argument: str, clock: str) -> bool:
        """See ``TrialPlatform``."""
        need = f"{capability.name}{argument}"
        if capability.canary.clock is not None:
            return clock == capability.canary.clock
        if need in self._declared:
            return True
        checked, answer = self._canaries.get(need, (float("-inf"), False))
        if self._clock() - checked > _CANARY_SECONDS:
            answer = has_capability(capability.canary, argument, self._cluster)
            self._canaries[need] = (self._clock(), answer)
        return answer

    def check_platform(self) -> Sequence[PlatformCheck]:
        """See ``TrialPlatform``: cached for a minute; ``health`` reports a Prometheus that does not answer."""
        with self._turn:
            if self._clock() - self._checked[0] > _CANARY_SECONDS:
                checks = [judge_chaos(read_chaos_facts(self._cluster))]
                with contextlib.suppress(MetricsError):
                    checks += judge_metrics(read_metrics_facts(self._metrics, time.time()))
                self._checked = (self._clock(), tuple(checks))
            return self._checked[1]

    def open_clock(self, trial: str, spec: TrialSpec) -> Clock:
        """See ``TrialPlatform``.

        Raises:
            LabError: the trial needs virtual time.
        """
        if spec.clock != "Wall":
            raise LabError(f"the trial {trial} needs virtual time, which only the embedded lab has", fix="clock: Wall")
        return WallClock()

    def has_clock(self, trial: str) -> bool:
        """Return True: wall time needs no state."""
        del trial
        return True

    def close_clock(self, trial: str) -> None:
        """Do nothing: a wall clock has no resources."""
        del trial

    def health(self, needs: PlatformNeeds) -> Sequence[str]:
        """See ``TrialPlatform``: each component is checked at most once in five seconds, for all trials together."""
        checks = {"metrics": self._check_metrics} if needs.metrics else {}
        if needs.chaos:
            checks["chaos"] = self._check_injector
        with self._turn:
            for component, check in checks.items():
                if self._clock() - self._health.get(component, (float("-inf"), ""))[0] > _HEALTH_SECONDS:
                    self._health[component] = (self._clock(), check())
            return [problem for component in checks if (problem := self._health[component][1])]

    def _check_metrics(self) -> str:
        try:
            self._metrics.instant("vector(1)", time.time())
        except MetricsError as error:
            return str(error)
        return ""

    def _check_injector(self) -> str:
        try:
            injector = self._cluster.get(_INJECTOR)
        except ClusterError as error:
            return str(error)
        if injector is None:
            return f"there is no {_INJECTOR}, and this scenario injects chaos: install Chaos Mesh"
        if not (injector.get("status") or {}).get("availableReplicas"):
            return f"{_INJECTOR} has no available replica, and this scenario injects chaos"
        return ""

    def diagnose(self, needs: PlatformNeeds) -> Sequence[str]:
        """See ``TrialPlatform``."""
        with self._turn:
            self._health.clear()
        return self.health(needs)
