"""The twin of one world: runs its parts tick by tick."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from scenario_kit.lab.twin.call_tree.spans import SpanMetrics
from scenario_kit.lab.twin.call_tree.tree import TreeBuilder
from scenario_kit.lab.twin.cluster.cluster_view import Telemetry, View
from scenario_kit.lab.twin.network import network_io
from scenario_kit.lab.twin.network.connections import Connections, Link, LinkKey, NetworkTick
from scenario_kit.lab.twin.network.dialling import dial, read_address
from scenario_kit.lab.twin.network.endpoints import Network
from scenario_kit.lab.twin.network.registry import ServiceRegistries
from scenario_kit.lab.twin.numeric.random_streams import Streams
from scenario_kit.lab.twin.outcome import ConnectionOutcome
from scenario_kit.lab.twin.process import exporters, time_chaos
from scenario_kit.lab.twin.process.logs import LogBuffer
from scenario_kit.lab.twin.process.process import Process, ProcessKey, holds
from scenario_kit.lab.twin.process.process_table import ProcessTable
from scenario_kit.lab.twin.requests.broker import Queues
from scenario_kit.lab.twin.requests.load_generator import LoadGenerators
from scenario_kit.lab.twin.requests.request_executor import Flow, Moment
from scenario_kit.lab.twin.runtime.flags import Active, Flags
from scenario_kit.lab.twin.runtime.io_chaos import Disks
from scenario_kit.lab.twin.runtime.jvm_chaos import Java, Rule
from scenario_kit.lab.twin.runtime.resources import Resources
from scenario_kit.lab.twin.startup.client_commands import Sessions
from scenario_kit.lab.twin.startup.probes import Probes
from scenario_kit.lab.twin.startup.process_start import Startup
from scenario_kit.lab.twin.startup.process_stop import find_stop
from scenario_kit.lab.twin.traces.assembly import develop
from scenario_kit.lab.twin.traces.hung_calls import HungCallTracker
from scenario_kit.lab.twin.traces.span_buffer import SpanBuffer
from scenario_kit.model.authored.app import App
from scenario_kit.model.base import Object
from scenario_kit.model.chaos.effects import Ledger
from scenario_kit.model.kubernetes.pod_spec import find_container
from scenario_kit.model.runtime.process import Exit, InitState, Lag, LogRecord, ProcessStart, SeriesId, Stop
from scenario_kit.model.runtime.trace import Trace
from scenario_kit.model.twin.definition import TwinDefinition
from scenario_kit.model.twin.edge import Edge

_NOTHING = View("", {}, Ledger(), -1)


class Twin:
    """The simulated data plane of one app's namespaces.

    The same seed and the same sequence of views and times give the same telemetry, whatever the names of pods, nodes
    and addresses. ``assumptions`` override values that the app's definition marks as uncertain.

    Raises:
        ValueError: the app has no twin, its definition is inconsistent, or an assumption is unknown.
    """

    def __init__(self, app: App, seed: int, assumptions: Mapping[str, float] | None = None) -> None:
        if app.twin is None:
            raise ValueError(f"{app.name} {app.version} has no twin; it runs on real clusters only")
        self._parameters = _add_telemetry(app.twin.with_assumptions(assumptions) if assumptions else app.twin)
        self._streams = Streams(seed)
        self._process_table = ProcessTable(self._parameters)
        self._registries = ServiceRegistries(self._parameters)
        self._connections = Connections(
            self._parameters.edges, self._parameters.constants, self._streams, self._registries
        )
        self._flags = Flags(self._parameters.flags)
        self._sessions = Sessions(app.clients)
        self._startup = Startup(self._parameters, app.images, self._process_table, self._sessions)
        self._probes = Probes(self._parameters, self._process_table, self._streams)
        self._java = Java(app, self._parameters)
        self._disks = Disks(self._parameters, self._streams)
        self._resources = Resources(self._parameters.constants, self._streams)
        planter = TreeBuilder(self._parameters)
        self._routes, self._consumers = planter.routes(), planter.consumers()
        self._spans = SpanMetrics()
        self._hangs = HungCallTracker(self._parameters.constants.tcp_timeout_seconds)
        self._logs = LogBuffer()
        self._span_buffer = SpanBuffer(seed)
        self._flow = Flow(self._parameters, self._streams, self._spans, self._hangs, self._logs, self._span_buffer)
        crowds = {name: planter.tasks(crowd) for name, crowd in self._parameters.load.user_classes.items()}
        flags = self._parameters.flags
        items = flags is not None and any(each.per_item for effects in flags.effects.values() for each in effects)
        self._load = LoadGenerators(self._parameters.load, self._routes, crowds, self._streams, items)
        self._queues = Queues(self._parameters, self._consumers, self._spans)
        self._by_caller: dict[str, list[int]] = {}
        for number, edge in enumerate(self._parameters.edges):
            self._by_caller.setdefault(edge.caller, []).append(number)
        self._view = _NOTHING
        self._network = Network(_NOTHING, self._process_table)
        self._effects: dict[ProcessKey, tuple[Active, ...]] = {}
        self._collectors: set[ProcessKey] = set()
        self._tick = 0
        self._now = float("inf")

    def observe(self, view: View) -> None:
        """Update to a view without advancing time, for questions about processes."""
        self._view = view
        if self._process_table.observe(view, self._now):
            self._network = Network(view, self._process_table)
            self._connections.forget(self._process_table)
            self._queues.forget(self._process_table)
            self._registries.forget(self._process_table)

    def step(self, view: View, t: float, dt: float) -> Telemetry:
        """Simulate the ``dt`` seconds up to ``t`` with the namespaces as in ``view``."""
        start, self._now = t - dt, t
        self._tick += 1
        self._streams.at(self._tick)
        self.observe(view)
        decided, failed = self._startup.run(self._network, t)
        changed, ended = self._sessions.advance(view, self._network, self._process_table, t, dt)
        if changed or decided:
            self._connections.redial()
        self._announce(t)
        links = self._links(start, t)
        self._spare(links, start)
        self._disks.begin(self._process_table.processes.values(), view.ledger, start)
        time_chaos.note(self._process_table.processes.values(), view.ledger, start)
        self._hangs.release(links, self._process_table.processes, start, self._spans)
        moment = Moment(start, t, links, self._effects)
        self._replan(moment)
        self._flow.at(moment)
        self._load.run(
            self._process_table.of(self._parameters.load.component), self._flow, links, self._effects, start, t
        )
        self._queues.run(self._process_table, self._flow)
        processes = [p for group in self._process_table.by_component.values() for p in group]
        connected = self._count_connections(links)
        self._disks.end(processes, t, dt, self._logs)
        for process in processes:
            for gate in process.gates.values():
                gate.close(dt)
            process.bucket.close(dt)
            process.store_state.connected = connected.get(process.key, 0)
        usage, exits = self._resources.account(processes, self._effects, connected, view.ledger, t, dt)
        exits = [*failed, *ended, *exits, *self._list_crashed(processes, t)]
        if exits:
            self._connections.redial()
        samples = self._collect(view, connected, t)
        self._span_buffer.close(t, bool(self._collectors), self._hangs.ended)
        lines = sorted([*self._logs.take(), *self._log_starts(t)], key=lambda line: line.t)
        return Telemetry(samples, lines, usage, exits, network_io.drain(processes, dt))

    def traces(self, since: float, until: float) -> list[Trace]:
        """Return a sample of the traces that started between two times, oldest first."""
        return develop(self._span_buffer, self._parameters.edges, self._view.namespace, since, until)

    def image_exists(self, image: str) -> bool:
        """Return whether a registry has this image."""
        return self._startup.image_exists(image)

    def has_program(self, image: str, program: str) -> bool:
        """Return whether the image is known to contain this program."""
        return holds(self._parameters, image, program) or self._sessions.has_program(image, program)

    def start(self, pod: Object, container: str, now: float) -> ProcessStart:
        """Return how a container's process that starts now comes up."""
        return self._startup.start(self._view, self._network, pod, container, now)

    def init(self, pod: Object, container: str, now: float) -> InitState:
        """Return the state of a started init container."""
        return self._startup.init(self._view, self._network, pod, container, now)

    def stop(self, pod: Object, container: str, now: float) -> Stop:
        """Return how a container's program ends that gets SIGTERM."""
        del now
        process = self._process_table.find(pod["metadata"]["uid"], container)
        return find_stop(pod, find_container(pod["spec"], container), process)

    def explain_attach_failure(self, spec: Object) -> Literal["", "NoJava", "NoShell"]:
        """Return why no agent can be loaded into a container's program; empty if one can."""
        return self._java.explain_attach_failure(spec)

    def unknown(self, spec: Object, rules: Sequence[Rule]) -> str:
        """Return which of these agent rules are not modelled for a container's program; empty if all are."""
        return self._java.unknown(spec, rules)

    def volumes(self, spec: Object) -> tuple[str, ...]:
        """Return the volumes declared by a container's image."""
        return self._disks.volumes(spec)

    def answers(self, pod: Object, container: str, port: int, path: str | None, now: float) -> bool:
        """Return whether a probe of a running container succeeds."""
        return self._probes.answers(self._effects, pod, container, port, path, now)

    def lag(self, pod: Object, container: str, port: int, path: str | None, now: float) -> Lag:
        """Return the latency of a successful probe that begins at ``now``."""
        return self._probes.lag(self._network, pod, container, port, path, now)

    def _links(self, start: float, end: float) -> dict[LinkKey, Link]:
        """Return the links of every process with the flags' effects; flags are evaluated first, since they may
        redirect calls.
        """
        links: dict[LinkKey, Link] = {}
        effects: dict[ProcessKey, tuple[Active, ...]] = {}
        flags = self._parameters.flags
        for process in self._process_table.processes.values():
            numbers = self._by_caller.get(process.component, ())
            way: Link | None = None
            redirects: dict[str, str] = {}
            if flags is not None:
                for number in numbers:
                    if self._parameters.edges[number].callee == flags.component:
                        way = self._link(process, number, start, end, "")
                        links[way.key] = way
                effects[process.key] = self._flags.effects(process, way)
                redirects = {e.redirect: e.redirect_to for e in effects[process.key] if e.redirect}
            for number in numbers:
                callee = self._parameters.edges[number].callee
                if flags is None or callee != flags.component:
                    edge = self._parameters.edges[number]
                    address = redirects.get(callee, "") or self._handed_out(edge)
                    link = self._link(process, number, start, end, address)
                    links[link.key] = link
                    if self._is_collector(callee) and edge.service:
                        process.others_export[edge.service] = link.works
                    elif self._is_collector(callee):
                        process.exports = link.works
        for process in self._process_table.processes.values():
            if rules := self._java.effects(process, self._view.ledger, start, self._logs):
                effects[process.key] = (*effects.get(process.key, ()), *rules)
        self._effects = effects
        self._probes.note(links)
        return links

    def _replan(self, moment: Moment) -> None:
        """Let requests whose lost messages are still to be sent again go on as the paths are now."""
        change = self._flow.replan(self._process_table.processes, moment)
        if change is not None:
            self._spans.reschedule(change)
            self._load.reschedule(change)
            self._queues.reschedule(change)

    def _link(self, process: Process, number: int, start: float, end: float, redirect: str) -> Link:
        return self._connections.link(
            process, number, NetworkTick(self._network, self._process_table, start, end), redirect
        )

    def _handed_out(self, edge: Edge) -> str:
        """Return the address that another component hands out; empty if the caller has its own."""
        source = edge.address
        giver = (
            next((p for p in self._process_table.of(source.component) if not p.ended), None)
            if source.component
            else None
        )
        return giver.env.get(source.env, "") if giver is not None else ""

    def _announce(self, t: float) -> None:
        """Let processes that have come up announce themselves in the registries they reach, or leave them."""
        for process in self._process_table.processes.values():
            if process.model is None or process.ready_at > t or process.ended:
                continue
            for entry in process.model.registrations:
                leaves = self._registries.leaves(process, entry.registry)
                if not leaves and not self._registries.is_due(process, entry.registry, entry.name, t):
                    continue
                edge = self._startup.edge(process.component, entry.registry)
                lanes, _ = dial(edge, read_address(edge.address, process), process, self._network)
                registry = next((lane.target for lane in lanes if lane.outcome == ConnectionOutcome.OK), None)
                if registry is not None and leaves:
                    self._registries.withdraw(registry, entry.name, process)
                elif registry is not None:
                    self._registries.announce(registry, entry.name, process, t)
        self._registries.expire(self._process_table, t)

    def _spare(self, links: Mapping[LinkKey, Link], start: float) -> None:
        """Cancel the pending crash of a process if its callee is back in time."""
        for process in self._process_table.processes.values():
            crash = process.crash
            if crash is not None and crash.at > start and not process.ended:
                link = links.get(LinkKey(process.key, crash.edge))
                if link is not None and link.works:
                    process.crash = None

    @staticmethod
    def _list_crashed(processes: Sequence[Process], t: float) -> list[Exit]:
        """List processes that crashed."""
        result = []
        for process in processes:
            if process.crash is not None and process.crash_at <= t and not process.ended:
                process.ended = True
                result.append(Exit(process.key.pod_uid, process.key.container, process.crash.code, "Error"))
        return result

    def _is_collector(self, component: str) -> bool:
        return self._parameters.collector is not None and component == self._parameters.collector.component

    def _count_connections(self, links: Mapping[LinkKey, Link]) -> dict[ProcessKey, int]:
        """Count the long-lived connections that each process has accepted."""
        result: dict[ProcessKey, int] = {}
        for key, link in links.items():
            edge = self._parameters.edges[key.edge]
            target = link.lanes[0].target
            if target is not None and edge.reuse_connection and edge.protocol != "http":
                result[target.key] = result.get(target.key, 0) + 1
        return result

    def _collect(self, view: View, connected: Mapping[ProcessKey, int], now: float) -> dict[SeriesId, float]:
        """Collect the collector's series; none without a collector, and from zero after it was replaced."""
        collector = self._parameters.collector
        alive = [p for p in self._process_table.of(collector.component) if p.serves(now)] if collector else []
        present = {p.key for p in alive}
        if not present:
            self._spans.flush_lost(now)
            self._collectors = set()
            return {}
        if not present & self._collectors:
            self._spans.reset()
        self._collectors = present
        self._spans.flush(now)
        samples = self._spans.samples(view.namespace)
        samples.update(self._queues.client_samples(self._process_table, view.namespace, now))
        samples.update(self._java.samples(self._process_table.processes.values(), view.namespace, now))
        samples.update(self._read_stores(alive[0], connected, view.namespace, now))
        return samples

    def _read_stores(
        self, collector: Process, connected: Mapping[ProcessKey, int], namespace: str, now: float
    ) -> dict[SeriesId, float]:
        samples: dict[SeriesId, float] = {}
        for exporter in self._parameters.exporters:
            for process in self._reachable(collector, exporter.component, exporter.port, now):
                memory = self._resources.memory(process, connected.get(process.key, 0))
                samples.update(exporters.build_samples(exporter, process, connected, memory, namespace, now))
        for queue in self._parameters.queues:
            for process in self._reachable(collector, queue.component, queue.port, now):
                samples.update(self._queues.samples(queue, process, self._process_table, namespace, now))
        return samples

    def _reachable(self, collector: Process, component: str, port: int, now: float) -> Sequence[Process]:
        return [
            process
            for process in self._process_table.of(component)
            if process.serves(now)
            and process.listener(port) is not None
            and not self._network.wire(collector, process.pod, port).cut
        ]

    def _log_starts(self, t: float) -> list[LogRecord]:
        lines: list[LogRecord] = []
        later: list[LogRecord] = []
        for line in self._startup.lines:
            (lines if line.t <= t else later).append(line)
        self._startup.lines = later
        return lines


def _add_telemetry(parameters: TwinDefinition) -> TwinDefinition:
    """Model the export of spans as calls: add an edge from each instrumented component to the collector."""
    if parameters.collector is None:
        return parameters
    callee = parameters.collector.component
    extra = tuple(
        Edge(caller=name, callee=callee, protocol=model.telemetry_protocol, address=model.telemetry)
        for name, model in parameters.components.items()
        if model.telemetry is not None
    )
    return msgspec.structs.replace(parameters, edges=(*parameters.edges, *extra))
