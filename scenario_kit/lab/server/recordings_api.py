"""The HTTP API of recordings: announce, read while they grow, drop."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import parse_qs

from scenario_kit.lab.host.http_server import Answer, Request, answer_json, build_refusal
from scenario_kit.lab.tracing.query import Malformed, parse_whole
from scenario_kit.lab.worlds.recordings import Recordings

_PATH: Final = re.compile(r"/recordings/(?P<trial>[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?)")
_LINES: Final = "application/x-ndjson"


def answer_recordings(recordings: Recordings, request: Request) -> Answer | None:
    """Handle a request for a recording; None for other paths.

    Raises:
        LabError: a recording cannot be written to disk.
    """
    match = _PATH.fullmatch(request.path)
    if match is None:
        return None
    trial = match["trial"]
    if request.method == "PUT":
        recordings.announce(trial)
        return answer_json(200, {"trial": trial})
    if request.method == "DELETE":
        recordings.drop(trial)
        return answer_json(200, {})
    if request.method != "GET":
        return build_refusal(404, f"{request.method} {request.path}: method not supported")
    try:
        given = {key: values[0] for key, values in parse_qs(request.query).items()}
        found = recordings.read(trial, parse_whole(given, "offset", 0))
    except Malformed as error:
        return build_refusal(400, str(error))
    if found is None:
        return build_refusal(404, f"trial {trial} is not recorded")
    return Answer(200, found, _LINES)
