"""Endpoints of the lab server whose address is all that a client needs: the traces of a world, by namespace and key.

There is no list of worlds and no record of changes, and worlds are not addressed by trial names.
"""

from __future__ import annotations

import logging
import re
from typing import Final
from urllib.parse import parse_qs

from scenario_kit.lab.host.http_server import Answer, answer_json
from scenario_kit.lab.tracing import TraceSource, build_error_reply, reply, serialize_lines
from scenario_kit.lab.tracing.access import is_traces_key
from scenario_kit.lab.tracing.query import Malformed, parse_whole
from scenario_kit.lab.worlds.registry import Worlds
from scenario_kit.lab.worlds.world import LabWorld

_LOG: Final = logging.getLogger(__name__)
_PLACE: Final = re.compile(
    r"/worlds/(?P<namespace>[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)/(?P<key>[0-9a-f]+)/(jaeger/api/(?P<api>.+)|otlp)"
)
_LINES: Final = "application/x-ndjson"
#: The default time range of an export in seconds.
_SINCE: Final = 300


def answer_public(worlds: Worlds, token: str, path: str, query: str) -> Answer | None:
    """Handle a GET request whose path has a key of its own; None for other paths, and for other keys."""
    place = _PLACE.fullmatch(path)
    if place is None or not is_traces_key(place["key"], token, place["namespace"]):
        return None
    world = worlds.get_by_namespace(place["namespace"])
    if world is None:
        return answer_json(*build_error_reply(404, f"no world has the namespace {place['namespace']}"))
    try:
        if place["api"]:
            return answer_json(*reply(TraceSource(world.now, world.traces), place["api"].rstrip("/"), query))
        return _export(world, query)
    except Malformed as error:
        return answer_json(*build_error_reply(400, str(error)))
    except Exception as error:  # noqa: BLE001 - answered with 500; the server continues
        _LOG.exception("GET %s failed", path)
        return answer_json(*build_error_reply(500, f"{type(error).__name__}: see the lab server's log"))


def _export(world: LabWorld, query: str) -> Answer:
    given = {key: values[0] for key, values in parse_qs(query).items()}
    since = world.now - parse_whole(given, "since", _SINCE)
    service, errors = given.get("service", ""), given.get("errors", "") == "true"
    chosen = (
        trace
        for trace in world.traces(since, world.now)
        if (not errors or trace.errors) and (not service or any(span.service == service for span in trace.spans))
    )
    return Answer(200, "".join(line + "\n" for line in serialize_lines(chosen)).encode(), _LINES)
