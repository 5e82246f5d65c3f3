"""Which parts of an app requests of users pass, by the steps that the app's twin tells of every operation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from scenario_kit.model import App
from scenario_kit.model.twin.definition import TwinDefinition
from scenario_kit.model.twin.operation import Step


@dataclass(frozen=True, slots=True)
class RequestPaths:
    """``parts`` are components that work for users, ``calls`` are caller and callee of what they ask for meanwhile.

    What a program asks for only when it starts, when a cache is cold or when browsers come is not among them.
    ``starts`` are those who do not work unless they have reached somebody since they started, and whom.
    """

    parts: set[str] = field(default_factory=set)
    calls: set[tuple[str, str]] = field(default_factory=set)
    starts: set[tuple[str, str]] = field(default_factory=set)


def trace_traffic(app: App) -> RequestPaths | None:
    """Trace the traffic of ordinary users; None for an app without a twin, of which nobody knows."""
    return None if app.twin is None else _Walk(app.twin).whole()


class _Walk:
    def __init__(self, twin: TwinDefinition) -> None:
        self._load, self._components = twin.load, twin.components
        self._seen: set[tuple[str, str, str]] = set()
        self._found = RequestPaths()

    def whole(self) -> RequestPaths:
        source = self._load.component
        self._found.parts.add(source)
        for route in self._load.routes:
            self._call(source, self._load.entry, route)
        for name, component in self._components.items():
            self._found.starts.update((name, need.callee) for need in component.start.dependencies)
            for consumer in component.consumers:
                if consumer.queue in self._found.parts:
                    self._found.calls.add((name, consumer.queue))
                    self._operation(name, consumer.operation, "")
        return self._found

    def _call(self, caller: str, call: str, route: str) -> None:
        callee, _, operation = call.partition("/")
        self._found.calls.add((caller, callee))
        self._operation(callee, operation.replace("{route}", route), route)

    def _operation(self, name: str, operation: str, route: str) -> None:
        if (name, operation, route) in self._seen:
            return
        self._seen.add((name, operation, route))
        self._found.parts.add(name)
        model = self._components.get(name)
        known = model.operations.get(operation) if model is not None else None
        self._steps(name, known.steps if known is not None else (), route)

    def _steps(self, name: str, steps: Iterable[Step], route: str) -> None:
        for step in steps:
            if step.call:
                self._call(name, step.call, step.route or route)
            if not step.keys:  # what is below asks for keys that a cache has lost
                self._steps(name, step.steps, route)
