"""The ``Clock`` port on worlds of the lab server."""

from __future__ import annotations

import time
from typing import Any
from urllib.parse import quote

import httpx

from scenario_kit.clients import clock
from scenario_kit.errors import AuthoringError, InfrastructureError, KitError, LabError
from scenario_kit.lab.host import loopback
from scenario_kit.lab.world_spec import WorldSpec
from scenario_kit.model import Object
from scenario_kit.ports import Clock

#: The maximum wall time for a cluster to settle; beyond it, infrastructure is at fault.
SETTLE_SECONDS = 60.0
#: The server responds to a wait within about ten seconds, and to everything else at once.
_TIMEOUT = httpx.Timeout(60.0, connect=5.0)
_GONE = "start the lab again: scenario-kit lab up; 'scenario-kit lab status' shows which component died"


class _Server:
    """An HTTP client of a lab server."""

    def __init__(self, server_url: str, token: str) -> None:
        headers = {"Authorization": f"Bearer {token}"}
        self._client = loopback.create_client(base_url=server_url, headers=headers, timeout=_TIMEOUT)
        self._url = server_url

    def send(self, method: str, path: str, document: Object | None = None) -> Any:
        """Send a request and decode the response; for errors, see ``WorldClock.wait``."""
        try:
            response = self._client.request(method, path, json=document)
        except httpx.HTTPError as error:
            what = f"the lab server at {self._url} does not answer: {error or type(error).__name__}"
            raise LabError(what, fix=_GONE) from error
        try:
            answer = response.json()
        except ValueError as error:
            raise LabError(f"{method} {self._url}{path}: the response is not JSON: {response.text[:200]!r}") from error
        if response.status_code < 300:
            return answer
        message, fix = str(answer.get("error", "")), answer.get("fix", "")
        text = f"{method} {self._url}{path}: {message}"
        if response.status_code == 422:
            raise AuthoringError(message, fix=fix)
        if response.status_code == 503:
            raise InfrastructureError(text, fix=fix)
        if response.status_code in (404, 401, 409):
            raise LabError(text, fix=fix)
        raise KitError(text, fix=fix)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


class WorldClock:
    """The time of one trial's world. Implements ``ports.Clock``.

    All methods raise ``LabError`` if the server or the world is gone, and ``InfrastructureError`` if a component below
    the server failed.
    """

    def __init__(self, server_url: str, token: str, trial: str) -> None:
        self._server = _Server(server_url, token)
        self._path = f"/worlds/{quote(trial, safe='')}"
        self._trial = trial

    def now(self) -> float:
        """Return the time in seconds since the epoch."""
        return float(self._server.send("GET", self._path)["now"])

    def wait(self, until: float) -> float:
        """Advance to ``until`` on a grid of 15 s, and settle the cluster; return the time reached.

        May return early, but only after time has advanced or ``until`` is reached.

        Raises:
            InfrastructureError: the cluster has not settled for a minute of wall time; the message says why.
        """
        deadline, before = time.monotonic() + SETTLE_SECONDS, None
        while True:
            waited = self._server.send("POST", f"{self._path}/wait", {"until": until})
            if waited["settled"]:
                return float(waited["now"])
            if waited["now"] != before:  # progress
                deadline, before = time.monotonic() + SETTLE_SECONDS, waited["now"]
            if time.monotonic() > deadline:
                reason = waited["reason"]
                raise InfrastructureError(
                    f"trial {self._trial}: the cluster did not settle within {SETTLE_SECONDS:.0f} s: {reason}",
                    fix="check the controllers' logs ('scenario-kit lab status') and the named objects",
                )

    def close(self) -> None:
        """Close the connections; the world stays."""
        self._server.close()


class WorldWallClock(clock.WallClock):
    """The wall clock of a world in a lab server, which detects the end of the world."""

    def __init__(self, server_url: str, token: str, trial: str) -> None:
        super().__init__()
        self._server = _Server(server_url, token)
        self._path = f"/worlds/{quote(trial, safe='')}"

    def wait(self, until: float) -> float:
        """Sleep until then, a few seconds at most, and check that the world exists.

        Raises:
            LabError: the world or the server is gone.
            InfrastructureError: the clock jumped, or the machine was suspended.
        """
        self._server.send("GET", self._path)
        return super().wait(until)

    def close(self) -> None:
        """Close the connections; the world stays."""
        self._server.close()


def send_request(server_url: str, token: str, method: str, path: str, document: Object | None = None) -> Any:
    """Send one request to a lab server; return the decoded response.

    Raises:
        LabError: the server is gone, or the object does not exist.
    """
    server = _Server(server_url, token)
    try:
        return server.send(method, path, document)
    finally:
        server.close()


def open_world(server_url: str, token: str, spec: WorldSpec) -> Clock:
    """Open the clock of a trial's world; create the world if needed. A virtual world starts at the lab's epoch.

    Raises:
        AuthoringError: the app cannot be simulated, or not with these assumptions.
        LabError: the server is gone; the trial has another world; another world has the namespace.
    """
    server = _Server(server_url, token)
    try:
        server.send("PUT", f"/worlds/{quote(spec.trial, safe='')}", spec.to_json())
    finally:
        server.close()
    kind = WorldClock if spec.mode == "Virtual" else WorldWallClock
    return kind(server_url, token, spec.trial)


def has_world(server_url: str, token: str, trial: str) -> bool:
    """Return whether the trial has a world; a world is lost with its state if the server dies.

    Raises:
        LabError: the server is gone.
    """
    server = _Server(server_url, token)
    try:
        return any(world["trial"] == trial for world in server.send("GET", "/worlds")["worlds"])
    finally:
        server.close()


def close_world(server_url: str, token: str, trial: str) -> None:
    """Close the world of a trial; no error if it is gone.

    Raises:
        LabError: the server is gone.
        InfrastructureError: its last samples were rejected.
    """
    server = _Server(server_url, token)
    try:
        server.send("DELETE", f"/worlds/{quote(trial, safe='')}")
    finally:
        server.close()
