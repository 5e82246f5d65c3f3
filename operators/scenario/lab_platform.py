"""The embedded lab as a trial platform; not installed in the operator's image."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Container, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from scenario_kit.judge.platform import PlatformCheck, PlatformNeeds
from scenario_kit.lab import capabilities as lab_capabilities
from scenario_kit.lab import chaos_manager
from scenario_kit.lab.clock import close_world, has_world, open_world
from scenario_kit.lab.host import supervisor
from scenario_kit.lab.host.state import DeadPart, LabState
from scenario_kit.lab.toolchain.components import describe_engine, read_kubernetes_version
from scenario_kit.lab.world_spec import WorldSpec
from scenario_kit.model import TrialSpec
from scenario_kit.model.authored.capability import Capability
from scenario_kit.model.results.trial import ClockMode
from scenario_kit.ports import Clock

_HEALTH_SECONDS: Final = 1.0
#: Probes before a component counts as hanging; each has a timeout of two seconds.
_PROBES: Final = 3


class Lab:
    """The embedded lab: one world per trial, in wall or virtual time; its components are processes."""

    name = lab_capabilities.NAME
    campaign_clock: ClockMode = "Virtual"
    data_plane = "Twin"
    versions = (read_kubernetes_version(), describe_engine())

    def __init__(self, name: str) -> None:
        self._state = LabState.load(name)
        self._lock = threading.Lock()
        self._checked_at = 0.0
        self._dead: Sequence[DeadPart] = ()
        self._started: Container[str] = ()

    def offers(self, capability: Capability, argument: str, clock: str) -> bool:
        """See ``TrialPlatform``."""
        return lab_capabilities.offers_capability(capability, argument, clock=clock)

    def check_platform(self) -> Sequence[PlatformCheck]:
        """See ``TrialPlatform``: a lab's components are part of the kit."""
        return ()

    def open_clock(self, trial: str, spec: TrialSpec) -> Clock:
        """See ``TrialPlatform``."""
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
        """See ``TrialPlatform``."""
        return has_world(self._state.server_url, self._state.server_token, trial)

    def close_clock(self, trial: str) -> None:
        """See ``TrialPlatform``."""
        close_world(self._state.server_url, self._state.server_token, trial)

    def health(self, needs: PlatformNeeds) -> Sequence[str]:
        """Describe needed components that died, each with the tail of its log; checked once a second at most."""
        with self._lock:
            if time.monotonic() - self._checked_at > _HEALTH_SECONDS:
                state = LabState.load(self._state.name)
                self._dead, self._started = state.dead_parts(), frozenset(state.list_started())
                self._checked_at = time.monotonic()
            dead = [str(p) for p in self._dead if _is_needed(p.name, needs)]
            return dead + _find_missing_engine(self._started, needs)

    def diagnose(self, needs: PlatformNeeds) -> Sequence[str]:
        """See ``TrialPlatform``: a stopped process is alive but does not answer."""
        state = LabState.load(self._state.name)
        dead = [str(p) for p in state.dead_parts() if _is_needed(p.name, needs)]
        if dead := dead + _find_missing_engine(state.list_started(), needs):
            return dead
        probe, parts = supervisor.HealthProbe(state), [p for p in state.parts if _is_needed(p.name, needs)]
        with ThreadPoolExecutor(len(parts)) as pool:
            found = pool.map(lambda part: (part.name, _find_lasting_problem(lambda: probe.find_problem(part))), parts)
            return [f"{name}: {problem}" for name, problem in found if problem]


def _find_missing_engine(started: Container[str], needs: PlatformNeeds) -> list[str]:
    if not needs.chaos or chaos_manager.PART in started:
        return []
    return [f"{chaos_manager.PART} is not started; `scenario-kit lab up` adds it to the lab"]


def _is_needed(part: str, needs: PlatformNeeds) -> bool:
    return needs.chaos or part != chaos_manager.PART


def _find_lasting_problem(probe: Callable[[], str]) -> str:
    """Return a problem that every probe reports; on a busy machine a single probe may time out."""
    for _ in range(_PROBES):
        if not (problem := probe()):
            return ""
    return problem
