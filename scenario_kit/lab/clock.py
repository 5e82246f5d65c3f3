"""The ``Clock`` port on worlds of a lab server."""

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

#: How long (wall clock) a cluster may take to settle before that is somebody's fault below us.
SETTLE_SECONDS = 60.0
#: The server answers a wait within about ten seconds, and everything else at once.
_TIMEOUT = httpx.Timeout(60.0, connect=5.0)
_GONE = "start the lab again: scenario-kit lab up; 'scenario-kit lab status' tells which part died"


class _Server:
    """One lab server, as its clients see it."""

    def __init__(self, server_url: str, token: str) -> None:
        headers = {"Authorization": f"Bearer {token}"}
        self._client = loopback.create_client(base_url=server_url, headers=headers, timeout=_TIMEOUT)
        self._url = server_url

    def ask(self, method: str, path: str, document: Object | None = None) -> Any:
        """Send and decode; see ``WorldClock.wait`` for the errors."""
        try:
            response = self._client.request(method, path, json=document)
        except httpx.HTTPError as error:
            what = f"the lab server at {self._url} does not answer: {error or type(error).__name__}"
            raise LabError(what, fix=_GONE) from error
        try:
            answer = response.json()
        except ValueError as error:
            raise LabError(f"{method} {self._url}{path}: the answer is not JSON: {response.text[:200]!r}") from error
        if response.status_code < 300:
            return answer
        said, fix = str(answer.get("error", "")), answer.get("fix", "")
        text = f"{method} {self._url}{path}: {said}"
        if response.status_code == 422:
            raise AuthoringError(said, fix=fix)
        if response.status_code == 503:
            raise InfrastructureError(text, fix=fix)
        if response.status_code in (404, 401, 409):
            raise LabError(text, fix=fix)
        raise KitError(text, fix=fix)

    def close(self) -> None:
        """Drop the connections."""
        self._client.close()


class WorldClock:
    """The time of one trial's world. Implements ``ports.Clock``.

    Raises, all methods: ``LabError`` when the server or the world is gone, ``InfrastructureError`` when something below
    the server failed.
    """

    def __init__(self, server_url: str, token: str, trial: str) -> None:
        self._server = _Server(server_url, token)
        self._path = f"/worlds/{quote(trial, safe='')}"
        self._trial = trial

    def now(self) -> float:
        """Return seconds since the epoch."""
        return float(self._server.ask("GET", self._path)["now"])

    def wait(self, until: float) -> float:
        """Let time pass up to ``until``, on a grid of 15 s, and the cluster settle; returns the time reached.

        May return earlier, but only after time has passed or ``until`` is reached.

        Raises:
            InfrastructureError: the cluster has not settled for a minute (wall clock); the message says why.
        """
        deadline, before = time.monotonic() + SETTLE_SECONDS, None
        while True:
            waited = self._server.ask("POST", f"{self._path}/wait", {"until": until})
            if waited["settled"]:
                return float(waited["now"])
            if waited["now"] != before:  # it gets on
                deadline, before = time.monotonic() + SETTLE_SECONDS, waited["now"]
            if time.monotonic() > deadline:
                reason = waited["reason"]
                raise InfrastructureError(
                    f"trial {self._trial}: the cluster did not settle within {SETTLE_SECONDS:.0f} s: {reason}",
                    fix="look at the controllers' logs ('scenario-kit lab status') and at the objects named",
                )

    def close(self) -> None:
        """Drop the connections; the world stays."""
        self._server.close()


class WorldWallClock(clock.WallClock):
    """The wall clock, in a world of a lab server whose end must not go unnoticed."""

    def __init__(self, server_url: str, token: str, trial: str) -> None:
        super().__init__()
        self._server = _Server(server_url, token)
        self._path = f"/worlds/{quote(trial, safe='')}"

    def wait(self, until: float) -> float:
        """Sleep until then, but for a few seconds at most, and see that the world is still there.

        Raises:
            LabError: it is not, or the server is gone.
            InfrastructureError: the clock jumped, or nothing ran for a while.
        """
        self._server.ask("GET", self._path)
        return super().wait(until)

    def close(self) -> None:
        """Drop the connections; the world stays."""
        self._server.close()


def ask(server_url: str, token: str, method: str, path: str, document: Object | None = None) -> Any:
    """Return one question to a lab server.

    Raises:
        LabError: the server is gone, or there is no such thing.
    """
    server = _Server(server_url, token)
    try:
        return server.ask(method, path, document)
    finally:
        server.close()


def open_world(server_url: str, token: str, spec: WorldSpec) -> Clock:
    """Open the clock of a trial's world, which is made if it does not exist. A virtual world starts at the lab's epoch.

    Raises:
        AuthoringError: the app cannot be simulated, or not with these assumptions.
        LabError: the server is gone; the trial has another world already; the namespace has.
    """
    server = _Server(server_url, token)
    try:
        server.ask("PUT", f"/worlds/{quote(spec.trial, safe='')}", spec.to_json())
    finally:
        server.close()
    kind = WorldClock if spec.mode == "Virtual" else WorldWallClock
    return kind(server_url, token, spec.trial)


def has_world(server_url: str, token: str, trial: str) -> bool:
    """Check whether the trial has a world; one that is lost (the server died) took its time and its state along.

    Raises:
        LabError: the server is gone.
    """
    server = _Server(server_url, token)
    try:
        return any(world["trial"] == trial for world in server.ask("GET", "/worlds")["worlds"])
    finally:
        server.close()


def close_world(server_url: str, token: str, trial: str) -> None:
    """End the world of a trial; one that is gone is fine.

    Raises:
        LabError: the server is gone.
        InfrastructureError: its last samples were not accepted.
    """
    server = _Server(server_url, token)
    try:
        server.ask("DELETE", f"/worlds/{quote(trial, safe='')}")
    finally:
        server.close()
