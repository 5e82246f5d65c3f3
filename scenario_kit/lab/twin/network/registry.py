"""Service registries: registered names, and watches of callers.

A registry keeps its content in memory and has no health checks: a dead instance stays listed, and a restarted registry
is empty. Services register once, at their start.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from scenario_kit.lab.twin.network.endpoints import Destination
from scenario_kit.lab.twin.process.process import Process, ProcessKey
from scenario_kit.lab.twin.process.process_table import ProcessTable
from scenario_kit.model.twin.definition import TwinDefinition


@dataclass(slots=True)
class _NameWatch:
    """A caller's watch of a name: the registry process it is from, and since when it has seen another one."""

    source: ProcessKey | None = None
    other: ProcessKey | None = None
    since: float = 0.0
    known: tuple[Destination, ...] = ()


class ServiceRegistries:
    """The content of all registries of a world, and the watches of all callers."""

    def __init__(self, parameters: TwinDefinition) -> None:
        self._seconds = {model.component: model.resolve_seconds for model in parameters.registries}
        self._content: dict[ProcessKey, dict[str, list[Destination]]] = {}
        self._watches: dict[tuple[ProcessKey, str, str], _NameWatch] = {}

    def announce(self, registry: Process, name: str, process: Process) -> None:
        """Register a process under its address and first port."""
        listed = self._content.setdefault(registry.key, {}).setdefault(name, [])
        if process.listeners and process.ip:
            entry = Destination(process.ip, process.listeners[0].number)
            if entry not in listed:
                listed.append(entry)

    def listed(self, registry: Process) -> Mapping[str, tuple[Destination, ...]]:
        """Return the content of a registry process."""
        return {name: tuple(entries) for name, entries in self._content.get(registry.key, {}).items()}

    def watch(
        self, caller: Process, component: str, name: str, registry: Process | None, now: float
    ) -> tuple[Destination, ...]:
        """Return the addresses of a name known to a caller at ``now``; ``registry`` is None while unreachable."""
        watch = self._watches.setdefault((caller.key, component, name), _NameWatch())
        if registry is None:
            watch.other = None
            return watch.known
        if watch.source not in (None, registry.key):
            if watch.other != registry.key:
                watch.other, watch.since = registry.key, now
            if now - watch.since < self._seconds.get(component, 0.0):
                return watch.known
        watch.source, watch.other = registry.key, None
        watch.known = tuple(self._content.get(registry.key, {}).get(name, ()))
        return watch.known

    def forget(self, process_table: ProcessTable) -> None:
        """Drop the state of ended processes."""
        self._content = {key: content for key, content in self._content.items() if process_table.get(key) is not None}
        self._watches = {key: watch for key, watch in self._watches.items() if process_table.get(key[0]) is not None}
