"""A static check of the healthy app, rendered from its manifests: every call must reach its callee."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from scenario_kit.lab.twin.address import Address
from scenario_kit.lab.twin.cluster.cluster_view import View
from scenario_kit.lab.twin.cluster.dns import list_readings
from scenario_kit.lab.twin.healthy_view import build_view, is_selected
from scenario_kit.lab.twin.network.dialling import ConnectionLane, dial, read_address
from scenario_kit.lab.twin.network.endpoints import Network
from scenario_kit.lab.twin.numeric.random_streams import Streams
from scenario_kit.lab.twin.outcome import ConnectionOutcome
from scenario_kit.lab.twin.process.process import Process
from scenario_kit.lab.twin.process.process_table import ProcessTable
from scenario_kit.lab.twin.startup.init_wait import explain_wait, read_script, waits
from scenario_kit.lab.twin.startup.probes import Probes
from scenario_kit.model.authored.app import App
from scenario_kit.model.base import Object
from scenario_kit.model.json_document import Place
from scenario_kit.model.kubernetes.pod_spec import list_serving_containers
from scenario_kit.model.spelling import ask_which, suggest
from scenario_kit.model.twin.definition import TwinDefinition
from scenario_kit.model.twin.edge import Edge

_PROBES: Final = ("startupProbe", "readinessProbe", "livenessProbe")


class Miss(NamedTuple):
    """A mismatch in the healthy app, and the part of the document that contradicts the manifests."""

    text: str
    place: Place


class _Call(NamedTuple):
    """An edge, including those to the collector, and its place in the document."""

    edge: Edge
    place: Place
    what: str


def find_misses(app: App, parameters: TwinDefinition, objects: Sequence[Object]) -> tuple[Miss, ...]:
    """Find mismatches with one pod per workload of the rendered app, and those of StatefulSets, all of them up.

    Components without a workload in the manifests are ignored, since options may exclude them.
    """
    view = build_view(app.namespace, objects)
    process_table = list_processes(parameters, view)
    network = Network(view, process_table)
    stage = _DryRun(app, parameters, view, process_table, network)
    misses = (
        *stage.find_unclaimed(),
        *stage.find_unmet(),
        *stage.find_unready(),
        *stage.find_endless(),
        *stage.find_unused(),
    )
    return tuple(dict.fromkeys(misses))  # pods of a StatefulSet miss the same


def list_processes(parameters: TwinDefinition, view: View) -> ProcessTable:
    """List the processes of all pods of a view, as they have read their configuration."""
    process_table = ProcessTable(parameters)
    process_table.observe(view, 0.0)
    return process_table


class _DryRun:
    def __init__(
        self, app: App, parameters: TwinDefinition, view: View, process_table: ProcessTable, network: Network
    ) -> None:
        self._app, self._parameters = app, parameters
        self._view, self._process_table, self._network = view, process_table, network

    def find_unclaimed(self) -> Iterator[Miss]:
        """Find workloads without a container that runs their component."""
        pods = {(p["metadata"]["namespace"], *p["metadata"]["workload"]): p for p in self._view.list_all("Pod")}
        for component in self._app.components:
            ref = component.workload
            home = self._app.namespace if ref.namespace == "app" else f"{self._app.namespace}-{ref.namespace}"
            pod = pods.get((home, ref.kind, ref.name))
            if pod is None or component.name not in self._parameters.components:
                continue
            if not any(p.component == component.name for p in self._process_table.processes.values() if p.pod is pod):
                runs = ", ".join(f"'{c['name']}' of {c['image']}" for c in list_serving_containers(pod["spec"]))
                place = ("components", component.name, "image")
                message = f"no container of {component.workload} runs it; its containers are {runs}"
                yield Miss(f"{message}; set `image`, `commands`, `arguments` or `container`", place)

    def find_unmet(self) -> Iterator[Miss]:
        """Find calls that reach nothing, or another component."""
        for edge, place, what in self._calls():
            if edge.callee not in self._parameters.components or not self._process_table.of(edge.callee):
                continue  # reported already, or not deployed
            for caller in self._process_table.of(edge.caller)[:1]:
                address = read_address(edge.address, self._giver(edge) or caller)
                if not address.host:
                    if not edge.optional and edge.address.component == "":
                        yield Miss(f"{what} has no address: {_explain_unset(edge, caller)}", place)
                    continue
                lanes, _ = dial(edge, address, caller, self._network)
                bad = next((lane for lane in lanes if lane.outcome != ConnectionOutcome.OK), None)
                if bad is not None or not lanes:
                    yield Miss(f"{what} fails: {self._why(edge, address, bad)}", place)

    def _calls(self) -> Iterator[_Call]:
        for number, edge in enumerate(self._parameters.edges):
            yield _Call(edge, ("edges", number), f"the call from '{edge.caller}' to '{edge.callee}'")
        collector = self._parameters.collector
        for name, model in self._parameters.components.items() if collector is not None else ():
            if model.telemetry is not None and collector is not None:
                edge = Edge(
                    caller=name, callee=collector.component, protocol=model.telemetry_protocol, address=model.telemetry
                )
                what = f"what '{name}' reports to '{collector.component}'"
                yield _Call(edge, ("components", name, "telemetry"), what)

    def _giver(self, edge: Edge) -> Process | None:
        return next(iter(self._process_table.of(edge.address.component)), None) if edge.address.component else None

    def _why(self, edge: Edge, address: Address, lane: ConnectionLane | None) -> str:
        at = f"{address.host}:{address.port}"
        service = self._service(address.host)
        if lane is None or lane.outcome == ConnectionOutcome.NXDOMAIN:
            if unnamed := self._find_unnamed(address.host):
                return unnamed
            question = ask_which(suggest(address.host, [s["metadata"]["name"] for s in self._view.list_all("Service")]))
            hint = f"; {question}" if question else ""
            return f"there is no Service '{address.host}'{hint}" if service is None else f"{at} has no port"
        if lane.outcome == ConnectionOutcome.PROTOCOL_MISMATCH and lane.target is not None:
            listener = lane.target.listener(lane.port)
            if lane.target.component != edge.callee:
                return f"'{lane.target.component or lane.target.image}' listens at {at}, not '{edge.callee}'"
            spoken = listener.protocol if listener else "nothing"
            return f"port {lane.port} of '{edge.callee}' speaks {spoken}, but the call {edge.protocol}"
        if lane.outcome == ConnectionOutcome.AUTHENTICATION_FAILED:
            return f"'{edge.callee}' rejects the user '{address.user}' or its password"
        if lane.outcome == ConnectionOutcome.UNKNOWN_DATABASE:
            return f"'{edge.callee}' has no database '{address.desired}'"
        if lane.outcome == ConnectionOutcome.TLS_MISMATCH:
            return f"the address requires TLS, but '{edge.callee}' has none"
        if (
            lane.outcome in (ConnectionOutcome.CONNECTION_REFUSED, ConnectionOutcome.CONNECTION_TIMEOUT)
            and service is not None
        ):
            return f"nothing listens at {at}: {self._behind(service, address.port, edge.callee)}"
        return f"nothing listens at {at}"

    def _find_unnamed(self, host: str) -> str:
        """Explain a name below that of a Service; empty if there is no such Service."""
        named = ((hostname, self._service(name)) for hostname, name, _ in list_readings(host, "") if hostname)
        hostname, service = next(named, ("", None))
        if service is None:
            return ""
        name, headless = service["metadata"]["name"], service["spec"].get("clusterIP") == "None"
        why = f"no pod of Service/{name} has the name '{hostname}'"
        if headless and not service["spec"].get("selector"):
            return f"{why}: it has no selector, and in a lab no program writes its endpoints"
        return why if headless else f"{why}: it is not headless (`clusterIP: None`)"

    def _service(self, host: str) -> Object | None:
        name = host.partition(".")[0]
        return next((s for s in self._view.list_all("Service") if s["metadata"]["name"] == name), None)

    def _behind(self, service: Object, port: int, callee: str) -> str:
        name, ports = service["metadata"]["name"], service["spec"].get("ports") or ()
        chosen = next((p for p in ports if p["port"] == port), None)
        if chosen is None:
            return f"Service/{name} has " + (", ".join(f"port {p['port']}" for p in ports) or "no port")
        if not any(is_selected(service, pod) for pod in self._view.list_all("Pod")):
            return f"Service/{name} selects no pod"
        open_ports = sorted({listener.number for p in self._process_table.of(callee) for listener in p.listeners})
        there = ", ".join(map(str, open_ports)) or "no port"
        return f"Service/{name} forwards to port {chosen.get('targetPort', port)}, but '{callee}' listens on {there}"

    def find_unused(self) -> Iterator[Miss]:
        """Find a number of users that the load generator's environment does not set and that has no default."""
        load = self._parameters.load
        for process in self._process_table.of(load.component)[:1]:
            for field, setting in (("users", load.users), ("connections", load.connections)):
                if setting is not None and setting.env and setting.env not in process.env and not setting.default:
                    where = f"container '{process.spec['name']}' has no variable {setting.env}"
                    has = ", ".join(list_own_variables(process)) or "none"
                    yield Miss(f"{where}, so there would be no users; it has {has}", ("load", field))

    def find_unready(self) -> Iterator[Miss]:
        """Find probes that a healthy process fails: its pod would never be ready, or restart forever."""
        probes = Probes(self._parameters, self._process_table, Streams(0))
        for pod in self._view.list_all("Pod"):
            for spec in list_serving_containers(pod["spec"]):
                process = self._process_table.find(pod["metadata"]["uid"], spec["name"])
                if process is None or process.model is None:
                    continue
                for kind in _PROBES:
                    target = _read_probe_target(spec, spec.get(kind) or {})
                    if target and not probes.answers({}, pod, spec["name"], target[0], target[1], math.inf):
                        yield self._report_unanswered(pod, process, kind, *target)

    def find_endless(self) -> Iterator[Miss]:
        """Find init containers that never end, though all programs run: they wait for what is not there."""
        for pod in self._view.list_all("Pod"):
            component = next((p.component for p in self._process_table.processes.values() if p.pod is pod), "")
            for spec in pod["spec"].get("initContainers") or ():
                if spec.get("restartPolicy") == "Always":
                    continue
                for wait in waits(read_script(self._view, pod, spec)):
                    if wait.seconds or wait.state(pod, self._network, math.inf) is None:
                        continue
                    owner = "/".join(pod["metadata"]["workload"])
                    message = f"the init container '{spec['name']}' of {owner} {explain_wait(wait)}"
                    yield Miss(message, ("components", component) if component else ("components",))

    @staticmethod
    def _report_unanswered(pod: Object, process: Process, kind: str, port: int, path: str | None) -> Miss:
        workload = "/".join(pod["metadata"]["workload"])
        listener = process.listener(port)
        if listener is None:
            numbers = ", ".join(str(each.number) for each in process.listeners) or "no port"
            why = f"it listens on {numbers}"
        elif path and not path.startswith("grpc:") and listener.protocol in ("http", "tcp"):
            why = f"its `paths` are {', '.join(listener.paths)}"
        else:
            why = f"that port speaks {listener.protocol}"
        asks = f"port {port}" if path is None else f"{path} at port {port}"
        message = f"the {kind} of {workload} requests {asks}, which '{process.component}' does not serve: {why}"
        return Miss(message, ("components", process.component, "ports"))


def list_own_variables(process: Process) -> list[str]:
    """List the variables that the container sets, without those that name Services."""
    return sorted({entry["name"] for entry in process.spec.get("env") or () if entry["name"] in process.env})


def _explain_unset(edge: Edge, caller: Process) -> str:
    """Explain why a caller has no address."""
    source = edge.address
    names = [n for n in (source.env, source.host_env, source.port_env) if n]
    keys = [k for k in (source.key, source.host_key, source.port_key) if k]
    where = f"container '{caller.spec['name']}'"
    if names:
        missing = [n for n in names if not caller.env.get(n)]
        own = list_own_variables(caller)
        return f"{where} has no variable {' and '.join(missing or names)}" + (
            f"; it has {', '.join(own)}" if own else ""
        )
    if keys:
        return f"{where} has no file {caller.model.config if caller.model else ''} with {' and '.join(keys)}"
    return "`address` has neither a variable nor a key nor a text"


def _read_probe_target(spec: Object, probe: Object) -> tuple[int, str | None] | None:
    """Return the port and path of a probe; None for a command."""
    for kind in ("httpGet", "tcpSocket", "grpc"):
        if kind in probe:
            port = probe[kind].get("port", 0)
            named = {p.get("name"): p["containerPort"] for p in spec.get("ports") or ()}
            number = named.get(port, 0) if isinstance(port, str) and not port.isdigit() else int(port)
            path = {"httpGet": probe[kind].get("path", "/").partition("?")[0], "tcpSocket": None}
            return number, path.get(kind, f"grpc:{probe[kind].get('service', '')}")
    return None
