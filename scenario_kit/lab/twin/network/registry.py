"""Service registries: registered names, and what callers know of them.

A registry keeps its content in memory, and a restarted one is empty. Without heartbeats, services register once, at
their start, and stay listed when they are gone. With heartbeats, they register again where they are not listed, and
leave when they are told to end; what is not renewed is listed until its lease expires.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from scenario_kit.lab.twin.network.endpoints import Destination
from scenario_kit.lab.twin.process.process import Process, ProcessKey
from scenario_kit.lab.twin.process.process_table import ProcessTable
from scenario_kit.model.kubernetes.status import is_terminating
from scenario_kit.model.twin.address import RegistryModel
from scenario_kit.model.twin.definition import TwinDefinition


@dataclass(slots=True)
class _NameWatch:
    """A caller's view of a name: the registry process it is from, since when it has seen another, when it was read."""

    source: ProcessKey | None = None
    other: ProcessKey | None = None
    since: float = 0.0
    read_at: float = float("-inf")
    known: tuple[Destination, ...] = ()


class ServiceRegistries:
    """The content of all registries of a world, and what all callers know of it."""

    def __init__(self, parameters: TwinDefinition) -> None:
        self._models = {model.component: model for model in parameters.registries}
        self._content: dict[ProcessKey, dict[str, dict[Destination, float]]] = {}
        self._watches: dict[tuple[ProcessKey, str, str], _NameWatch] = {}
        self._beats: dict[tuple[ProcessKey, str, str], float] = {}

    def is_due(self, process: Process, component: str, name: str, now: float) -> bool:
        """Return whether a process announces itself now: first, and with heartbeats again after each interval."""
        interval = self._find_model(component).heartbeat_seconds
        last = self._beats.get((process.key, component, name))
        if last is not None and (not interval or now - last < interval):
            return False
        self._beats[process.key, component, name] = now
        return True

    def leaves(self, process: Process, component: str) -> bool:
        """Return whether a process that is told to end takes itself off the list, as clients with heartbeats do."""
        return is_terminating(process.pod) and self._find_model(component).heartbeat_seconds > 0

    def announce(self, registry: Process, name: str, process: Process, now: float = 0.0) -> None:
        """Register a process under its address and first port, or renew its entry."""
        listed = self._content.setdefault(registry.key, {}).setdefault(name, {})
        if process.listeners and process.ip:
            listed[Destination(process.ip, process.listeners[0].number)] = now

    def withdraw(self, registry: Process, name: str, process: Process) -> None:
        """Take a process off the list."""
        listed = self._content.get(registry.key, {}).get(name, {})
        for place in [place for place in listed if place.ip == process.ip]:
            del listed[place]

    def expire(self, process_table: ProcessTable, now: float) -> None:
        """Drop entries whose lease has ended."""
        for key, names in self._content.items():
            registry = process_table.get(key)
            lease = self._find_model(registry.component).lease_seconds if registry is not None else 0.0
            for listed in names.values() if lease else ():
                for place in [place for place, renewed in listed.items() if now - renewed > lease]:
                    del listed[place]

    def listed(self, registry: Process) -> Mapping[str, tuple[Destination, ...]]:
        """Return the content of a registry process."""
        return {name: tuple(entries) for name, entries in self._content.get(registry.key, {}).items()}

    def watch(
        self, caller: Process, component: str, name: str, registry: Process | None, now: float
    ) -> tuple[Destination, ...]:
        """Return the addresses of a name known to a caller at ``now``; ``registry`` is None while unreachable."""
        model = self._find_model(component)
        watch = self._watches.setdefault((caller.key, component, name), _NameWatch())
        if registry is None:
            watch.other = None
            return watch.known
        if model.fetch_seconds:
            if now - watch.read_at < model.fetch_seconds:
                return watch.known
        elif watch.source not in (None, registry.key):
            if watch.other != registry.key:
                watch.other, watch.since = registry.key, now
            if now - watch.since < model.resolve_seconds:
                return watch.known
        watch.source, watch.other, watch.read_at = registry.key, None, now
        watch.known = tuple(self._content.get(registry.key, {}).get(name, ()))
        return watch.known

    def forget(self, process_table: ProcessTable) -> None:
        """Drop the state of ended processes."""
        self._content = {key: content for key, content in self._content.items() if process_table.get(key) is not None}
        self._watches = {key: watch for key, watch in self._watches.items() if process_table.get(key[0]) is not None}
        self._beats = {key: last for key, last in self._beats.items() if process_table.get(key[0]) is not None}

    def _find_model(self, component: str) -> RegistryModel:
        return self._models.get(component) or RegistryModel(component=component, resolve_seconds=0.0)
