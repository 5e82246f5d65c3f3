"""Java programs from inside: agents that are loaded into them, and garbage collection."""

from __future__ import annotations

from typing import Annotated

from scenario_kit.model.base import Value
from scenario_kit.model.twin.fields import MIB, SECONDS, SHARE, describe


class WrongResult(Value, frozen=True, kw_only=True):
    """What follows where the method that the app names as `jvm.returns` returns the wrong value named there."""

    share: Annotated[float, describe("The share of requests that run through the method.", **SHARE)] = 1.0
    exception: Annotated[str, describe("The exception by which those requests fail; empty if they do not.")] = ""
    delay_seconds: Annotated[float, describe("How much longer those requests take.", unit=SECONDS, ge=0)] = 0.0


class JavaModel(Value, frozen=True, kw_only=True):
    """A Java program from inside."""

    has_shell: Annotated[
        bool, describe("Whether the image has a shell, without which no agent can be loaded.", group="Agent")
    ] = True
    exception_log: Annotated[
        str,
        describe(
            "What it prints of an uncaught exception; `{exception}`, `{class}` and `{method}` are replaced.",
            group="Agent",
        ),
    ] = "{exception}"
    exception_response: Annotated[str, describe("What callers read after an uncaught exception.", group="Agent")] = ""
    wrong_result: Annotated[
        WrongResult | None, describe("What a wrong return value leads to; nothing where left out.", group="Agent")
    ] = None
    heap_mib: Annotated[
        float,
        describe(
            "The largest heap; 0 for the default of a JVM in a container with that memory limit.",
            unit=MIB,
            group="Garbage collection",
            ge=0,
        ),
    ] = 0.0
    heap_used_mib: Annotated[
        float,
        describe(
            "How much of the heap is in use, as part of the component's memory.",
            unit=MIB,
            group="Garbage collection",
            ge=0,
        ),
    ] = 0.0
    collection_seconds: Annotated[
        float, describe("How long a full collection stops the program.", unit=SECONDS, group="Garbage collection", ge=0)
    ] = 0.0
    collector: Annotated[
        str, describe("Name of that collector in its metrics; empty if it reports none.", group="Garbage collection")
    ] = ""
    collections: Annotated[
        float, describe("How many collections it has counted when it has come up.", group="Garbage collection", ge=0)
    ] = 0.0
