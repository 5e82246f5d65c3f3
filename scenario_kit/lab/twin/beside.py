"""What stands beside the services of an application, as values: flags, exporters, brokers, registries, logins,
collector, and what is inside of Java programs.
"""

from __future__ import annotations

from typing import Literal

from scenario_kit.model.base import Value


class FlagEffect(Value, frozen=True, kw_only=True):
    """What a feature flag does to a component while its value is not zero or false; ``while_off``: while it is;
    ``unanswered``: also while the flag service does not answer, or does not know the flag.

    With ``times_value`` the amounts are multiplied by the flag's value. ``share`` of the calls are concerned, or the
    flag's value of them with ``share_is_value``. What leaked so far grows by ``leak_growth`` of it with each of them.
    ``redirect`` sends calls to the callee named there to the address ``redirect_to``. ``flood`` adds requests of that
    route per iteration. ``copies`` are how many more records each publish of the component brings. ``users`` replaces
    the number of users that a load generator without stages brings, ``paused`` lets it make no requests. ``relayed``:
    the component asks for nothing itself; its callers do, through it, and tell it with each call. ``absorbs``: of its
    calls of that ``component/operation`` the ``error_share`` is answered with an error, which only its own spans show.
    ``becomes`` is the component's operation that runs in its place. ``empties``: its answers hold nothing.
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
    unanswered: bool = False
    relayed: bool = False
    absorbs: str = ""
    becomes: str = ""
    empties: bool = False
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

    of: Literal["Uptime", "Calls", "Errors", "Connections", "Memory", "Keys", "Constant"]
    operations: tuple[str, ...] = ()
    times: float = 1.0
    plus: float = 0.0


class Exporter(Value, frozen=True, kw_only=True):
    """Series that the collector reads from a component itself, while it reaches it.

    A key of ``series`` is a metric, or ``metric{label="value"}`` where the series has labels of its own.
    """

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


#: What steps of a consumer's operation may ask of a record: handed out before, a copy of one before, or neither.
RECORDS = frozenset({"again", "copy", "original"})


class Consumer(Value, frozen=True, kw_only=True):
    """A member of a consumer group: for each record of ``topic`` it runs ``operation``, one record at a time.

    ``receive_span`` is the span of taking a record, ``loop_span`` one around that, the operation, and the wait before
    it. With ``commit_seconds`` it commits what it has done that often, and another member does the rest once more. With
    ``poll_records`` it takes up to so many at once, and commits before it takes more; where those take it longer than
    ``poll_seconds`` it is expelled, and begins with them again. Steps of the operation may have as ``times`` what a
    record is (1, else 0): one that was handed out before (``again``), a ``copy`` of another one, or an ``original``.
    ``copy_log`` is printed for a copy. One that ``keeps`` what the store refused asks for it again with each later
    record, so that those count as handed out before, too, until the process ends.
    """

    queue: str
    topic: str
    group: str
    operation: str
    receive_span: str = ""
    receive_ms: float = 1.0
    loop_span: str = ""
    latest: bool = False
    client_metrics: bool = False
    commit_seconds: float = 0.0
    poll_records: int = 0
    poll_seconds: float = 300.0
    copy_log: str = ""
    keeps: bool = False


class RegistryModel(Value, frozen=True, kw_only=True):
    """A registry of processes by name, kept in memory, without health checks: what is gone stays listed.

    Watchers learn of changes at once; those of a registry that was replaced go on with what they know for
    ``resolve_seconds`` before they read the new one.
    """

    component: str
    resolve_seconds: float = 10.0


class Login(Value, frozen=True, kw_only=True):
    """A user and password that a store accepts: from its environment, or out of a ConfigMap by a regular expression.

    ``user`` is the user's name where no variable holds it. The expression has the groups ``user`` and ``password``. A
    store without logins accepts everybody. ``flag`` is a word of its command line that makes it ask for logins; the
    word after it, if that is no option, is the password of whoever has no name.
    """

    user: str = ""
    user_env: str = ""
    password_env: str = ""
    flag: str = ""
    config_map: str = ""
    key: str = ""
    pattern: str = ""


class Database(Value, frozen=True, kw_only=True):
    """A database that a store has: by name, by the first of some variables that is set, or by what creates it.

    The regular expression finds it in a ConfigMap, in its group ``name``. A store without any has what is asked for.
    """

    name: str = ""
    env: tuple[str, ...] = ()
    config_map: str = ""
    key: str = ""
    pattern: str = ""


class Registration(Value, frozen=True, kw_only=True):
    """A process announces its address and first port as ``name``; the registry's address is that of the edge to it."""

    registry: str
    name: str


class CollectorModel(Value, frozen=True, kw_only=True):
    """Where spans become metrics. Counters live in it and are lost with it."""

    component: str


class WrongResult(Value, frozen=True, kw_only=True):
    """What follows where the method that the app names as ``jvm.returns`` returns the wrong value named there.

    A ``share`` of the requests run through the method. They fail by ``exception``, if there is one, and take
    ``delay_seconds`` longer.
    """

    share: float = 1.0
    exception: str = ""
    delay_seconds: float = 0.0


class JavaModel(Value, frozen=True, kw_only=True):
    """A Java program from inside, for agents that are loaded into it; without a ``shell`` in the image none can be.

    ``thrown`` is what it prints of an exception that nothing catches: ``{exception}``, ``{class}`` and ``{method}`` are
    known; ``answer`` is what its callers then read. Of ``heap_mib``, the largest heap (0: the default of a JVM in a
    container with that memory limit), ``held_mib`` are in use, as part of the component's memory. A collection of the
    whole heap stops it for ``collection_seconds``; ``collector`` is what its metrics call that collector (none: it
    reports none), and they count ``collections`` when it has come up.
    """

    shell: bool = True
    thrown: str = "{exception}"
    answer: str = ""
    wrong: WrongResult | None = None
    heap_mib: float = 0.0
    held_mib: float = 0.0
    collection_seconds: float = 0.0
    collector: str = ""
    collections: float = 0.0
