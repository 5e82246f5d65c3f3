"""Edges: which program dials which, and what the caller does when the callee is slow, refuses, or is gone."""

from __future__ import annotations

from typing import Annotated

from scenario_kit.model.base import Value
from scenario_kit.model.twin.address import PRODUCT_SYNONYMS, AddressSource, Product, Protocol
from scenario_kit.model.twin.fields import MILLISECONDS, SECONDS, describe

#: Protocols whose clients are pools: a call without a free connection opens one.
_DIALLED_PER_CALL = ("http", "memcached", "sql", "tcp")


class Edge(Value, frozen=True, kw_only=True):
    """One program dials another: address, protocol, timeouts, and how the caller's connection behaves."""

    caller: Annotated[str, describe("The component that dials.")]
    callee: Annotated[str, describe("The component that is dialled.")]
    protocol: Annotated[Protocol, describe("What is spoken over the connection.")]
    address: Annotated[AddressSource, describe("Where the caller reads the address.", group="Address")]
    product: Annotated[
        Product,
        describe(
            "What the callee is, where the protocol has several products, such as `mysql` or `rabbitmq`: the caller's "
            "client library then fails in the words for that one, and its spans name it.",
            synonyms=PRODUCT_SYNONYMS,
        ),
    ] = ""
    timeout_seconds: Annotated[
        float, describe("Timeout of a call; 0 waits forever.", unit=SECONDS, group="Timeouts", ge=0)
    ] = 0.0
    timeout_env: Annotated[
        str, describe("The variable of the caller that overrides `timeoutSeconds`.", group="Timeouts")
    ] = ""
    timeout_fallback_seconds: Annotated[
        float,
        describe(
            "Timeout of a call where the variable `timeoutEnv` is set to anything but a whole number above 0.",
            unit=SECONDS,
            group="Timeouts",
            ge=0,
        ),
    ] = 0.0
    connect_timeout_seconds: Annotated[
        float,
        describe(
            "Timeout of an attempt to connect, where it differs from that of a call; negative tries forever.",
            unit=SECONDS,
            group="Timeouts",
        ),
    ] = 0.0
    keepalive_timeout_seconds: Annotated[
        float,
        describe(
            "After how long without an answer the caller closes a connection, where that is sooner than the kernel "
            "does (keepalives, `TCP_USER_TIMEOUT`); 0 leaves it to the kernel.",
            unit=SECONDS,
            group="Timeouts",
            ge=0,
        ),
    ] = 0.0
    registry: Annotated[
        str, describe("The registry that lists the callee; `address` is then the registry's.", group="Address")
    ] = ""
    name: Annotated[
        str, describe("The name in the registry; calls take turns over the addresses listed there.", group="Address")
    ] = ""
    service: Annotated[
        str,
        describe(
            "The service inside the caller whose spans this edge takes to the collector, instead of the caller's own.",
            group="Tracing",
        ),
    ] = ""
    retries: Annotated[int, describe("How often a failed call is tried again.", group="Failures", ge=0, le=1_000)] = 0
    reuse_connection: Annotated[
        bool, describe("Whether calls share one connection; `false` dials anew for every call.", group="Connection")
    ] = True
    connect_round_trips: Annotated[
        int,
        describe(
            "Round trips until a new connection can be used: the handshake of TCP, then those of the protocol.",
            group="Connection",
            ge=1,
            le=1_000,
        ),
    ] = 1
    idle_connections: Annotated[
        int,
        describe(
            "How many connections a pool keeps for later calls; others are closed when their call ends. 0 for all.",
            group="Connection",
            ge=0,
        ),
    ] = 0
    connect_per_call: Annotated[
        bool | None,
        describe(
            "Whether each call that finds no open connection dials, as with a pool; `false` if calls share one attempt "
            "and fail until the client tries again. By default, calls of `http`, `memcached`, `sql` and `tcp` dial.",
            group="Connection",
        ),
    ] = None
    connect_attempts: Annotated[
        int,
        describe(
            "How many attempts to connect a call makes before it fails, with `serializeConnects`. `refusalMs` is the "
            "time of all of them, if each is refused at once.",
            group="Connection",
            ge=1,
            le=1_000,
        ),
    ] = 1
    use_stale_address: Annotated[
        bool,
        describe("Whether the caller keeps the address it had when the name server has no answer.", group="Address"),
    ] = False
    ignore_status: Annotated[
        bool, describe("Whether the caller ignores the status of an answer and reads whatever comes.", group="Failures")
    ] = False
    optional: Annotated[
        bool, describe("Whether the caller runs without the callee when it has no address.", group="Address")
    ] = False
    refusal_ms: Annotated[
        float, describe("Median time until a refused call fails.", unit=MILLISECONDS, group="Failures", ge=0)
    ] = 1.0
    unreachable_seconds: Annotated[
        float,
        describe(
            "How much longer a call takes to fail when the callee refuses, or without `connectTimeoutSeconds` cannot "
            "be reached. A callee that starts in the meantime is waited for.",
            unit=SECONDS,
            group="Failures",
            ge=0,
        ),
    ] = 0.0
    wait_for_ack: Annotated[
        bool,
        describe(
            "Whether a call waits for an acknowledgement. Without, it is done when it is written, which goes on while "
            "nothing gets through, until the connection is closed.",
            group="Connection",
        ),
    ] = True
    match_responses_by_order: Annotated[
        bool,
        describe(
            "Whether an answer goes to the call that has waited longest, as in clients that match answers by order.",
            group="Connection",
        ),
    ] = False
    serialize_connects: Annotated[
        bool,
        describe(
            "Whether calls that find no connection attempt to make one one after another, and not all at once.",
            group="Connection",
        ),
    ] = False
    trace_first_connection_only: Annotated[
        bool,
        describe(
            "Whether only calls over the first connection leave spans, as with a reconnected client.", group="Tracing"
        ),
    ] = False
    connect_span: Annotated[
        str | None,
        describe(
            "Name of the span that a call without a connection leaves in place of its own: that of the attempt to "
            "connect, or empty for none. By default its own.",
            group="Tracing",
        ),
    ] = None
    connection_error_text: Annotated[
        str,
        describe(
            "What the caller says of a call without a connection, in place of its client library's words; `{cause}` is "
            "replaced by these.",
            group="Failures",
        ),
    ] = ""

    @property
    def connects_per_call(self) -> bool:
        """Whether each call that finds no open connection dials."""
        if not self.reuse_connection:
            return True
        return self.protocol in _DIALLED_PER_CALL if self.connect_per_call is None else self.connect_per_call
