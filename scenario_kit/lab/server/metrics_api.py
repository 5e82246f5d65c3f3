"""``metrics.k8s.io/v1beta1``, served to the API server, which hands on what its callers ask (``lab.aggregation``)."""

from __future__ import annotations

import logging
import re
import ssl
import time
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

import msgspec

from scenario_kit.lab.server import selectors
from scenario_kit.lab.server.store import Store
from scenario_kit.lab.telemetry.resource_metrics import (
    API_VERSION,
    Measured,
    listed,
    node_metrics,
    pod_metrics,
    sum_by_node,
)
from scenario_kit.lab.worlds.registry import Worlds
from scenario_kit.lab.worlds.world import TICK_SECONDS
from scenario_kit.model import Object

_LOG = logging.getLogger(__name__)
_GROUP, _, _VERSION = API_VERSION.partition("/")
_PATH = re.compile(
    rf"/apis/{re.escape(API_VERSION)}(/namespaces/(?P<namespace>[^/]+))?/(?P<plural>pods|nodes)(/(?P<name>[^/]+))?"
)
_KINDS = {"pods": "PodMetrics", "nodes": "NodeMetrics"}
_GROUP_VERSION = {"groupVersion": API_VERSION, "version": _VERSION}
_API_GROUP = {"name": _GROUP, "versions": [_GROUP_VERSION], "preferredVersion": _GROUP_VERSION}
_INFO = {"title": "metrics", "version": _VERSION}
#: What is the same at any time. Without schemas of its own the API server makes do with what kubectl needs.
_FIXED: Mapping[str, Object] = {
    "/healthz": {"status": "ok"},
    "/openapi/v2": {"swagger": "2.0", "info": _INFO, "paths": {}},
    "/openapi/v3": {"paths": {}},
    "/apis": {"kind": "APIGroupList", "apiVersion": "v1", "groups": [_API_GROUP]},
    f"/apis/{_GROUP}": {"kind": "APIGroup", "apiVersion": "v1", **_API_GROUP},
    f"/apis/{API_VERSION}": {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": API_VERSION,
        "resources": [
            {"name": plural, "singularName": "", "namespaced": plural == "pods", "kind": kind, "verbs": ["get", "list"]}
            for plural, kind in _KINDS.items()
        ],
    },
}


class Answer(NamedTuple):
    """Status code and document."""

    status: int
    document: Object


#: Called before the metrics of pods are told: namespace, label selector and name of the program that asks.
Pace = Callable[[str, str, str], None]


class MetricsApi:
    """Answers requests; knows nothing of sockets. ``pace`` may let a program wait for metrics that are new to it."""

    def __init__(self, worlds: Worlds, store: Store, pace: Pace = lambda *_: None) -> None:
        self._worlds = worlds
        self._store = store
        self._pace = pace

    def answer(self, method: str, target: str, agent: str = "") -> Answer:
        """Answer one request; ``agent`` is what the program calls itself."""
        url = urlsplit(target)
        if url.path in _FIXED:
            return Answer(200, _FIXED[url.path])
        match = _PATH.fullmatch(url.path)
        if match is None:
            return _status(404, "NotFound", "the server could not find the requested resource")
        query = {key: values[-1] for key, values in parse_qs(url.query).items()}
        if method != "GET" or query.get("watch") in ("1", "true"):
            return _status(405, "MethodNotAllowed", "the server does not allow this method on the requested resource")
        try:
            labels, fields = (selectors.parse(query.get(key, "")) for key in ("labelSelector", "fieldSelector"))
        except ValueError as error:
            return _status(400, "BadRequest", str(error))
        plural, namespace, name = match["plural"], match["namespace"] or "", match["name"] or ""
        if plural == "nodes":
            found = self._nodes()
        else:
            self._pace(namespace, query.get("labelSelector", ""), agent)
            found = self._pods(namespace)
        if name:
            chosen = [each for each in found if each["metadata"]["name"] == name]
            return Answer(200, chosen[0]) if chosen else _missing(plural, namespace, name)
        return Answer(200, listed(_KINDS[plural], [each for each in found if _chosen(each, labels, fields)]))

    def _pods(self, namespace: str) -> list[Object]:
        found: list[Object] = []
        for world in self._worlds.all():
            measured = world.measured
            for home in world.spec.everywhere if measured else ():
                if measured and (not namespace or namespace == home):
                    found += pod_metrics(self._store.names(home, "Pod").values(), measured)
        return sorted(found, key=lambda each: (each["metadata"]["namespace"], each["metadata"]["name"]))

    def _nodes(self) -> list[Object]:
        measured = [world.measured for world in self._worlds.all()]
        usage = Measured(0.0, 0.0, {key: used for each in measured if each for key, used in each.usage.items()}).usage
        pods = [pod for namespace in self._store.namespaces() for pod in self._store.names(namespace, "Pod").values()]
        now = time.time() // TICK_SECONDS * TICK_SECONDS
        nodes = self._store.names("", "Node").values()
        return node_metrics(nodes, sum_by_node(pods, usage), now, TICK_SECONDS)


def serve(api: MetricsApi, port: int, tls: ssl.SSLContext) -> ThreadingHTTPServer:
    """A server on loopback, not running yet; ``port`` 0 takes a free one.

    Raises:
        OSError: the port is taken.
    """

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        timeout = 3600

        def _handle(self) -> None:
            try:
                answer = api.answer(self.command, self.path, self.headers.get("User-Agent", ""))
            except Exception as error:  # noqa: BLE001 - the caller is told, and others are answered
                _LOG.exception("%s %s failed", self.command, self.path)
                answer = _status(500, "InternalError", f"{type(error).__name__}: {error}")
            body = msgspec.json.encode(answer.document)
            try:
                self.send_response(answer.status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            except OSError:
                self.close_connection = True  # the caller left: nobody is there to be told

        do_GET = do_PUT = do_POST = do_PATCH = do_DELETE = _handle  # noqa: N815 - the library's names

        def version_string(self) -> str:
            return "metrics-server"

        def log_message(self, format: str, *args: object) -> None:
            _LOG.debug(format, *args)

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 256

        def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002 - the library's names
            _LOG.debug("a connection of the metrics API broke off", exc_info=True)

    server = Server(("127.0.0.1", port), Handler)
    # The handshake belongs to the connection's own thread: one that does not speak must not hold up the others.
    server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    return server


def _chosen(each: Object, labels: selectors.Selector, fields: selectors.Selector) -> bool:
    meta = each["metadata"]
    named = {f"metadata.{key}": meta[key] for key in ("name", "namespace") if key in meta}
    return selectors.admits(labels, meta.get("labels") or {}) and selectors.admits(fields, named)


def _missing(plural: str, namespace: str, name: str) -> Answer:
    full = f"{namespace}/{name}" if namespace else name
    details = {"name": full, "group": _GROUP, "kind": plural}
    return _status(404, "NotFound", f'{plural}.{_GROUP} "{full}" not found', details)


def _status(code: int, reason: str, message: str, details: Object | None = None) -> Answer:
    document: Object = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure"}
    document |= {"message": message, "reason": reason, "code": code}
    return Answer(code, document | ({"details": details} if details else {}))
