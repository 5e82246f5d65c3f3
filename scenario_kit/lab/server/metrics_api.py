"""The resource metrics API ``metrics.k8s.io/v1beta1`` for the API server (``lab.control_plane.apiservice``)."""

from __future__ import annotations

import logging
import re
import ssl
import time
from collections.abc import Callable, Mapping
from http.server import ThreadingHTTPServer
from urllib.parse import parse_qs

from scenario_kit.lab.host.http_server import Answer, Request, answer_json, create_server
from scenario_kit.lab.informers.store import ObjectStore
from scenario_kit.lab.telemetry.resource_metrics import (
    API_VERSION,
    Measured,
    build_list,
    build_node_metrics,
    build_pod_metrics,
    sum_by_node,
)
from scenario_kit.lab.worlds.registry import Worlds
from scenario_kit.lab.worlds.world import TICK_SECONDS
from scenario_kit.model import Object
from scenario_kit.model.kubernetes import label_selector

_LOG = logging.getLogger(__name__)
_GROUP, _, _VERSION = API_VERSION.partition("/")
_PATH = re.compile(
    rf"/apis/{re.escape(API_VERSION)}(/namespaces/(?P<namespace>[^/]+))?/(?P<plural>pods|nodes)(/(?P<name>[^/]+))?"
)
_KINDS = {"pods": "PodMetrics", "nodes": "NodeMetrics"}
_GROUP_VERSION = {"groupVersion": API_VERSION, "version": _VERSION}
_API_GROUP = {"name": _GROUP, "versions": [_GROUP_VERSION], "preferredVersion": _GROUP_VERSION}
_INFO = {"title": "metrics", "version": _VERSION}
#: Static documents. Without schemas, the API server uses defaults that suffice for kubectl.
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


#: Status code and document.
_Reply = tuple[int, Object]
#: Called before pod metrics are returned: namespace, label selector and user agent.
Pace = Callable[[str, str, str], None]


class MetricsApi:
    """Handles requests; independent of sockets. ``pace`` may block a client until there are new metrics."""

    def __init__(self, worlds: Worlds, store: ObjectStore, pace: Pace = lambda *_: None) -> None:
        self._worlds = worlds
        self._store = store
        self._pace = pace

    def answer(self, request: Request) -> Answer:
        """Handle one request."""
        try:
            return answer_json(*self._answer(request))
        except Exception as error:  # noqa: BLE001 - answered with 500; the server continues
            _LOG.exception("%s %s failed", request.method, request.path)
            return answer_json(*_build_status(500, "InternalError", f"{type(error).__name__}: {error}"))

    def _answer(self, request: Request) -> _Reply:
        if request.path in _FIXED:
            return 200, _FIXED[request.path]
        match = _PATH.fullmatch(request.path)
        if match is None:
            return _build_status(404, "NotFound", "the server could not find the requested resource")
        query = {key: values[-1] for key, values in parse_qs(request.query).items()}
        if request.method != "GET" or query.get("watch") in ("1", "true"):
            return _build_status(
                405, "MethodNotAllowed", "the server does not allow this method on the requested resource"
            )
        try:
            labels, fields = (label_selector.parse(query.get(key, "")) for key in ("labelSelector", "fieldSelector"))
        except ValueError as error:
            return _build_status(400, "BadRequest", str(error))
        plural, namespace, name = match["plural"], match["namespace"] or "", match["name"] or ""
        if plural == "nodes":
            found = self._nodes()
        else:
            self._pace(namespace, query.get("labelSelector", ""), request.headers.get("user-agent", ""))
            found = self._pods(namespace)
        if name:
            chosen = [each for each in found if each["metadata"]["name"] == name]
            return (200, chosen[0]) if chosen else _report_missing(plural, namespace, name)
        return 200, build_list(_KINDS[plural], [each for each in found if _is_chosen(each, labels, fields)])

    def _pods(self, namespace: str) -> list[Object]:
        found: list[Object] = []
        for world in self._worlds.all():
            measured = world.measured
            for home in world.spec.namespaces if measured else ():
                if measured and (not namespace or namespace == home):
                    found += build_pod_metrics(self._store.names(home, "Pod").values(), measured)
        return sorted(found, key=lambda each: (each["metadata"]["namespace"], each["metadata"]["name"]))

    def _nodes(self) -> list[Object]:
        measured = [world.measured for world in self._worlds.all()]
        usage = Measured(0.0, 0.0, {key: used for each in measured if each for key, used in each.usage.items()}).usage
        pods = [pod for namespace in self._store.namespaces() for pod in self._store.names(namespace, "Pod").values()]
        now = time.time() // TICK_SECONDS * TICK_SECONDS
        nodes = self._store.names("", "Node").values()
        return build_node_metrics(nodes, sum_by_node(pods, usage), now, TICK_SECONDS)


def serve(api: MetricsApi, port: int, tls: ssl.SSLContext) -> ThreadingHTTPServer:
    """Create a server on loopback, not running yet; ``port`` 0 takes a free one.

    Raises:
        OSError: the port is in use.
    """

    return create_server(api.answer, port, name="metrics-server", any_host=True, tls=tls)


def _is_chosen(each: Object, labels: label_selector.Selector, fields: label_selector.Selector) -> bool:
    meta = each["metadata"]
    named = {f"metadata.{key}": meta[key] for key in ("name", "namespace") if key in meta}
    return label_selector.admits(labels, meta.get("labels") or {}) and label_selector.admits(fields, named)


def _report_missing(plural: str, namespace: str, name: str) -> _Reply:
    full = f"{namespace}/{name}" if namespace else name
    details = {"name": full, "group": _GROUP, "kind": plural}
    return _build_status(404, "NotFound", f'{plural}.{_GROUP} "{full}" not found', details)


def _build_status(code: int, reason: str, message: str, details: Object | None = None) -> _Reply:
    document: Object = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure"}
    document |= {"message": message, "reason": reason, "code": code}
    return code, document | ({"details": details} if details else {})
