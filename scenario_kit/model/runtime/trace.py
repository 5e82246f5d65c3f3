"""Distributed traces in OpenTelemetry's model.

Times are in seconds since the epoch on the trial's clock. Identifiers are lower-case hex: 32 digits for a trace, 16 for
a span.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

SpanKind = Literal["SERVER", "CLIENT", "INTERNAL", "PRODUCER", "CONSUMER"]
#: Kinds of the spans of requests that a component serves; a record that a consumer processes is one.
SERVED_KINDS: Final[tuple[SpanKind, ...]] = ("SERVER", "CONSUMER")
#: Values of the label ``span_kind`` for these, and the PromQL matcher that selects them.
SERVED_LABELS: Final = tuple(f"SPAN_KIND_{kind}" for kind in SERVED_KINDS)
SERVED_SPANS: Final = f'span_kind=~"{"|".join(SERVED_LABELS)}"'
#: Attribute values.
Scalar = str | bool | int | float


class SpanRef(NamedTuple):
    """A reference to a span, possibly of another trace."""

    trace_id: str
    span_id: str


class SpanEvent(NamedTuple):
    """An event during a span, such as ``exception``."""

    t: float
    name: str
    attributes: Mapping[str, Scalar]


class Span(NamedTuple):
    """A unit of work of one process. ``parent`` is empty for a root; ``links`` are causes other than the parent.

    ``resource`` describes the process. ``message`` explains an ``error``.
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
        """The end of the span."""
        return self.start + self.seconds


class Trace(NamedTuple):
    """The reported spans of one request, at least one, in order of their start."""

    trace_id: str
    spans: tuple[Span, ...]

    @property
    def root(self) -> Span:
        """The span without a parent, or else the earliest one."""
        return next((span for span in self.spans if not span.parent), self.spans[0])

    @property
    def start(self) -> float:
        """The start of the earliest span."""
        return self.spans[0].start

    @property
    def seconds(self) -> float:
        """The time from the first start to the last end."""
        return max(span.end for span in self.spans) - self.start

    @property
    def errors(self) -> int:
        """The number of spans with an error."""
        return sum(span.error for span in self.spans)
