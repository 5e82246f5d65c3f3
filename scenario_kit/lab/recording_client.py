"""Recordings of a lab server's worlds, for its clients."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final
from urllib.parse import quote

import httpx
import msgspec

from scenario_kit.errors import LabError
from scenario_kit.lab import clock
from scenario_kit.lab.host import loopback
from scenario_kit.model.runtime.recording import RecordedTick

_SECONDS: Final = 60.0
_GONE: Final = "start the lab again: scenario-kit lab up; then repeat the command"


class RecordingClient:
    """The recording of one trial: announced before the trial exists, read any number of times, finally dropped.

    All methods raise ``LabError`` if the server or the recording is gone.
    """

    def __init__(self, server_url: str, token: str, trial: str) -> None:
        self._url, self._token = server_url, token
        self._path = f"/recordings/{quote(trial, safe='')}"

    def announce(self) -> None:
        """Request a recording of the trial's world."""
        clock.send_request(self._url, self._token, "PUT", self._path, {})

    def drop(self) -> None:
        """Delete the recording."""
        clock.send_request(self._url, self._token, "DELETE", self._path)

    def read_ticks(self) -> Iterator[RecordedTick]:
        """Read the ticks recorded so far, in order."""
        decoder = msgspec.json.Decoder(RecordedTick)
        headers = {"Authorization": f"Bearer {self._token}"}
        with loopback.create_client(base_url=self._url, headers=headers, timeout=_SECONDS) as client:
            offset = 0
            while data := self._read(client, offset):
                offset += len(data)
                for line in data.splitlines():
                    yield decoder.decode(line)

    def _read(self, client: httpx.Client, offset: int) -> bytes:
        try:
            response = client.get(self._path, params={"offset": str(offset)})
        except httpx.HTTPError as error:
            raise LabError(f"the lab server at {self._url} does not respond: {error}", fix=_GONE) from error
        if response.status_code != 200:
            raise LabError(f"GET {self._url}{self._path}: {response.text[:200]}", fix=_GONE)
        return response.content
