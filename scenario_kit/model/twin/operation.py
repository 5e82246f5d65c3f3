"""Operations: what a component does on request, step by step, and what it says when that fails."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from scenario_kit.model.base import Value
from scenario_kit.model.twin.fields import EXIT_CODE, MILLISECONDS, MOST, SECONDS, SHARE, describe
from scenario_kit.model.twin.store import Access

#: Privileges on tables that stores grant.
Privilege = Literal["SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER", "EXECUTE"]
SpanKind = Literal["SERVER", "CLIENT", "INTERNAL", "PRODUCER", "CONSUMER"]


class Step(Value, frozen=True, kw_only=True):
    """A part of an operation: a call, or a loop over `steps`.

    With `keys` the callee is a cache: each call asks for some of its keys, and `steps` run if one is missing. They fill
    the cache unless they fail; a new process of the callee holds no key.
    """

    call: Annotated[str, describe("What is called: `component/operation`.")] = ""
    steps: Annotated[
        tuple[Step, ...], describe("Steps inside of this one: the body of a loop, or what a cache miss leads to.")
    ] = ()
    times: Annotated[
        Annotated[float, Meta(ge=0, le=100_000)] | str,
        describe(
            "How often: a number, or the name of a draw of the route or of a property of a record.", group="Repetition"
        ),
    ] = 1.0
    parallel: Annotated[
        bool, describe("Whether the `times` calls run side by side, and not one after another.", group="Repetition")
    ] = False
    batch: Annotated[
        bool, describe("Whether a fixed number of `parallel` calls is computed as one batch.", group="Repetition")
    ] = False
    fork: Annotated[
        bool,
        describe(
            "Whether all `steps` begin at the same time, as with a thread for each; the slowest is waited for.",
            group="Repetition",
        ),
    ] = False
    route: Annotated[str, describe("What `{route}` stands for from here on.")] = ""
    share: Annotated[float, describe("The share of requests that run this step.", group="Repetition", **SHARE)] = 1.0
    deadline_seconds: Annotated[
        float,
        describe(
            "When the caller gives up: it gets an error, and its span never ends. 0 leaves it to the edge's timeout.",
            unit=SECONDS,
            group="Failures",
            ge=0,
        ),
    ] = 0.0
    on_error: Annotated[
        Literal["Fail", "Ignore", "Crash"],
        describe(
            "What a failure does to the operation: `Fail` fails it, `Ignore` goes on (a slow or hanging callee still "
            "blocks), `Crash` ends the caller's process with `code`.",
            group="Failures",
        ),
    ] = "Fail"
    code: Annotated[int, describe("Exit code of the process with `onError: Crash`.", group="Failures", **EXIT_CODE)] = 2
    keys: Annotated[
        float, describe("How many different keys the called cache can hold; 0 for no cache.", group="Cache", ge=0)
    ] = 0.0
    keys_per_call: Annotated[float, describe("How many keys one call asks for.", group="Cache", ge=0)] = 1.0
    keys_if: Annotated[
        str, describe("The draw of the route that has to be above 0 for keys to be asked for.", group="Cache")
    ] = ""
    cache_failures: Annotated[
        bool,
        describe(
            "Whether the cache is filled even where `steps` fail, with invalid entries, which only a caller with "
            "`invalidEntriesOf` notices.",
            group="Cache",
        ),
    ] = False
    invalid_entries_of: Annotated[
        str,
        describe(
            "The `cache/operation` whose invalid entries make this call fail; `keysPerCall` of its keys are read.",
            group="Cache",
        ),
    ] = ""
    invalid_entry_log: Annotated[
        str, describe("What the caller prints when it reads an invalid entry.", group="Cache")
    ] = ""
    span: Annotated[
        str, describe("Name of the span of the call, or of each round of a loop; empty for none.", group="Tracing")
    ] = ""
    unset_status: Annotated[bool, describe("Whether the span shows no error.", group="Tracing")] = False
    for_each: Annotated[
        str,
        describe(
            "The `component/operation` whose results this call is made for, one by one; not at all where a flag "
            "empties its answers.",
            group="Repetition",
        ),
    ] = ""
    kind: Annotated[SpanKind, describe("Kind of the span.", group="Tracing")] = "CLIENT"
    log: Annotated[
        str,
        describe(
            "What the caller prints when the call fails; `{cause}`, `{host}` and `{port}` are replaced.",
            group="Failures",
        ),
    ] = ""
    cause_text: Annotated[
        str,
        describe(
            "What `{cause}` stands for in the operation's own `failure`; all of it where the text begins with a gRPC "
            "status code.",
            group="Failures",
        ),
    ] = ""


class Operation(Value, frozen=True, kw_only=True):
    """Something that a component does on request."""

    span: Annotated[str, describe("Name of the span that the component records; empty for none.", group="Tracing")] = ""
    kind: Annotated[SpanKind, describe("Kind of the span.", group="Tracing")] = "SERVER"
    service: Annotated[
        str,
        describe("The service under whose name a program inside of this one traces the operation.", group="Tracing"),
    ] = ""
    internal_spans: Annotated[
        tuple[str, ...],
        describe("Names of the spans inside of `span`, each nested in the one before.", group="Tracing"),
    ] = ()
    unset_status: Annotated[
        tuple[str, ...], describe("Names of the spans inside of `internalSpans` that show no error.", group="Tracing")
    ] = ()
    own_ms: Annotated[
        float, describe("Median of its own time, without the steps.", unit=MILLISECONDS, group="Time", ge=0)
    ] = 1.0
    cpu_ms: Annotated[
        Annotated[float, Meta(ge=0, le=MOST[MILLISECONDS])] | None,
        describe("CPU time of one call; that of the component where left out.", unit=MILLISECONDS, group="Time"),
    ] = None
    round_trips: Annotated[
        int,
        describe(
            "Round trips of the network that one call takes, such as those of a transaction.",
            group="Time",
            ge=1,
            le=1_000,
        ),
    ] = 1
    steps: Annotated[tuple[Step, ...], describe("What it does, one step after another.")] = ()
    set_status_ok: Annotated[
        bool, describe("Whether the program itself sets the status OK on the span.", group="Tracing")
    ] = False
    flag_timeout_seconds: Annotated[
        float,
        describe(
            "How long the first call of a process waits for a flag service that it cannot reach, and then fails; later "
            "calls go without.",
            unit=SECONDS,
            group="Time",
            ge=0,
        ),
    ] = 0.0
    ignore_failure_after_seconds: Annotated[
        float,
        describe(
            "How long a failure takes at least, which then counts as none; 0 lets it fail.",
            unit=SECONDS,
            group="Failures",
            ge=0,
        ),
    ] = 0.0
    topic: Annotated[str, describe("The topic to which each call appends a record.", group="Data")] = ""
    table: Annotated[str, describe("The database table that it uses.", group="Data")] = ""
    privilege: Annotated[Privilege, describe("The privilege on `table` that the login needs.", group="Data")] = "SELECT"
    files: Annotated[tuple[Access, ...], describe("What it does with files, in this order.", group="Data")] = ()
    always_fail: Annotated[
        bool,
        describe(
            "Whether it always answers with an error, as a store does whose constraint forbids it.", group="Failures"
        ),
    ] = False
    failure: Annotated[str, describe("What callers read when it fails; `{cause}` is replaced.", group="Failures")] = ""
    log: Annotated[str, describe("What the component prints for each call that succeeds.", group="Logs")] = ""
    error_log: Annotated[str, describe("What the component prints when it fails.", group="Logs")] = ""
