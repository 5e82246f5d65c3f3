"""A proxy between operator and API server that disturbs writes.

It forwards requests and responses unchanged, including watches. Once armed, it counts writes; at those of the cell it
kills the operator, refuses the request or drops the response. Neither side can detect it.
"""

from __future__ import annotations

import asyncio
import ssl
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

import aiohttp
import msgspec
from aiohttp import web

from tools.crash.cells import Cell, Disturbance, Recording, Write, compute_digest, is_disturbed, is_write

_HOP_BY_HOP: Final = frozenset({"connection", "keep-alive", "transfer-encoding", "te", "trailer", "upgrade", "host"})
#: Headers that the HTTP client would otherwise add.
_AUTOMATIC: Final = ("Accept", "Accept-Encoding", "Content-Type", "User-Agent")
_STATUS: Final = {
    "conflict": (409, "Conflict", "the object has been modified; please apply your changes to the latest version"),
    "unavailable": (503, "ServiceUnavailable", "the server is currently unable to handle the request"),
}


class DisturbingProxy:
    """Serves TLS on a loopback port in a thread, and forwards to ``upstream`` with the client certificate's identity.

    ``kill`` kills the operator.
    """

    def __init__(self, upstream: str, kill: Callable[[], None]) -> None:
        self._upstream = upstream
        self._kill_operator = kill
        self._lock = threading.Lock()
        self._cell: Cell | None = None
        self._armed = False
        self._writes: list[Write] = []
        self._accepted: list[Write] = []
        self._disturbed: list[Write] = []
        self._watches: set[web.StreamResponse] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._runner: web.AppRunner | None = None
        self._session: aiohttp.ClientSession | None = None

    def start(self, server: tuple[Path, Path], client: tuple[Path, Path], authority: Path) -> int:
        """Start serving with the ``server`` certificate and key; returns the port."""
        inward = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        inward.load_cert_chain(*server)
        outward = ssl.create_default_context(cafile=str(authority))
        outward.load_cert_chain(*client)
        self._thread.start()
        return asyncio.run_coroutine_threadsafe(self._serve(inward, outward), self._loop).result(30)

    def close(self) -> None:
        """Stop serving."""
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(30)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(30)

    def arm(self, cell: Cell | None = None) -> None:
        """Start counting writes, and disturb those of the cell."""
        with self._lock:
            self._cell = cell
            self._armed, self._writes, self._accepted, self._disturbed = True, [], [], []

    def disarm(self) -> Recording:
        """Stop counting; returns the recording."""
        with self._lock:
            self._armed = False
            return Recording(
                writes=tuple(self._writes), accepted=tuple(self._accepted), disturbed=tuple(self._disturbed)
            )

    def _count(self, write: Write | None) -> Disturbance | None:
        """Count a write; returns the disturbance to apply, if any."""
        with self._lock:
            if not self._armed or write is None:
                return None
            self._writes.append(write)
            if self._cell is None or not is_disturbed(self._cell, self._writes):
                return None
            self._disturbed.append(write)
            return self._cell.disturbance

    async def _serve(self, inward: ssl.SSLContext, outward: ssl.SSLContext) -> int:
        connector = aiohttp.TCPConnector(ssl=outward, limit=0)
        timeout = aiohttp.ClientTimeout(total=None)
        self._session = aiohttp.ClientSession(connector=connector, timeout=timeout, auto_decompress=False)
        app = web.Application(client_max_size=1 << 26)
        app.router.add_route("*", "/{path:.*}", self._handle)
        self._runner = web.AppRunner(app, access_log=None, handler_cancellation=True)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0, ssl_context=inward)
        await site.start()
        port: int = self._runner.addresses[0][1]
        return port

    async def _stop(self) -> None:
        assert self._runner is not None
        assert self._session is not None
        await self._session.close()
        await self._runner.cleanup()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        write = _read_write(request, body)
        disturbance = self._count(write)
        if disturbance == "killed-before":
            return self._kill(request)
        if disturbance == "watches-closed":
            self._close_watches()
        if disturbance in _STATUS:
            return _refuse(disturbance)
        assert self._session is not None
        headers = {k: v for k, v in request.headers.items() if k.lower() not in _HOP_BY_HOP}
        url = self._upstream + request.raw_path
        try:
            async with self._session.request(
                request.method, url, headers=headers, data=body or None, skip_auto_headers=_AUTOMATIC
            ) as answer:
                if answer.ok and self._armed and write is not None:
                    self._accepted.append(write)
                if disturbance in ("killed-after", "unanswered"):
                    await answer.read()
                    return self._kill(request) if disturbance == "killed-after" else _drop(request)
                return await self._forward(request, answer)
        except aiohttp.ClientConnectionError:
            return _drop(request)

    async def _forward(self, request: web.Request, answer: aiohttp.ClientResponse) -> web.StreamResponse:
        headers = {k: v for k, v in answer.headers.items() if k.lower() not in _HOP_BY_HOP}
        response = web.StreamResponse(status=answer.status, headers=headers)
        watches = "watch" in request.query
        await response.prepare(request)
        if watches:
            self._watches.add(response)
        try:
            async for chunk in answer.content.iter_any():
                await response.write(chunk)
            await response.write_eof()
        except (ConnectionError, aiohttp.ClientError):
            return _drop(request, response)
        finally:
            self._watches.discard(response)
        return response

    def _close_watches(self) -> None:
        for response in tuple(self._watches):
            transport = response._req.transport if response._req else None
            if transport is not None:
                transport.close()

    def _kill(self, request: web.Request) -> web.StreamResponse:
        self._kill_operator()
        return _drop(request)


def _read_write(request: web.Request, body: bytes) -> Write | None:
    """Return the write that a request makes; None if it is not a write."""
    if not is_write(request.method, request.path, request.query_string):
        return None
    name = ""
    if request.method == "POST":
        with suppress(msgspec.DecodeError):  # kopf and this kit send JSON; other bodies have no name
            name = msgspec.json.decode(body, type=_Created).metadata.name
    return Write(method=request.method, path=request.path, name=name, digest=compute_digest(body))


class _Metadata(msgspec.Struct):
    name: str = ""


class _Created(msgspec.Struct):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)


def _refuse(disturbance: str) -> web.Response:
    code, reason, message = _STATUS[disturbance]
    status = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "message": message}
    return web.json_response({**status, "metadata": {}, "code": code}, status=code, headers={"Retry-After": "1"})


def _drop(request: web.Request, response: web.StreamResponse | None = None) -> web.StreamResponse:
    """Close the connection without a response."""
    if request.transport is not None:
        request.transport.close()
    return response or web.Response(status=499)
