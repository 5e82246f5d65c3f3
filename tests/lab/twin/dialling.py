"""One caller, one edge and its surroundings at an instant: the fixture of connection tests."""

from types import SimpleNamespace
from typing import Any

from scenario_kit.lab.twin.network.connections import Connections, Link, NetworkTick
from scenario_kit.lab.twin.network.dialling import ConnectionLane
from scenario_kit.lab.twin.network.endpoints import Network
from scenario_kit.lab.twin.network.registry import ServiceRegistries
from scenario_kit.lab.twin.numeric.random_streams import Streams
from scenario_kit.lab.twin.process.process import Listener, Process, ProcessKey
from scenario_kit.model import ContainerEffect, NetworkEffect
from scenario_kit.model.twin.address import AddressSource
from scenario_kit.model.twin.component import ComponentModel
from scenario_kit.model.twin.decode import decode
from scenario_kit.model.twin.definition import TwinConstants, TwinDefinition
from scenario_kit.model.twin.edge import Edge
from tests.lab.twin.net import endpoint, endpoints, network, pod, service

CALLER = "web"
CALLEE = "store"
PORT = 7000
ADDRESS = "10.96.0.1"


def edge(protocol: Any = "grpc", text: str = f"{CALLEE}:{PORT}", default_port: int = 0, **fields: Any) -> Edge:
    """Build the address that the caller dials."""
    address = AddressSource(text=text, default_port=default_port)
    return Edge(caller=CALLER, callee=CALLEE, protocol=protocol, address=address, **fields)


def process(
    name: str, ip: str, component: str = CALLEE, protocol: str = "grpc", port: int = PORT, **fields: Any
) -> Process:
    """A process that runs in a pod of its own and listens on one port (0: on none)."""
    program = fields.pop("program", "")
    known: dict[str, Any] = {
        "key": ProcessKey(name, "main", "1"),
        "pod": _running(pod(name, ip, ports=[{"containerPort": PORT}])),
        "spec": {"name": "main"},
        "image": "example.org/x:1",
        "component": component,
        "model": ComponentModel(image="*", program=program) if component else None,
        "idle": False,
        "env": {},
        "started_at": 0.0,
        "ready_at": 0.0,
        "start_cpu": 0.0,
        "logins": (),
        "databases": frozenset(),
        "files": {},
        "listeners": (Listener(port, protocol),) if port else (),
    }
    return Process(**{**known, **fields})


class Surroundings:
    """What exists now; tests change ``processes``, ``behind``, ``effects`` and ``more``, and look again."""

    def __init__(self, of: Edge, *behind: Process, parameters: TwinDefinition | None = None, **caller: Any) -> None:
        self.edge = of
        self.caller = process(CALLER, "10.0.0.1", CALLER, port=0, **caller)
        self.processes = list(behind)
        self.behind = list(behind)
        self.served = True
        self.effects: tuple[NetworkEffect, ...] = ()
        self.proxies: tuple[ContainerEffect, ...] = ()
        self.more: tuple[dict[str, Any], ...] = ()
        self.programs: dict[str, str] = {}
        self.registries = ServiceRegistries(parameters or _no_registries())
        self.connections = Connections((of,), TwinConstants(), Streams(1), self.registries)
        self.network: Network | None = None

    def process_table(self) -> Any:
        known = {p.key: p for p in (self.caller, *self.processes)}
        return SimpleNamespace(get=known.get)

    def change(self) -> Network:
        """The network of what exists now."""
        self.network = network(
            self.caller.pod,
            *(p.pod for p in self.processes),
            *([service(CALLEE, ADDRESS, {"name": "p", "port": PORT})] if self.served else []),
            endpoints(CALLEE, *(endpoint(p.ip) for p in self.behind), p=PORT),
            *self.more,
            effects=self.effects,
            containers=self.proxies,
            processes=tuple(self.processes),
            programs=self.programs,
        )
        return self.network

    def link(self, start: float, end: float | None = None, redirect: str = "", *, changed: bool = True) -> Link:
        """Return the caller's link in a tick of 15 s."""
        now = self.change() if changed or self.network is None else self.network
        end = start + 15.0 if end is None else end
        return self.connections.link(self.caller, 0, NetworkTick(now, self.process_table(), start, end), redirect)

    def lane(self, start: float, end: float | None = None, redirect: str = "") -> ConnectionLane:
        """The only way that calls may take."""
        (lane,) = self.link(start, end, redirect).lanes
        return lane

    def end(self, one: Process) -> None:
        """A process ends; its container goes on with another one, or none."""
        one.ended = True
        self.processes.remove(one)
        if one in self.behind:
            self.behind.remove(one)
        self.connections.redial()

    def start(self, one: Process) -> None:
        """A process starts, behind the Service."""
        self.processes.append(one)
        self.behind.append(one)

    def cut(self, *, whole: bool = True) -> None:
        """All packets of the caller to the callee are lost, or pass again."""
        uid, peers = self.caller.key.pod_uid, (ADDRESS, *(p.ip for p in self.behind))
        self.effects = (NetworkEffect(pod_uid=uid, direction="OUTPUT", drop=True, peers=peers),) if whole else ()


def _running(one: dict[str, Any]) -> dict[str, Any]:
    status = {"containerID": f"containerd://{one['metadata']['name']}", "state": {"running": {}}}
    return one | {"status": one["status"] | {"containerStatuses": [status]}}


def _no_registries() -> TwinDefinition:
    return decode({"components": {}, "load": {"component": "a", "entry": "b/x", "users": {}, "routes": {}}})


def between(protocol: Any = "grpc", **fields: Any) -> tuple[Surroundings, Process]:
    """A caller, and one process behind the Service that it dials."""
    there = process("there", "10.0.0.2", protocol=protocol)
    caller = {"model": fields.pop("model")} if "model" in fields else {}
    return Surroundings(edge(protocol, **fields), there, **caller), there
