"""What an application's definition tells the twin: the content of ``twin.yaml`` as values.

Everything that is particular to an application stands here as data. A text ``$name`` anywhere in the document stands
for the assumption of that name, so that a campaign can vary it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from scenario_kit.model.base import Value

Protocol = Literal["http", "grpc", "redis", "sql", "kafka", "tcp"]
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


class AddressSource(Value, frozen=True, kw_only=True):
    """Where a program reads an address: one variable, or one for the host and one for the port, or a fixed text."""

    env: str = ""
    host_env: str = ""
    port_env: str = ""
    text: str = ""
    default_port: int = 0


class Port(Value, frozen=True, kw_only=True):
    """A port that a process listens on: taken from a variable, else fixed."""

    env: str = ""
    number: int = 0
    protocol: Protocol = "tcp"
    paths: tuple[str, ...] = ("*",)


class Edge(Value, frozen=True, kw_only=True):
    """One program dials another: address, protocol, and what the caller does on its own account.

    ``timeout_seconds`` 0 means that the caller waits for ever. ``refused_ms`` is how long a refused call takes. When
    the callee cannot be reached a call takes ``unreachable_seconds`` more, and ``stall_share`` of the calls hang for
    ``stall_seconds`` instead. ``shared`` false dials anew for every call.
    """

    caller: str
    callee: str
    protocol: Protocol
    address: AddressSource
    timeout_seconds: float = 0.0
    retries: int = 0
    shared: bool = True
    refused_ms: float = 1.0
    unreachable_seconds: float = 0.0
    stall_share: float = 0.0
    stall_seconds: float = 0.0


class Step(Value, frozen=True, kw_only=True):
    """A part of an operation: a call ``component/operation``, or a loop over ``steps``.

    ``times`` is a number or the name of a draw of the route. ``on_error: Ignore`` goes on; a slow or hanging callee
    still blocks. ``sticky``: once it failed, the process gets an error from every later call. ``log`` is what the
    caller prints when the call fails: ``{cause}``, ``{host}``, ``{port}`` are known.
    """

    call: str = ""
    steps: tuple[Step, ...] = ()
    times: float | str = 1.0
    parallel: bool = False
    share: float = 1.0
    on_error: Literal["Fail", "Ignore"] = "Fail"
    span: str = ""
    kind: SpanKind = "CLIENT"
    sticky: bool = False
    log: str = ""


class Operation(Value, frozen=True, kw_only=True):
    """Something a component does on request. ``own_ms`` is the median of its own time.

    ``span`` names the span that the component records (none: no span), ``internal`` those it nests inside. ``topic``
    appends a record to a queue for each call. ``needs_flags``: it fails as long as the process never reached the flag
    service. ``failure`` is what callers get to read when it fails, ``error_log`` what the component then prints itself.
    """

    span: str = ""
    kind: SpanKind = "SERVER"
    internal: tuple[str, ...] = ()
    own_ms: float = 1.0
    cpu_ms: float | None = None
    steps: tuple[Step, ...] = ()
    needs_flags: bool = False
    topic: str = ""
    failure: str = ""
    log: str = ""
    error_log: str = ""


class Start(Value, frozen=True, kw_only=True):
    """What a process needs to come up; without it, it prints ``text`` and ends with ``code``.

    ``env`` are glob patterns of variables: each one in the container's definition that matches must not be empty, and
    a pattern without wildcard must be there at all. ``callees`` must be reachable with the process's own address.
    """

    env: tuple[str, ...] = ()
    env_text: str = "required environment variable {variable} is not set"
    env_code: int = 1
    callees: tuple[str, ...] = ()
    callee_text: str = "{cause}"
    callee_code: int = 1
    after_seconds: float = 1.0


class Login(Value, frozen=True, kw_only=True):
    """A user and password that a store accepts: from its environment, or out of a ConfigMap by a regular expression.

    ``user`` is the user's name where no variable holds it. The expression has the groups ``user`` and ``password``. A
    store without logins accepts everybody.
    """

    user: str = ""
    user_env: str = ""
    password_env: str = ""
    config_map: str = ""
    key: str = ""
    pattern: str = ""


class Consumer(Value, frozen=True, kw_only=True):
    """A member of a consumer group: for each record of ``topic`` it runs ``operation``, one record at a time."""

    queue: str
    topic: str
    group: str
    operation: str
    receive_span: str = ""
    receive_ms: float = 1.0
    latest: bool = False
    client_metrics: bool = False


class ComponentModel(Value, frozen=True, kw_only=True):
    """How one component behaves. ``image`` is a glob of the image that implements it."""

    image: str
    ports: tuple[Port, ...] = ()
    ready_seconds: float = 5.0
    dialect: str = "go"
    idle_millicores: float = 3.0
    cpu_ms: float = 1.0
    memory_mib: float = 20.0
    connection_mib: float = 0.0
    background_error: float = 0.0
    operations: dict[str, Operation] = {}
    start: Start = Start()
    telemetry: AddressSource | None = None
    consumes: tuple[Consumer, ...] = ()
    logins: tuple[Login, ...] = ()
    banner: tuple[str, ...] = ()


class Route(Value, frozen=True, kw_only=True):
    """A kind of request that users send: how many per iteration, which operation of the entry, and numbers drawn.

    ``draws`` are distributions: for each name, value → probability. A ``{route}`` in calls and span names below stands
    for the route's name.
    """

    per_iteration: float
    draws: dict[str, dict[str, float]] = {}


class LoadModel(Value, frozen=True, kw_only=True):
    """Closed-loop users (behaviour of Locust and k6): think, send an iteration's requests in sequence, think again.

    ``stages_env`` is a variable with stages of the number of users (``stages.py``).
    """

    component: str
    entry: str
    users: Setting
    spawn_rate: Setting = Setting(default=1.0)
    stages_env: str = ""
    think_seconds: tuple[float, float] = (1.0, 10.0)
    routes: dict[str, Route]
    log: str = ""


class FlagEffect(Value, frozen=True, kw_only=True):
    """What a feature flag does to a component while its value is not zero or false; ``while_off``: while it is.

    With ``times_value`` the amounts are multiplied by the flag's value. ``share`` of the calls are concerned, or the
    flag's value of them with ``share_is_value``. What leaked so far grows by ``leak_growth`` of it with each of them.
    ``redirect`` sends calls to the callee named there to the address ``redirect_to``. ``flood`` adds requests of that
    route per iteration. ``copies`` are how many more records each publish of the component brings. ``users`` replaces
    the number of users that a load generator without stages brings, ``paused`` lets it make no requests.
    """

    component: str
    operation: str = ""
    share: float = 1.0
    share_is_value: bool = False
    error_share: float = 0.0
    delay_seconds: float = 0.0
    busy_cores: float = 0.0
    leak_bytes: float = 0.0
    leak_growth: float = 0.0
    copies: float = 0.0
    redirect: str = ""
    redirect_to: str = ""
    flood: str = ""
    flood_per_iteration: float = 0.0
    users: float = 0.0
    paused: bool = False
    unhealthy: bool = False
    while_off: bool = False
    times_value: bool = False
    log: str = ""


class FlagModel(Value, frozen=True, kw_only=True):
    """Feature flags: the component that serves them, its document, and the effects by flag."""

    component: str
    config_map: str
    key: str
    hang_seconds: float = 0.5
    effects: dict[str, tuple[FlagEffect, ...]] = {}


class Signal(Value, frozen=True, kw_only=True):
    """One exported series: a source, times ``times``, plus ``plus``. ``operations`` narrows what calls count."""

    of: Literal["Uptime", "Calls", "Errors", "Connections", "Memory", "Constant"]
    operations: tuple[str, ...] = ()
    times: float = 1.0
    plus: float = 0.0


class Exporter(Value, frozen=True, kw_only=True):
    """Series that the collector reads from a component itself, while it reaches it."""

    component: str
    port: int
    labels: dict[str, str] = {}
    series: dict[str, Signal] = {}


class QueueModel(Value, frozen=True, kw_only=True):
    """A broker with the topics of the application."""

    component: str
    port: int
    topics: tuple[str, ...]
    rejoin_seconds: float = 10.0
    session_seconds: float = 45.0


class CollectorModel(Value, frozen=True, kw_only=True):
    """Where spans become metrics. Counters live in it and are lost with it."""

    component: str


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
    exporters: tuple[Exporter, ...] = ()
    collector: CollectorModel | None = None


def read(document: Mapping[str, Any], overrides: Mapping[str, float] | None = None) -> Parameters:
    """The parameters that a document states, with assumptions replaced by their values or by ``overrides``.

    Raises:
        ValueError: an override or a ``$name`` names no assumption, or the document has another shape.
    """
    known = {name: float(body["value"]) for name, body in (document.get("assumptions") or {}).items()}
    for name, value in (overrides or {}).items():
        if name not in known:
            raise ValueError(
                f"assumptions: '{name}' is not one of this app's; it has {', '.join(sorted(known)) or 'none'}"
            )
        known[name] = value
    return Parameters.from_json(_resolve(dict(document), known))


def _resolve(node: Any, known: Mapping[str, float]) -> Any:
    if isinstance(node, dict):
        return {key: _resolve(value, known) for key, value in node.items()}
    if isinstance(node, list | tuple):
        return [_resolve(value, known) for value in node]
    if isinstance(node, str) and (match := _NAME.fullmatch(node)):
        if match[1] not in known:
            raise ValueError(f"twin: '{node}' names no assumption; declared are {', '.join(sorted(known)) or 'none'}")
        return known[match[1]]
    return node
