"""What an application's definition tells the twin: the content of ``twin.yaml`` as values.

Everything that is particular to an application stands here as data. A text ``$name`` anywhere in the document stands
for the assumption of that name, so that a campaign can vary it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from msgspec import structs

from scenario_kit.lab.twin.address import AddressSource
from scenario_kit.lab.twin.beside import (
    CollectorModel,
    Consumer,
    Database,
    Exporter,
    FlagModel,
    JavaModel,
    Login,
    QueueModel,
    Registration,
    RegistryModel,
)
from scenario_kit.lab.twin.storage import Access, DiskModel
from scenario_kit.model.base import Value

Protocol = Literal["http", "grpc", "redis", "memcached", "sql", "mongodb", "kafka", "tcp", "udp"]
SpanKind = Literal["SERVER", "CLIENT", "INTERNAL", "PRODUCER", "CONSUMER"]

_NAME = re.compile(r"\$([A-Za-z]\w*)")


class Assumption(Value, frozen=True, kw_only=True):
    """A number that nothing upstream settles. A campaign varies it between ``low`` and ``high``."""

    value: float
    low: float
    high: float
    why: str = ""


class Setting(Value, frozen=True, kw_only=True):
    """A number that a process reads from its environment, and what it takes without the variable."""

    env: str = ""
    default: float = 0.0


class Port(Value, frozen=True, kw_only=True):
    """A port that a process listens on: taken from a variable or its configuration file, else fixed.

    ``asks`` are health pages that ask callees: by path, or a pattern of paths, the components without whose answer the
    page reports a failure, and whose answer it waits for.
    """

    env: str = ""
    key: str = ""
    number: int = 0
    protocol: Protocol = "tcp"
    paths: tuple[str, ...] = ("*",)
    asks: Mapping[str, tuple[str, ...]] = {}


class Edge(Value, frozen=True, kw_only=True):
    """One program dials another: address, protocol, and what the caller does on its own account.

    ``timeout_seconds`` 0 means that the caller waits for ever. ``dial_seconds`` is how long it tries to connect where
    that differs, negative for ever; ``silent_seconds`` is when it gives up a connection over which nothing comes, where
    that is sooner than the system does. ``refused_ms`` is how long a refused call takes. When the callee refuses, or
    without ``dial_seconds`` cannot be reached, a call takes ``unreachable_seconds`` more; a callee that comes up
    meanwhile is waited for. Calls that are not
    ``acknowledged`` are done when they are written, which goes on while nothing gets through, until the connection is
    given up. ``shared_answers``: an answer goes to the call that has waited longest (``answers.py``). ``shared`` false
    dials anew for every call. ``timeout_env`` is a variable of the caller that overrides ``timeout_seconds``, and
    ``timeout_else`` counts where that holds anything but a whole number above 0. With a ``registry`` the address is the
    registry's, and calls take turns over what is registered there as ``name``. ``service``: the spans of that service
    go to the collector this way, and not those of the caller itself. ``optional``: a caller without an address goes
    without. ``remembers``: where the name server has no answer, it goes on with the address that it had. ``unchecked``:
    it reads what comes, whatever its status. ``one_by_one``: calls for which there is no connection attempt to make one
    one after another. ``first_only``: calls over another connection than the first one leave no spans. ``unconnected``
    is what the caller then says in place of its client's words. ``product`` is what the callee is where the protocol
    has several, such as ``mysql`` or ``rabbitmq``: clients then speak of that one. ``program`` is the callee's, filled
    in when the document is read.
    """

    caller: str
    callee: str
    protocol: Protocol
    address: AddressSource
    product: str = ""
    timeout_seconds: float = 0.0
    timeout_env: str = ""
    timeout_else: float = 0.0
    dial_seconds: float = 0.0
    silent_seconds: float = 0.0
    registry: str = ""
    name: str = ""
    service: str = ""
    program: str = ""
    retries: int = 0
    shared: bool = True
    remembers: bool = False
    unchecked: bool = False
    optional: bool = False
    refused_ms: float = 1.0
    unreachable_seconds: float = 0.0
    acknowledged: bool = True
    shared_answers: bool = False
    one_by_one: bool = False
    first_only: bool = False
    unconnected: str = ""


class Step(Value, frozen=True, kw_only=True):
    """A part of an operation: a call ``component/operation``, or a loop over ``steps``.

    ``times`` is a number or the name of a draw of the route. ``on_error: Ignore`` goes on; a slow or hanging callee
    still blocks. ``on_error: Crash`` ends the caller's process with ``code``. ``log`` is what the caller prints when
    the call fails: ``{cause}``, ``{host}``, ``{port}`` are known; ``words`` is what ``{cause}`` then stands for in the
    operation's own ``failure``, or all of it where they begin with a code of gRPC. ``route`` is what ``{route}`` stands
    for from here on. ``parallel``: so many ``times`` the same call, side by side and not one after another;
    ``at_once``: a fixed number of them, computed as one batch. ``fork``: all ``steps`` begin at the same time, as with
    a thread for each, and the slowest is waited for. A caller that leaves after ``patience_seconds`` gets an error, and
    its span is never ended. A loop has a ``span`` for each round. A ``blind`` span shows no error. ``each_of``: the
    call is made for each thing that a call of that ``component/operation`` brought before, so not at all where a flag
    empties its answers.

    With ``keys`` the callee is a cache that can hold so many different ones: each call asks for ``keys_per_call`` of
    them (none where the draw ``keys_if`` is 0), and ``steps`` run if one is missing. They fill it unless they fail; a
    new process of the callee holds none. With ``spoils`` the cache is filled even so, with what is no good, and nobody
    notices but a caller further up whose step says ``rejects``: ``cache/operation``, and how many keys of it as
    ``keys_per_call``; it prints ``reject_log``.
    """

    call: str = ""
    steps: tuple[Step, ...] = ()
    times: float | str = 1.0
    parallel: bool = False
    at_once: bool = False
    fork: bool = False
    route: str = ""
    share: float = 1.0
    patience_seconds: float = 0.0
    on_error: Literal["Fail", "Ignore", "Crash"] = "Fail"
    code: int = 2
    keys: float = 0.0
    keys_per_call: float = 1.0
    keys_if: str = ""
    spoils: bool = False
    rejects: str = ""
    reject_log: str = ""
    span: str = ""
    blind: bool = False
    each_of: str = ""
    kind: SpanKind = "CLIENT"
    log: str = ""
    words: str = ""


class Operation(Value, frozen=True, kw_only=True):
    """Something a component does on request. ``own_ms`` is the median of its own time.

    ``span`` names the span that the component records (none: no span), ``internal`` those it nests inside, and
    ``blind`` those inside of them that show no error; an ``approved`` span gets the status OK from the program itself.
    ``topic`` appends a record to a queue for each call; ``table`` is the one that it uses, which takes the
    ``privilege``, and ``files`` are what it does with files, in that order. One that ``refuses`` always answers with an
    error in the end, as a store does that a constraint forbids. With ``flags_seconds`` the first call of a process
    waits so long for a flag service that it does not reach, and fails; later ones do without. ``failure`` is what
    callers get to read when it fails, ``error_log`` what the component then prints itself. ``service`` is the name
    under which a program inside of this one traces its calls. With ``shrug_seconds`` a failure takes at least so long,
    and is no failure then.
    """

    span: str = ""
    kind: SpanKind = "SERVER"
    service: str = ""
    internal: tuple[str, ...] = ()
    blind: tuple[str, ...] = ()
    own_ms: float = 1.0
    cpu_ms: float | None = None
    steps: tuple[Step, ...] = ()
    approved: bool = False
    flags_seconds: float = 0.0
    shrug_seconds: float = 0.0
    topic: str = ""
    table: str = ""
    privilege: str = "SELECT"
    files: tuple[Access, ...] = ()
    refuses: bool = False
    failure: str = ""
    log: str = ""
    error_log: str = ""


class Need(Value, frozen=True, kw_only=True):
    """A callee that a process must reach to come up, with the address that it read itself.

    It waits for ``wait_seconds``, negative for ever, then prints ``text`` and ends with ``code``; it does so at once
    where its login is refused and it would not wait for ever. ``later``: not before it first calls the callee; until
    then it runs without. ``name_only``: that the name resolves is enough.
    """

    callee: str
    text: str = "{cause}"
    code: int = 1
    wait_seconds: float = 0.0
    later: bool = False
    name_only: bool = False


class Start(Value, frozen=True, kw_only=True):
    """What a process needs to come up; without it, it prints ``text`` and ends with ``code`` ``after_seconds``.

    ``env`` are glob patterns of variables: each one in the container's definition that matches must not be empty, and
    a pattern without wildcard must be there at all. ``keys`` of the configuration file must not be empty, with what is
    printed otherwise. ``needs`` are met one after another.
    """

    env: tuple[str, ...] = ()
    env_text: str = "required environment variable {variable} is not set"
    env_code: int = 1
    keys: dict[str, str] = {}
    keys_code: int = 1
    needs: tuple[Need, ...] = ()
    after_seconds: float = 1.0


class ComponentModel(Value, frozen=True, kw_only=True):
    """How one component behaves. ``image`` is a glob of the image that implements it.

    Where several components share an image, ``commands`` are names of the program and ``container`` a glob of the
    container's name that tell them apart. ``program`` is what runs: components of the same program can stand in for
    each other; empty means that there is no other. ``dialect`` is the language whose words it has for failures (cpp,
    dotnet, envoy, go, java, node, python, rust; any other speaks like Go). ``config`` is the path of a JSON file, read
    when the process starts; a key of it that lies inside of objects is spelled with dots (``cache.addr``), and texts
    and numbers count. It serves ``ready_seconds`` after its start, or later where a CPU limit makes what it computes
    until then (``start_cpu_seconds``) last longer. ``registers`` announces the process in registries, once, when it has
    come up. Of a ``blind`` component no span shows an error, as its code sets no status.
    """

    image: str
    commands: tuple[str, ...] = ()
    container: str = "*"
    program: str = ""
    config: str = ""
    registers: tuple[Registration, ...] = ()
    ports: tuple[Port, ...] = ()
    ready_seconds: float = 5.0
    start_cpu_seconds: float = 0.0
    dialect: str = "go"
    idle_millicores: float = 3.0
    cpu_ms: float = 1.0
    memory_mib: float = 20.0
    connection_mib: float = 0.0
    max_connections: int = 0
    background_error: float = 0.0
    operations: dict[str, Operation] = {}
    start: Start = Start()
    telemetry: AddressSource | None = None
    telemetry_protocol: Protocol = "tcp"
    blind: bool = False
    consumes: tuple[Consumer, ...] = ()
    logins: tuple[Login, ...] = ()
    databases: tuple[Database, ...] = ()
    java: JavaModel = JavaModel()
    disk: DiskModel = DiskModel()
    banner: tuple[str, ...] = ()


class Route(Value, frozen=True, kw_only=True):
    """A kind of request that users send: how many per iteration, which operation of the entry, and numbers drawn.

    ``draws`` are distributions: for each name, value → probability. A ``{route}`` in calls and span names below stands
    for the route's name.
    """

    per_iteration: float
    draws: dict[str, dict[str, float]] = {}


class Crowd(Value, frozen=True, kw_only=True):
    """Users of another kind, who come with a load generator whose variable ``env`` says true, yes or on.

    They are a ``share`` of its users, or so many ``users`` beside them, and each holds ``memory_mib`` of it. ``tasks``
    are operations of the load generator's own component.
    """

    env: str
    share: float = 0.0
    users: float = 0.0
    memory_mib: float = 0.0
    think_seconds: tuple[float, float] = (1.0, 10.0)
    tasks: dict[str, Route]


class LoadModel(Value, frozen=True, kw_only=True):
    """Closed-loop users (behaviour of Locust and k6): think, send an iteration's requests in sequence, think again.

    ``stages_env`` is a variable with stages of the number of users (``stages.py``). With ``connections`` the loop is
    open (k6's arrival rates, wrk2): ``users`` is a number of iterations per second, which begin however long others
    take; what would need more connections is dropped.
    """

    component: str
    entry: str
    users: Setting
    connections: Setting | None = None
    spawn_rate: Setting = Setting(default=1.0)
    stages_env: str = ""
    think_seconds: tuple[float, float] = (1.0, 10.0)
    routes: dict[str, Route]
    crowds: dict[str, Crowd] = {}
    log: str = ""


class Physics(Value, frozen=True, kw_only=True):
    """Constants of nets and machines: seconds, cores, bytes."""

    sigma: float = 0.5
    hop_ms: float = 0.3
    latency_scale: float = 1.0
    cpu_scale: float = 1.0
    node_cores: float = 4.0
    http_pool_seconds: float = 60.0
    reconnect_seconds: float = 120.0
    first_dial_seconds: float = 20.0
    connection_death_seconds: float = 900.0
    retransmit_seconds: float = 0.2
    retransmit_limit_seconds: float = 120.0
    retransmissions: int = 15
    message_bytes: float = 2048.0


class Parameters(Value, frozen=True, kw_only=True):
    """The whole of ``twin.yaml``."""

    assumptions: dict[str, Assumption] = {}
    physics: Physics = Physics()
    images: tuple[str, ...] = ()
    idle_images: tuple[str, ...] = ("*/pause:*", "*/pause@*")
    components: dict[str, ComponentModel]
    edges: tuple[Edge, ...] = ()
    load: LoadModel
    flags: FlagModel | None = None
    queues: tuple[QueueModel, ...] = ()
    registries: tuple[RegistryModel, ...] = ()
    exporters: tuple[Exporter, ...] = ()
    collector: CollectorModel | None = None


class Misfit(ValueError):
    """Something does not fit into the document; ``place`` is where, field by field, as far as that can be told."""

    def __init__(self, text: str, *place: str | int) -> None:
        super().__init__(text)
        self.place = place


def read(document: Mapping[str, Any], overrides: Mapping[str, float] | None = None) -> Parameters:
    """The parameters that a document states, with assumptions replaced by their values or by ``overrides``.

    Raises:
        Misfit: an override or a ``$name`` names no assumption, or an assumption has no value.
        ValueError: the document has another shape.
    """
    known = {name: _assumed(name, body) for name, body in (document.get("assumptions") or {}).items()}
    for name, value in (overrides or {}).items():
        if name not in known:
            raise Misfit(f"assumptions: '{name}' is not one of this app's; it has {', '.join(sorted(known)) or 'none'}")
        known[name] = value
    found = Parameters.from_json(_resolve(dict(document), known))
    programs = {name: model.program for name, model in found.components.items()}
    edges = tuple(structs.replace(edge, program=programs.get(edge.callee, "")) for edge in found.edges)
    return structs.replace(found, edges=edges)


def _assumed(name: str, body: Any) -> float:
    try:
        return float(body["value"])
    except (TypeError, KeyError, ValueError):
        raise Misfit(f"assumptions.{name}: it has no number as its `value`", "assumptions", name) from None


def _resolve(node: Any, known: Mapping[str, float], *at: str | int) -> Any:
    if isinstance(node, dict):
        return {key: _resolve(value, known, *at, key) for key, value in node.items()}
    if isinstance(node, list | tuple):
        return [_resolve(value, known, *at, i) for i, value in enumerate(node)]
    if isinstance(node, str) and (match := _NAME.fullmatch(node)):
        if match[1] not in known:
            raise Misfit(f"twin: '{node}' names no assumption; declared are {', '.join(sorted(known)) or 'none'}", *at)
        return known[match[1]]
    return node
