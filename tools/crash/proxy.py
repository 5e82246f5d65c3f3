"""A proxy between the operator and the API server, which disturbs one write.

It forwards every request and answer as they are, watches included. Once armed it counts writes; at the one of the cell
it kills the operator, refuses, or loses the answer. Neither the operator nor the API server knows of it.
"""

from __future__ import annotations

import asyncio
import os
import signal
import ssl
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

import aiohttp
from aiohttp import web

from tools.crash.cells import Disturbance, Recording, Write, is_write

_HOP_BY_HOP: Final = frozenset({"connection", "keep-alive", "transfer-encoding", "te", "trailer", "upgrade", "host"})
#: Headers that the client adds where the request had none.
_AUTOMATIC: Final = ("Accept", "Accept-Encoding", "Content-Type", "User-Agent")
_STATUS: Final = {
    "conflict": (409, "Conflict", "the object has been modified; please apply your changes to the latest version"),
    "unavailable": (503, "ServiceUnavailable", "the server is currently unable to handle the request"),
}


class DisturbingProxy:
    """Serves TLS on a loopback port of its own thread, and forwards to ``upstream`` as the user of the client key.

    ``find_pid`` returns the operator's process, which is another one after each kill.
    """

    def __init__(self, upstream: str, find_pid: Callable[[], int]) -> None:
        self._upstream = upstream
        self._find_pid = find_pid
        self._lock = threading.Lock()
        self._goal: tuple[int, Disturbance] | None = None
        self._armed = False
        self._writes: list[Write] = []
        self._accepted: list[Write] = []
        self._disturbed: Write | None = None
        self._watches: set[web.StreamResponse] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._runner: web.AppRunner | None = None
        self._session: aiohttp.ClientSession | None = None

    def start(self, server: tuple[Path, Path], client: tuple[Path, Path], authority: Path) -> int:
        """Start to serve with the ``server`` certificate and key; returns the port."""
        inward = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        inward.load_cert_chain(*server)
        outward = ssl.create_default_context(cafile=str(authority))
        outward.load_cert_chain(*client)
        self._thread.start()
        return asyncio.run_coroutine_threadsafe(self._serve(inward, outward), self._loop).result(30)

    def close(self) -> None:
        """Stop to serve."""
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(30)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(30)

    def arm(self, number: int = 0, disturbance: Disturbance = "killed-before") -> None:
        """Count writes from now on, and disturb that of the number; 0 disturbs none."""
        with self._lock:
            self._goal = (number, disturbance) if number else None
            self._armed, self._writes, self._accepted, self._disturbed = True, [], [], None

    def disarm(self) -> Recording:
        """Stop to count, and return what was counted."""
        with self._lock:
            self._armed = False
            return Recording(writes=tuple(self._writes), accepted=tuple(self._accepted), disturbed=self._disturbed)

    def _count(self, request: web.Request) -> Disturbance | None:
        """Count a request, and return how it is to be disturbed."""
        with self._lock:
            if not self._armed or not is_write(request.method, request.path, request.query_string):
                return None
            write = Write(method=request.method, path=request.path)
            self._writes.append(write)
            if self._goal is None or len(self._writes) != self._goal[0]:
                return None
            self._disturbed = write
            return self._goal[1]

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
        disturbance = self._count(request)
        body = await request.read()
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
                if answer.ok and self._armed and is_write(request.method, request.path, request.query_string):
                    self._accepted.append(Write(method=request.method, path=request.path))
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
        with suppress(ProcessLookupError):
            os.kill(self._find_pid(), signal.SIGKILL)
        return _drop(request)


def _refuse(disturbance: str) -> web.Response:
    code, reason, message = _STATUS[disturbance]
    status = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "message": message}
    return web.json_response({**status, "metadata": {}, "code": code}, status=code, headers={"Retry-After": "1"})


def _drop(request: web.Request, response: web.StreamResponse | None = None) -> web.StreamResponse:
    """End the connection without an answer."""
    if request.transport is not None:
        request.transport.close()
    return response or web.Response(status=499)
