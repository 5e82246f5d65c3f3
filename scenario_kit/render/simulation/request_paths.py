"""Components and calls on the path of user requests, traced through the operations of the twin."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from scenario_kit.model import App
from scenario_kit.model.twin.definition import TwinDefinition
from scenario_kit.model.twin.operation import Step


@dataclass(frozen=True, slots=True)
class RequestPaths:
    """The components on the path of user requests and the (caller, callee) pairs between them.

    Calls made only at startup, on cache misses or by browsers are excluded. ``starts`` are the (component, dependency)
    pairs of start-up dependencies.
    """

    parts: set[str] = field(default_factory=set)
    calls: set[tuple[str, str]] = field(default_factory=set)
    starts: set[tuple[str, str]] = field(default_factory=set)


def trace_traffic(app: App) -> RequestPaths | None:
    """Trace the traffic of simulated users; None for an app without a twin."""
    return None if app.twin is None else _Tracer(app.twin).trace()


class _Tracer:
    def __init__(self, twin: TwinDefinition) -> None:
        self._load, self._components = twin.load, twin.components
        self._seen: set[tuple[str, str, str]] = set()
        self._found = RequestPaths()

    def trace(self) -> RequestPaths:
        source = self._load.component
        self._found.parts.add(source)
        for route in self._load.routes:
            self._visit_call(source, self._load.entry, route)
        for name, component in self._components.items():
            self._found.starts.update((name, need.callee) for need in component.start.dependencies)
        waiting = [(name, consumer) for name, component in self._components.items() for consumer in component.consumers]
        while fed := [(name, consumer) for name, consumer in waiting if consumer.queue in self._found.parts]:
            waiting = [each for each in waiting if each not in fed]
            for name, consumer in fed:
                self._found.calls.add((name, consumer.queue))
                self._visit_operation(name, consumer.operation, "")
        return self._found

    def _visit_call(self, caller: str, call: str, route: str) -> None:
        callee, _, operation = call.partition("/")
        self._found.calls.add((caller, callee))
        self._visit_operation(callee, operation.replace("{route}", route), route)

    def _visit_operation(self, name: str, operation: str, route: str) -> None:
        if (name, operation, route) in self._seen:
            return
        self._seen.add((name, operation, route))
        self._found.parts.add(name)
        model = self._components.get(name)
        known = model.operations.get(operation) if model is not None else None
        self._visit_steps(name, known.steps if known is not None else (), route)

    def _visit_steps(self, name: str, steps: Iterable[Step], route: str) -> None:
        for step in steps:
            if step.call:
                self._visit_call(name, step.call, step.route or route)
            if not step.keys:  # nested steps only run on cache misses
                self._visit_steps(name, step.steps, route)
