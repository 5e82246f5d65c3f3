"""Checks in `effect`, `undone` and `expect.checks`. A check is true, false or unknown."""

from __future__ import annotations

from typing import Any

import msgspec

from scenario_kit.model.base import Value
from scenario_kit.model.kubernetes.reference import Reference


class ObjectCheck(Value, frozen=True, kw_only=True):
    """A field of an object, given as JSONPath. Exactly one comparison is set."""

    ref: Reference
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

    service: Reference
    at_least: int | None = None
    at_most: int | None = None


class QueryCheck(Value, frozen=True, kw_only=True):
    """A PromQL expression, whose largest value is compared. Without series it is *unknown*, or as ``empty`` says."""

    expr: str
    is_: str = msgspec.field(name="is")  # GreaterThan | LessThan | AtLeast | AtMost | Equal
    value: int
    scale: int = 1  # value / scale is the threshold: no floats in the file
    empty: str = "Unknown"  # Unknown | True | False: the result without series


class EventCheck(Value, frozen=True, kw_only=True):
    """An event with this reason on an object, or on one that it owns."""

    entity: Reference
    reason: str
    message_matches: str = ""


class LogCheck(Value, frozen=True, kw_only=True):
    """A log line of a workload's pods that contains a match of the pattern."""

    entity: Reference
    pattern: str


class ProbeCheck(Value, frozen=True, kw_only=True):
    """A probe of a port: a TCP connection, or with ``path`` an HTTP GET with an expected status.

    ``target`` is a Service, a workload or a Pod. All pods must succeed, or (``succeeds`` false) none.
    """

    target: Reference
    port: int
    path: str = ""
    status_at_least: int = 200
    status_at_most: int = 399
    succeeds: bool = True


class Check(Value, frozen=True, kw_only=True):
    """A check; exactly one of the kinds is set. ``within_seconds`` is the deadline to become true.

    ``stays`` marks an expected check that also holds in the healthy app.
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
