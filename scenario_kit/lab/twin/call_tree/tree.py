"""The call tree of each kind of request, built once from the application's definition."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from scenario_kit.lab.twin.call_tree.spans import SpanName
from scenario_kit.lab.twin.numeric.random_streams import hash_text, mix
from scenario_kit.model.twin.definition import TwinDefinition
from scenario_kit.model.twin.load import Crowd, Route
from scenario_kit.model.twin.operation import Operation, Step
from scenario_kit.model.twin.queue import Consumer

_DEEPEST = 24


class OperationNode(NamedTuple):
    """An operation in a tree. ``key`` seeds its random streams, ``others`` are alternatives selected by flags."""

    component: str
    name: str
    model: Operation
    key: int
    own_seconds: float
    cpu_seconds: float
    server: SpanName | None
    internal: tuple[SpanName, ...]
    log: str
    steps: tuple[CallNode | LoopNode, ...]
    others: tuple[OperationNode, ...] = ()


class CallNode(NamedTuple):
    """A call in a tree. ``edge`` is the index of its edge, ``missing`` the steps after a cache miss."""

    step: Step
    key: int
    edge: int
    client: SpanName | None
    log: str
    operation: OperationNode
    missing: tuple[CallNode | LoopNode, ...] = ()


class LoopNode(NamedTuple):
    """Steps repeated in sequence; ``span`` is that of one round."""

    step: Step
    key: int
    steps: tuple[CallNode | LoopNode, ...]
    span: SpanName | None = None


class RouteNode(NamedTuple):
    """A kind of request: the user's call, and the distributions of the numbers drawn per request."""

    name: str
    per_iteration: float
    draws: Mapping[str, tuple[tuple[float, ...], tuple[float, ...]]]
    call: CallNode


class TaskNode(NamedTuple):
    """A task of a crowd's users: an operation of the load generator itself."""

    name: str
    per_iteration: float
    draws: Mapping[str, tuple[tuple[float, ...], tuple[float, ...]]]
    operation: OperationNode


class ConsumerNode(NamedTuple):
    """A consumer's operation per record."""

    component: str
    model: Consumer
    receive: SpanName | None
    operation: OperationNode
    loop: SpanName | None = None


class TreeBuilder:
    """Build call trees.

    All methods raise ``ValueError`` for a call of an undefined operation, a call without an edge, and a cycle of calls.
    """

    def __init__(self, parameters: TwinDefinition) -> None:
        self._parameters = parameters
        self._edges: dict[tuple[str, str], int] = {
            (e.caller, e.callee): n for n, e in reversed(list(enumerate(parameters.edges)))
        }

    def routes(self) -> tuple[RouteNode, ...]:
        """Build the tree of each route, in the order of the definition."""
        load = self._parameters.load
        result = []
        for name, route in load.routes.items():
            step = Step(call=load.entry, span="{route}")
            call = self._call(step, load.component, name, hash_text(f"route {name}"), 0)
            result.append(RouteNode(name, route.per_iteration, _parse_draws(route), call))
        return tuple(result)

    def tasks(self, crowd: Crowd) -> tuple[TaskNode, ...]:
        """Build the tasks of a crowd, in the order of the definition."""
        component = self._parameters.load.component
        return tuple(
            TaskNode(
                name,
                task.per_iteration,
                _parse_draws(task),
                self._operation(component, name, "", hash_text(f"task {name}"), 0),
            )
            for name, task in crowd.tasks.items()
        )

    def consumers(self) -> tuple[ConsumerNode, ...]:
        """Build the consumers' operations."""
        result = []
        for component, model in self._parameters.components.items():
            for consumer in model.consumers:
                key = hash_text(f"consume {component} {consumer.topic}")
                operation = self._operation(component, consumer.operation, "", key, 0)
                name = consumer.receive_span
                receive = SpanName(component, name, "CONSUMER") if name else None
                loop = SpanName(component, consumer.loop_span, "INTERNAL", True) if consumer.loop_span else None
                result.append(ConsumerNode(component, consumer, receive, operation, loop))
        return tuple(result)

    def _operation(self, component: str, name: str, route: str, key: int, depth: int) -> OperationNode:
        model = self._parameters.components.get(component)
        operation = model.operations.get(name) if model else None
        if model is None or operation is None:
            raise ValueError(f"twin: '{component}/{name}' is called but not defined")
        if depth > _DEEPEST:
            raise ValueError(f"twin: calls in a circle through '{component}/{name}'")
        constants = self._parameters.constants
        own = operation.own_ms * constants.latency_scale / 1000.0
        cpu = (model.cpu_ms if operation.cpu_ms is None else operation.cpu_ms) * constants.cpu_scale / 1000.0
        key = mix(key, hash_text(f"{component}/{name}"))
        traced = model.telemetry is not None
        span = operation.span.replace("{route}", route)
        own_span = SpanName(component, span, operation.kind, model.unset_status, operation.set_status_ok)
        server = own_span if traced and span else None
        inside = [(name, model.unset_status) for name in operation.internal_spans] + [
            (name, True) for name in operation.unset_status
        ]
        internal = tuple(
            SpanName(component, name.replace("{route}", route), "INTERNAL", blind) for name, blind in inside if traced
        )
        steps = self._steps(operation.steps, component, operation.service, route, key, depth)
        log = operation.log.replace("{route}", route)
        others = tuple(
            self._operation(component, other, route, key, depth + 1) for other in self._others(component, name)
        )
        return OperationNode(component, name, operation, key, own, cpu, server, internal, log, steps, others)

    def _others(self, component: str, name: str) -> tuple[str, ...]:
        """Return the operations that flags may substitute for this one."""
        flags = self._parameters.flags
        effects = [e for each in flags.effects.values() for e in each] if flags is not None else []
        return tuple(
            e.replacement_operation
            for e in effects
            if (e.component, e.operation) == (component, name) and e.replacement_operation
        )

    def _steps(
        self, steps: tuple[Step, ...], component: str, service: str, route: str, key: int, depth: int
    ) -> tuple[CallNode | LoopNode, ...]:
        return tuple(
            self._call(step, component, route, mix(key, number + 1), depth, service)
            if step.call
            else self._loop(step, component, service, route, mix(key, number + 1), depth)
            for number, step in enumerate(steps)
        )

    def _loop(self, step: Step, component: str, service: str, route: str, key: int, depth: int) -> LoopNode:
        model = self._parameters.components[component]
        traced, blind = step.span and model.telemetry is not None, step.unset_status or model.unset_status
        span = SpanName(service or component, step.span, "INTERNAL", blind) if traced else None
        return LoopNode(step, key, self._steps(step.steps, component, service, route, key, depth), span)

    def _call(self, step: Step, caller: str, route: str, key: int, depth: int, service: str = "") -> CallNode:
        route = step.route or route
        component, _, name = step.call.replace("{route}", route).partition("/")
        if (caller, component) not in self._edges:
            raise ValueError(f"twin: '{caller}' calls '{component}', but there is no edge between them")
        operation = self._operation(component, name, route, key, depth + 1)
        model = self._parameters.components[caller]
        span = step.span.replace("{route}", route) or operation.model.span.replace("{route}", route)
        reported = span and model.telemetry is not None
        client = (
            SpanName(service or caller, span, step.kind, step.unset_status or model.unset_status) if reported else None
        )
        log = step.log.replace("{route}", route)
        missing = self._steps(step.steps, caller, service, route, mix(key, hash_text("missing")), depth)
        return CallNode(step, key, self._edges[caller, component], client, log, operation, missing)


def _parse_draws(route: Route) -> dict[str, tuple[tuple[float, ...], tuple[float, ...]]]:
    return {key: (tuple(float(v) for v in table), tuple(table.values())) for key, table in route.draws.items()}
