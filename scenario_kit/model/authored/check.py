"""Checks: the grammar of effect, undone and expect.checks. Each answers true, false or unknown."""

from __future__ import annotations

from typing import Any

import msgspec

from scenario_kit.model.base import Value


class ObjectCheck(Value, frozen=True, kw_only=True):
    """A field of an object, found by JSONPath. Exactly one of the comparisons is set."""

    ref: str
    path: str = ""
    exists: bool | None = None
    equals: Any = None
    not_equals: Any = None
    contains: Any = None
    not_contains: Any = None
    at_least: int | None = None
    at_most: int | None = None
    matches: str | None = None


class EndpointsCheck(Value, frozen=True, kw_only=True):
    """The number of ready addresses behind a Service."""

    service: str
    at_least: int | None = None
    at_most: int | None = None


class QueryCheck(Value, frozen=True, kw_only=True):
    """A PromQL expression; the largest value of its result is compared. No series: *unknown*, or as ``empty`` says."""

    expr: str
    is_: str = msgspec.field(name="is")  # GreaterThan | LessThan | AtLeast | AtMost | Equal
    value: int
    scale: int = 1  # value / scale is the threshold: no floats in the file
    empty: str = "Unknown"  # Unknown | True | False: what an empty result means


class EventCheck(Value, frozen=True, kw_only=True):
    """An event with this reason on the object, or on one that it owns."""

    entity: str
    reason: str
    message_matches: str = ""


class LogCheck(Value, frozen=True, kw_only=True):
    """A line of the pods of a workload that matches the pattern in some part."""

    entity: str
    pattern: str


class ProbeCheck(Value, frozen=True, kw_only=True):
    """Whether a port answers: a TCP connection, or with ``path`` an HTTP GET whose status is in the range.

    ``target`` is a Service, a workload or a Pod. All of its pods must succeed, or (``succeeds`` false) none of them.
    """

    target: str
    port: int
    path: str = ""
    status_at_least: int = 200
    status_at_most: int = 399
    succeeds: bool = True


class Check(Value, frozen=True, kw_only=True):
    """One-of: exactly one of the siblings is set. ``within_seconds`` is the deadline for it to become true.

    ``stays`` says of a check that a scenario expects that it holds in the healthy app as well, and goes on holding.
    """

    object: ObjectCheck | None = None
    endpoints: EndpointsCheck | None = None
    query: QueryCheck | None = None
    event: EventCheck | None = None
    log: LogCheck | None = None
    probe: ProbeCheck | None = None
    within_seconds: int = 120
    stays: bool = False
    describe: str = ""
