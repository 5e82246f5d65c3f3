"""Message brokers and the consumer groups that read from them."""

from __future__ import annotations

from typing import Annotated, Final

from scenario_kit.model.base import Value
from scenario_kit.model.twin.fields import MILLISECONDS, PORT, SECONDS, describe

#: What steps of a consumer's operation may ask of a record: redelivered, a copy of another one, or neither.
RECORDS: Final = frozenset({"again", "copy", "original"})


class QueueModel(Value, frozen=True, kw_only=True):
    """A broker with the topics of the app."""

    component: Annotated[str, describe("The component that is the broker.")]
    port: Annotated[int, describe("The port on which clients reach it.", **PORT)]
    topics: Annotated[tuple[str, ...], describe("Topics that it retains.")]
    rejoin_seconds: Annotated[
        float,
        describe(
            "From when broker and consumer are both up until the consumer has joined its group.", unit=SECONDS, ge=0
        ),
    ] = 10.0
    session_timeout_seconds: Annotated[
        float, describe("How long a group counts a member that is gone.", unit=SECONDS, ge=0)
    ] = 45.0


class Consumer(Value, frozen=True, kw_only=True):
    """A member of a consumer group: it runs an operation for each record of a topic, one record at a time.

    Steps of the operation may have as `times` what a record is (1, else 0): one that was delivered before (`again`), a
    `copy` of another one, or an `original`.
    """

    queue: Annotated[str, describe("The component that is the broker.")]
    topic: Annotated[str, describe("The topic.")]
    group: Annotated[str, describe("Name of the consumer group.")]
    operation: Annotated[str, describe("The component's own operation that runs for each record.")]
    receive_span: Annotated[
        str, describe("Name of the span of receiving a record; empty for none.", group="Tracing")
    ] = ""
    receive_ms: Annotated[
        float, describe("Median time of receiving a record.", unit=MILLISECONDS, group="Tracing", ge=0)
    ] = 1.0
    loop_span: Annotated[
        str,
        describe(
            "Name of the span around receiving, the operation, and the wait before; empty for none.", group="Tracing"
        ),
    ] = ""
    start_at_latest: Annotated[
        bool, describe("Whether a new group begins at the end of the topic, and not at its beginning.", group="Offsets")
    ] = False
    client_metrics: Annotated[
        bool, describe("Whether the client exports metrics of its own about the topic.", group="Tracing")
    ] = False
    commit_interval_seconds: Annotated[
        float,
        describe(
            "The interval at which it commits offsets; another member repeats what came after. 0 commits each record.",
            unit=SECONDS,
            group="Offsets",
            ge=0,
        ),
    ] = 0.0
    max_poll_records: Annotated[
        int,
        describe(
            "How many records one poll takes at most, committed before the next; 0 for one.", group="Offsets", ge=0
        ),
    ] = 0
    max_poll_interval_seconds: Annotated[
        float,
        describe(
            "How long the records of one poll may take before the member is expelled, and begins with them again.",
            unit=SECONDS,
            group="Offsets",
            ge=0,
        ),
    ] = 300.0
    duplicate_log: Annotated[str, describe("What it prints for a copy of a record.")] = ""
    retry_refused_writes: Annotated[
        bool,
        describe(
            "Whether it asks the store again, with each later record, for what the store refused, until the process "
            "ends; those count as delivered before, too."
        ),
    ] = False
