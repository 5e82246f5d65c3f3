"""Trace search: the parameters of Jaeger's query API, and matching."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple
from urllib.parse import parse_qs

from scenario_kit.model.kubernetes.duration import UNITS, parse_seconds
from scenario_kit.model.runtime.trace import Scalar, Span, Trace

#: Jaeger's default limit.
LIMIT: Final = 100
_LOOKBACK_SECONDS: Final = 48 * 3600.0
_UNITS: Final = {**UNITS, "d": 86400.0}


class Malformed(ValueError):
    """A parameter is missing or invalid; the message names it."""


class TraceQuery(NamedTuple):
    """A search. Times and durations are in seconds; ``longest`` 0 sets no bound."""

    service: str = ""
    operation: str = ""
    since: float = 0.0
    until: float = 0.0
    shortest: float = 0.0
    longest: float = 0.0
    tags: tuple[tuple[str, str], ...] = ()
    limit: int = LIMIT
    ids: tuple[str, ...] = ()

    def matches(self, span: Span) -> bool:
        """Return whether a span matches the search."""
        if self.service and span.service != self.service:
            return False
        if self.operation and span.name != self.operation:
            return False
        if not self.since <= span.start <= self.until or span.seconds < self.shortest:
            return False
        if self.longest and span.seconds > self.longest:
            return False
        return all(_has_tag(span, key, value) for key, value in self.tags)


def parse(text: str, now: float) -> TraceQuery:
    """Parse a query string into a search; ``now`` is the world's time.

    ``start`` and ``end`` are microseconds since the epoch. Without ``start``, a ``lookback`` such as ``15m`` counts
    back from ``end`` or ``now``; clients cannot know the time of a virtual world.

    Raises:
        Malformed: a parameter is invalid, or neither a service nor a trace is given.
    """
    given = parse_qs(text)
    first = {key: values[0] for key, values in given.items()}
    until = parse_micros(first, "end", now)
    back = parse_duration(first, "lookback") if first.get("lookback", "")[:1].isdigit() else _LOOKBACK_SECONDS
    query = TraceQuery(
        service=first.get("service", ""),
        operation=first.get("operation", "").removeprefix("all"),
        since=parse_micros(first, "start", until - back),
        until=until,
        shortest=parse_duration(first, "minDuration"),
        longest=parse_duration(first, "maxDuration"),
        tags=tuple(_parse_tags(given.get("tag", ()), given.get("tags", ()))),
        limit=parse_whole(first, "limit", LIMIT),
        ids=tuple(normalize_identifier(text) for text in given.get("traceID", ())),
    )
    if not query.service and not query.ids:
        raise Malformed("parameter 'service' is required")
    if query.longest and query.longest < query.shortest:
        raise Malformed("'maxDuration' should be greater than 'minDuration'")
    return query


def find(traces: Iterable[Trace], query: TraceQuery) -> list[Trace]:
    """Find the newest traces with a matching span."""
    found = [trace for trace in traces if any(query.matches(span) for span in trace.spans)]
    return sorted(found, key=lambda trace: -trace.start)[: query.limit]


def normalize_identifier(text: str) -> str:
    """Return a trace ID in canonical form; like Jaeger, accept it without leading zeros."""
    if not re.fullmatch(r"[0-9a-fA-F]{1,32}", text):
        raise Malformed(f"'{text}' is not a trace ID: expected up to 32 hexadecimal digits")
    return text.lower().zfill(32)


def parse_micros(given: Mapping[str, str], name: str, default: float, units: float = 1e6) -> float:
    """Parse a timestamp in ``units`` per second; return seconds."""
    if not given.get(name):
        return default
    return parse_whole(given, name, 0) / units


def parse_whole(given: Mapping[str, str], name: str, default: int) -> int:
    """Parse a non-negative integer."""
    text = given.get(name, "")
    if not text:
        return default
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise Malformed(f"unable to parse param '{name}': '{text}' is not a non-negative integer")
    return int(text)


def parse_duration(given: Mapping[str, str], name: str) -> float:
    """Parse a duration such as ``1.5s`` or ``2m30s``; return seconds, 0 if absent."""
    try:
        return parse_seconds(given.get(name, ""), _UNITS)
    except ValueError as error:
        raise Malformed(f"unable to parse param '{name}': {error}") from error


def _parse_tags(pairs: Sequence[str], documents: Sequence[str]) -> Iterable[tuple[str, str]]:
    for pair in pairs:
        key, colon, value = pair.partition(":")
        if not colon:
            raise Malformed(f"malformed 'tag' parameter, expecting key:value, received: {pair}")
        yield key, value
    for document in documents:
        try:
            reported = json.loads(document)
        except ValueError as error:
            raise Malformed(f"malformed 'tags' parameter, cannot unmarshal JSON: {error}") from error
        if not isinstance(reported, dict) or not all(isinstance(value, str) for value in reported.values()):
            raise Malformed("malformed 'tags' parameter, expected an object with string values")
        yield from reported.items()


def list_tags(span: Span) -> dict[str, Scalar]:
    """List the tags that Jaeger derives from a span's attributes, kind and status."""
    tags = dict(span.attributes) | {"span.kind": span.kind.lower(), "internal.span.format": "otlp"}
    if span.error:
        tags |= {"error": True, "otel.status_code": "ERROR"}
        if span.message:
            tags["otel.status_description"] = span.message
    return tags


def format_tag(value: Scalar) -> str:
    """Format a tag value as in a search."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _has_tag(span: Span, key: str, value: str) -> bool:
    sets = (list_tags(span), span.resource, *({"event": e.name, **e.attributes} for e in span.events))
    return any(key in tags and format_tag(tags[key]) == value for tags in sets)
