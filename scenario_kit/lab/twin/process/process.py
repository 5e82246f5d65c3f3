"""A running container as a process: identity, configuration read at its start, and state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from scenario_kit.lab.twin.numeric.arrays import Floats
from scenario_kit.lab.twin.numeric.cpu_windows import CpuWindows
from scenario_kit.lab.twin.numeric.serial_queue import Bucket, Gate
from scenario_kit.lab.twin.process.response_mixup import Turns
from scenario_kit.lab.twin.process.store_state import StoreState
from scenario_kit.lab.twin.process.toda_volume import Volume
from scenario_kit.model.base import Object
from scenario_kit.model.chaos.effects import ContainerEffect, Ledger
from scenario_kit.model.kubernetes.image import matches_image
from scenario_kit.model.kubernetes.quantity import parse_quantity
from scenario_kit.model.runtime.container_match import match_components
from scenario_kit.model.twin.component import ComponentModel, Need, Port, Resolver
from scenario_kit.model.twin.definition import TwinDefinition

#: The lowest effective CPU limit: the kubelet rounds up to the kernel's minimum, 1 ms of each 100 ms.
_MIN_CORES: Final = 0.01
#: Languages whose programs run one thread at a time: an event loop, or an interpreter with a lock.
_SINGLE_THREADED: Final = frozenset({"node", "python"})


class ProcessKey(NamedTuple):
    """Identifies one run of a container: a restart is another process."""

    pod_uid: str
    container: str
    instance: str


class Listener(NamedTuple):
    """A listening port; ``asks`` are callees on which some of its paths depend."""

    number: int
    protocol: str
    paths: tuple[str, ...] = ("*",)
    asks: Mapping[str, tuple[str, ...]] = {}


class Crash(NamedTuple):
    """A pending exit with time and exit code, unless edge ``edge`` works again before."""

    at: float
    edge: int
    code: int


class Unsent(NamedTuple):
    """Records written to a connection at these times that have not been sent."""

    peer: ProcessKey
    times: Floats


@dataclass(slots=True, eq=False)
class Process:
    """One run of a container. ``component`` is empty for programs that the application's definition does not have.

    ``idle`` programs (pause images) do nothing; ``start_cpu`` are the CPU seconds needed to start.
    ``config`` is the configuration file, None if none is mounted. Fields below ``config`` change while it runs.
    ``slow`` is the factor of its own time, ``queued`` the seconds for which a request waits for the CPU in all, and
    ``windows`` when its container runs, None while nothing contends for its CPU. ``served`` and ``called`` count
    requests and its own calls of a tick, ``bursts`` how often a request needs the CPU: first, and after each call.
    ``bucket`` holds back what it sends where chaos limits the rate.
    ``held`` counts the keys in a cache, by operation; ``store_state`` is the state of a store; after ``flags_awaited``,
    nothing waits for flags. ``exports``, and ``others_export`` for services inside of it, are whether spans reach the
    collector; ``crowd_bytes`` is the memory of its users. ``lacks`` are callees that were unreachable at its start and
    cannot be called. By edge index: ``turns`` are calls that share responses, ``unsent`` records written to a cut
    connection, ``gates`` serialised connection attempts, and ``watched`` the peer of the connection that is traced.
    ``keeps``: records rejected by its store are requested again. ``rules`` are the rules of a JVM agent,
    ``collections`` counts garbage collections triggered by them; ``agent`` is whether one was loaded, ``answer`` the
    error that callers get while rules fail requests. ``flag_answers`` are those of calls that flags fail, by operation.
    ``volume`` is the state of IOChaos; ``clock`` has the clock's offsets and their start times.
    """

    key: ProcessKey
    pod: Object
    spec: Object
    image: str
    component: str
    model: ComponentModel | None
    idle: bool
    env: Mapping[str, str]
    started_at: float
    ready_at: float
    start_cpu: float
    logins: tuple[tuple[str, str], ...]
    databases: frozenset[str]
    files: Mapping[str, str]
    listeners: tuple[Listener, ...]
    config: Mapping[str, str] | None = None
    ordinal: int = 0
    calls: float = 0.0
    operations: dict[str, list[float]] = field(default_factory=dict)
    slow: float = 1.0
    queued: float = 0.0
    windows: CpuWindows | None = None
    served: int = 0
    called: int = 0
    bursts: float = 1.0
    busy_cores: float = 0.0
    leak: float = 0.0
    cpu_seconds: float = 0.0
    received_bytes: float = 0.0
    sent_bytes: float = 0.0
    bucket: Bucket = field(default_factory=Bucket)
    flags_awaited: bool = False
    exports: bool = False
    others_export: dict[str, bool] = field(default_factory=dict)
    crowd_bytes: float = 0.0
    lacks: dict[str, Need] = field(default_factory=dict)
    held: dict[str, float] = field(default_factory=dict)
    spoilt: dict[str, float] = field(default_factory=dict)
    turns: dict[int, Turns] = field(default_factory=dict)
    unsent: dict[int, list[Unsent]] = field(default_factory=dict)
    keeps: bool = False
    gates: dict[int, Gate] = field(default_factory=dict)
    watched: dict[int, ProcessKey | None] = field(default_factory=dict)
    store_state: StoreState = field(default_factory=StoreState)
    rules: frozenset[tuple[str, str, str]] = frozenset()
    agent: bool = False
    answer: str = ""
    flag_answers: dict[str, str] = field(default_factory=dict)
    collections: int = 0
    volume: Volume = field(default_factory=Volume)
    clock: tuple[tuple[float, float], ...] = ()
    crash: Crash | None = None
    ended: bool = False

    @property
    def program(self) -> str:
        """The program: components with the same program are interchangeable."""
        return (self.model.program if self.model else "") or self.component

    @property
    def crash_at(self) -> float:
        """When the process exits by itself; infinite if it does not."""
        return float("inf") if self.crash is None else self.crash.at

    @property
    def name(self) -> str:
        """The pod's name."""
        return str(self.pod["metadata"]["name"])

    @property
    def ip(self) -> str:
        """The pod's address; empty if it has none."""
        return str((self.pod.get("status") or {}).get("podIP") or "")

    @property
    def node(self) -> str:
        """The node's name."""
        return str(self.pod["spec"].get("nodeName") or "")

    @property
    def labels(self) -> Mapping[str, str]:
        """The pod's labels."""
        return self.pod["metadata"].get("labels") or {}

    def limit(self, resource: str) -> float | None:
        """Return the container's limit of cpu (cores) or memory (bytes)."""
        value = ((self.spec.get("resources") or {}).get("limits") or {}).get(resource)
        return None if value in (None, "") else parse_quantity(value)

    @property
    def cores(self) -> float | None:
        """The cores of the container's CPU limit; None without a limit."""
        limit = self.limit("cpu")
        return max(limit, _MIN_CORES) if limit else None

    @property
    def threads(self) -> int:
        """How many of its threads can run at a time; 0 for as many as there are cores."""
        if self.model is None:
            return 0
        return self.model.threads or int(self.model.dialect in _SINGLE_THREADED)

    @property
    def dialect(self) -> str:
        """The language of its program; empty if unknown."""
        return self.model.dialect if self.model else ""

    @property
    def resolver(self) -> Resolver:
        """What resolves the names that its program uses: the program itself, or the C library of its image."""
        match self.dialect:
            case "envoy" | "go" as own:
                return own
            case _:
                return self.model.libc if self.model else "glibc"

    @property
    def start_seconds(self) -> float:
        """The start-up time once its dependencies are available."""
        if self.model is None:
            return 0.0
        return max(self.model.ready_seconds, self.start_cpu / (self.cores or float("inf")))

    def listener(self, port: int) -> Listener | None:
        """Return the listener on a port."""
        return next((entry for entry in self.listeners if entry.number == port), None)

    def serves(self, now: float) -> bool:
        """Return whether it has come up by now, and has not ended."""
        return self.ready_at <= now and not self.ended

    def reports(self, service: str) -> bool:
        """Return whether spans with this service name reach the collector."""
        return self.others_export.get(service, self.exports)

    def tally(self, operation: str, calls: float, errors: float) -> None:
        """Count calls of an operation, for load, exporters and diagnosis."""
        self.calls += calls
        entry = self.operations.setdefault(operation, [0.0, 0.0])
        entry[0] += calls
        entry[1] += errors


def list_injected(process: Process, ledger: Ledger, kind: str) -> list[ContainerEffect]:
    """List the active effects of a chaos kind in a process's container; empty once it has ended."""
    own = process.key.instance.rpartition("://")[2]
    return [
        effect
        for effect in ledger.containers
        if effect.kind == kind
        and effect.pod_uid == process.key.pod_uid
        and effect.container_id.rpartition("://")[2] == own
        and not process.ended
    ]


class Identity(NamedTuple):
    """The component and program of an image."""

    component: str
    model: ComponentModel | None
    idle: bool


def holds(parameters: TwinDefinition, image: str, program: str) -> bool:
    """Return whether a component of a shared image has this program: a bare name or an absolute path."""
    plain = program if "/" not in program else program.rpartition("/")[2] if program.startswith("/") else ""
    return any(
        plain in model.commands and matches_image(image, model.image) for model in parameters.components.values()
    )


def identify(parameters: TwinDefinition, spec: Object) -> Identity:
    """Return the component of a container; None for programs that the application's definition does not have."""
    if any(matches_image(str(spec["image"]), pattern) for pattern in parameters.idle_images):
        return Identity("", None, idle=True)
    component = next(match_components(parameters, spec), "")
    return Identity(component, parameters.components.get(component), idle=False)


def list_listeners(
    identity: Identity, spec: Object, env: Mapping[str, str], config: Mapping[str, str] | None = None
) -> tuple[Listener, ...]:
    """List the ports that a process opens: those of its component, or those that the container declares."""
    if identity.idle:
        return ()
    if identity.model is not None:
        found = ((port, _read_port_number(port, env, config)) for port in identity.model.ports)
        return tuple(
            Listener(number, port.protocol, port.paths, port.health_checks) for port, number in found if number
        )
    return tuple(
        Listener(int(p["containerPort"]), "tcp") for p in spec.get("ports") or () if p.get("protocol", "TCP") == "TCP"
    )


def _read_port_number(port: Port, env: Mapping[str, str], config: Mapping[str, str] | None) -> int:
    if port.key and config is not None:
        text = config.get(port.key, "")
        return int(text) if text.isdigit() else 0
    text = env.get(port.env, "") if port.env else ""
    if not text:
        return port.number
    return int(text) if text.isdigit() else 0  # not opened
