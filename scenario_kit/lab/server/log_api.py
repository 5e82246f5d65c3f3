"""The logs of containers at ``/containerLogs/{namespace}/{pod}/{container}``, a path of the kubelet API.

Only the API server's certificate is accepted: the API server decides who may read which log.
"""

from __future__ import annotations

import re
import ssl
import time
from collections.abc import Callable, Iterator
from http.server import ThreadingHTTPServer
from typing import Final

from scenario_kit.lab.host.http_server import Answer, Request, create_server
from scenario_kit.lab.kubelet.log_reading import (
    LogOptions,
    LogTail,
    limit_bytes,
    parse_log_options,
    read_lines,
    select_lines,
)
from scenario_kit.lab.kubelet.logs import LogFolder
from scenario_kit.model import Object

_PATH: Final = re.compile(r"/containerLogs/(?P<namespace>[^/]+)/(?P<pod>[^/]+)/(?P<container>[^/]+)")
_TEXT: Final = "text/plain"
_POLL_SECONDS: Final = 0.2
FindPod = Callable[[str, str], Object | None]


class LogApi:
    """Handles requests; independent of sockets except for whether the client is connected.

    Args:
        logs: the logs of all pods.
        find_pod: returns a pod by namespace and name, None if there is none.
        read_clock: returns the time in a namespace.
        pause: waits between two looks at a file that is followed.
    """

    def __init__(
        self,
        logs: LogFolder,
        find_pod: FindPod,
        read_clock: Callable[[str], float],
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._logs = logs
        self._find_pod = find_pod
        self._read_clock = read_clock
        self._pause = pause

    def answer(self, request: Request) -> Answer:
        """Handle one request."""
        match = _PATH.fullmatch(request.path)
        if match is None or request.method != "GET":
            return _refuse(404, "404 page not found")
        namespace, name, container = match["namespace"], match["pod"], match["container"]
        pod = self._find_pod(namespace, name)
        if pod is None:
            return _refuse(404, f'pod "{name}" does not exist')
        if container not in _list_containers(pod):
            return _refuse(400, f'container "{container}" not found in pod "{name}_{namespace}"')
        try:
            options = parse_log_options(request.query, self._read_clock(namespace))
        except ValueError as error:
            return _refuse(400, str(error))
        file = self._logs.locate(pod, container, previous=options.previous)
        if options.previous and not file.exists():
            return _refuse(400, f'previous terminated container "{container}" in pod "{name}" not found')
        chunks = select_lines(read_lines(file), options)
        if options.follow and not options.previous:
            chunks = self._follow(pod, container, options, request.listens)
        return Answer(200, b"", _TEXT, stream=limit_bytes(chunks, options.limit))

    def _follow(self, pod: Object, container: str, options: LogOptions, listens: Callable[[], bool]) -> Iterator[bytes]:
        """Yield lines until the container has ended and its log is read, or the client has gone."""
        tail = LogTail(self._logs.locate(pod, container), self._logs.locate(pod, container, previous=True))
        yield from select_lines(tail.read(), options)
        options = options._replace(tail=None)
        while listens():
            ended = tail.has_ended() or not self._is_running(pod, container)
            lines = tail.read()
            yield from select_lines(lines, options)
            if ended:
                return
            if not lines:
                self._pause(_POLL_SECONDS)

    def _is_running(self, pod: Object, container: str) -> bool:
        meta = pod["metadata"]
        found = self._find_pod(meta["namespace"], meta["name"])
        if found is None or found["metadata"]["uid"] != meta["uid"]:
            return False
        status = found.get("status") or {}
        entries = [*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())]
        states = [entry["state"] for entry in entries if entry["name"] == container]
        return not states or any("terminated" not in state for state in states)


def serve(api: LogApi, port: int, tls: ssl.SSLContext) -> ThreadingHTTPServer:
    """Create a server on loopback, not running yet; ``port`` 0 takes a free one.

    Raises:
        OSError: the port is in use.
    """
    return create_server(api.answer, port, name="kubelet", any_host=True, tls=tls)


def _refuse(status: int, problem: str) -> Answer:
    return Answer(status, problem.encode(), _TEXT)


def _list_containers(pod: Object) -> list[str]:
    spec = pod["spec"]
    return [c["name"] for c in [*(spec.get("initContainers") or ()), *spec["containers"]]]
