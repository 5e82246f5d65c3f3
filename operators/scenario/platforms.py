"""What a platform provides to trials besides its API: clocks and health."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, Protocol

from scenario_kit.clients.clock import WallClock
from scenario_kit.errors import ClusterError, LabError, MetricsError
from scenario_kit.lab import capabilities as lab_capabilities
from scenario_kit.lab.clock import close_world, has_world, open_world
from scenario_kit.lab.host import supervisor
from scenario_kit.lab.host.state import LabState
from scenario_kit.lab.toolchain.components import describe_engine, read_kubernetes_version
from scenario_kit.lab.world_spec import WorldSpec
from scenario_kit.model import Reference, TrialSpec
from scenario_kit.model.authored.capability import Capability
from scenario_kit.model.results.trial import ClockMode
from scenario_kit.observe.capability_probe import has_capability
from scenario_kit.ports import Clock, Cluster, Metrics

_HEALTH_SECONDS: Final = 1.0
#: Probes before a component counts as hanging; each has a timeout of two seconds.
_ASKED: Final = 3
#: Wall seconds for which a canary's result is cached, since admission runs every second.
_CANARY_SECONDS: Final = 60.0
_INJECTOR: Final = Reference("Deployment", "chaos-controller-manager", "chaos-mesh")


class Grounds(Protocol):
    """A platform that trials run on. ``name`` identifies it in messages.

    ``campaign_clock`` is the clock of a campaign's trials, ``data_plane`` the data plane behind their evidence,
    ``versions`` those of Kubernetes and of the chaos engine, if known.
    """

    name: str
    campaign_clock: ClockMode
    data_plane: str
    versions: tuple[str, str]

    def offers(self, capability: Capability, argument: str, clock: str) -> bool:
        """Return whether a trial on that clock (``Wall`` or ``Virtual``) has a capability here.

        Raises:
            ClusterError: the API server does not answer.
        """

    def open_clock(self, trial: str, spec: TrialSpec) -> Clock:
        """Open the clock of a trial; a clock that exists already keeps its time."""

    def has_clock(self, trial: str) -> bool:
        """Return whether the clock of a trial still exists."""

    def close_clock(self, trial: str) -> None:
        """Release the resources of a trial's clock."""

    def health(self) -> Sequence[str]:
        """Describe unhealthy components. Cheap, called all the time."""

    def diagnose(self) -> Sequence[str]:
        """Describe unhealthy components thoroughly: probe each one, with retries. Takes seconds."""


class Lab:
    """The embedded lab: one world per trial, in wall or virtual time; its components are processes."""

    name = lab_capabilities.NAME
    campaign_clock: ClockMode = "Virtual"
    data_plane = "Twin"
    versions = (read_kubernetes_version(), describe_engine())

    def __init__(self, name: str) -> None:
        self._state = LabState.load(name)
        self._lock = threading.Lock()
        self._looked = 0.0
        self._problems: Sequence[str] = ()

    def offers(self, capability: Capability, argument: str, clock: str) -> bool:
        """See ``Grounds``."""
        return lab_capabilities.offers_capability(capability, argument, clock=clock)

    def open_clock(self, trial: str, spec: TrialSpec) -> Clock:
        """See ``Grounds``."""
        runbook = spec.runbook()
        world = WorldSpec(
            trial=trial,
            namespace=spec.namespace,
            others=tuple(runbook.namespaces.values()),
            app=runbook.app,
            seed=spec.seed,
            mode=spec.clock,
        )
        return open_world(self._state.server_url, self._state.server_token, world)

    def has_clock(self, trial: str) -> bool:
        """See ``Grounds``."""
        return has_world(self._state.server_url, self._state.server_token, trial)

    def close_clock(self, trial: str) -> None:
        """See ``Grounds``."""
        close_world(self._state.server_url, self._state.server_token, trial)

    def health(self) -> Sequence[str]:
        """Describe components that died, each with the tail of its log; checked once a second at most."""
        with self._lock:
            if time.monotonic() - self._looked > _HEALTH_SECONDS:
                self._problems = [str(p) for p in LabState.load(self._state.name).dead_parts()]
                self._looked = time.monotonic()
            return self._problems

    def diagnose(self) -> Sequence[str]:
        """See ``Grounds``: a stopped process is alive but does not answer."""
        state = LabState.load(self._state.name)
        if dead := state.dead_parts():
            return [str(p) for p in dead]
        asked = supervisor.HealthProbe(state)
        with ThreadPoolExecutor(len(state.parts)) as pool:
            found = pool.map(lambda part: (part.name, _find_lasting_problem(lambda: asked.problem(part))), state.parts)
            return [f"{name}: {problem}" for name, problem in found if problem]


def _find_lasting_problem(ask: Callable[[], str]) -> str:
    """Return a problem that every probe reports; on a busy machine a single probe may time out."""
    for _ in range(_ASKED):
        if not (problem := ask()):
            return ""
    return problem


class RealCluster:
    """A cluster with real nodes: wall time only; health is that of Chaos Mesh and Prometheus.

    ``declared`` are capabilities asserted by the operator's command line.
    """

    name = "the cluster"
    campaign_clock: ClockMode = "Wall"
    data_plane = "RealNode"
    versions = ("", "")

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
        self._sang: dict[str, tuple[float, bool]] = {}

    def offers(self, capability: Capability, argument: str, clock: str) -> bool:
        """See ``Grounds``."""
        need = f"{capability.name}{argument}"
        if capability.canary.clock is not None:
            return clock == capability.canary.clock
        if need in self._declared:
            return True
        asked, answer = self._sang.get(need, (float("-inf"), False))
        if self._clock() - asked > _CANARY_SECONDS:
            answer = has_capability(capability.canary, argument, self._cluster)
            self._sang[need] = (self._clock(), answer)
        return answer

    def open_clock(self, trial: str, spec: TrialSpec) -> Clock:
        """See ``Grounds``.

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
        """Do nothing: a wall clock holds no resources."""
        del trial

    def health(self) -> Sequence[str]:
        """See ``Grounds``."""
        problems = []
        try:
            self._metrics.instant("vector(1)", time.time())
        except MetricsError as problem:
            problems.append(str(problem))
        try:
            injector = self._cluster.get(_INJECTOR)
        except ClusterError as problem:
            return [*problems, str(problem)]
        if injector is None or not (injector.get("status") or {}).get("availableReplicas"):
            problems.append(f"{_INJECTOR} has no available replica, so no chaos fault can be injected")
        return problems

    def diagnose(self) -> Sequence[str]:
        """See ``Grounds``."""
        return self.health()
