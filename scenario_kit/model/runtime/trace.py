"""Distributed traces, as OpenTelemetry describes them: what programs told about requests.

Times are seconds since the epoch on the trial's clock. Identifiers are lower-case hex: 32 digits for a trace, 16 for a
span.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

SpanKind = Literal["SERVER", "CLIENT", "INTERNAL", "PRODUCER", "CONSUMER"]
#: Values of attributes.
Scalar = str | bool | int | float


class SpanRef(NamedTuple):
    """Names a span, also one of another trace."""

    trace_id: str
    span_id: str


class SpanEvent(NamedTuple):
    """Something that happened during a span, such as ``exception``."""

    t: float
    name: str
    attributes: Mapping[str, Scalar]


class Span(NamedTuple):
    """One piece of work of one process. ``parent`` is empty for a root; ``links`` are causes that are no parents.

    ``resource`` describes the process; spans of one process share it. ``message`` explains an ``error``.
    """

    trace_id: str
    span_id: str
    parent: str
    service: str
    name: str
    kind: SpanKind
    start: float
    seconds: float
    error: bool
    message: str
    attributes: Mapping[str, Scalar]
    resource: Mapping[str, Scalar]
    links: tuple[SpanRef, ...] = ()
    events: tuple[SpanEvent, ...] = ()

    @property
    def end(self) -> float:
        """When the work was done."""
        return self.start + self.seconds


class Trace(NamedTuple):
    """The spans of one request that have been reported, in order of their start; at least one."""

    trace_id: str
    spans: tuple[Span, ...]

    @property
    def root(self) -> Span:
        """The span without a parent; the earliest one where that was never reported."""
        return next((span for span in self.spans if not span.parent), self.spans[0])

    @property
    def start(self) -> float:
        """When the earliest span began."""
        return self.spans[0].start

    @property
    def seconds(self) -> float:
        """From the start to the end of the last span."""
        return max(span.end for span in self.spans) - self.start

    @property
    def errors(self) -> int:
        """How many spans ended in an error."""
        return sum(span.error for span in self.spans)
