"""A read-only Kubernetes API over a snapshot. Pure: request → response, without sockets.

Paths and documents: https://kubernetes.io/docs/reference/using-api/api-concepts/. Requests that write, watch or connect
are refused with 405.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qs

from scenario_kit.model import Object
from scenario_kit.model.kubernetes import label_selector
from scenario_kit.model.kubernetes.timestamp import format_timestamp, parse_timestamp
from scenario_kit.ports import LogLine
from scenario_kit.solver.offline.api_resources import RecordedKind, build_discovery, list_served
from scenario_kit.solver.offline.api_tables import build_table

_RESOURCE: Final = re.compile(
    r"/(?:api/(?P<core>v\d\w*)|apis/(?P<group>[^/]+/[^/]+))"
    r"(?:/namespaces/(?P<namespace>[^/]+)(?=/))?/(?P<plural>[^/]+)(?:/(?P<name>[^/]+)(?:/(?P<sub>[^/]+))?)?"
)
_TABLE: Final = "as=Table"
_JSON: Final = "application/json"
_FIELDS: Final = (
    "metadata.name", "metadata.namespace", "spec.nodeName", "status.phase", "reason", "type", "involvedObject.kind",
    "involvedObject.name", "involvedObject.namespace", "involvedObject.uid", "involvedObject.fieldPath",
    "involvedObject.apiVersion", "reportingComponent",
)  # fmt: skip
_NOT_FOUND: Final = "the server could not find the requested resource"


class ApiRequest(NamedTuple):
    """An HTTP request: ``query`` is the URL's query string, ``accept`` the header."""

    method: str
    path: str
    query: str = ""
    accept: str = ""


class ApiAnswer(NamedTuple):
    """An HTTP response: status, body and content type."""

    status: int
    body: bytes
    type: str = _JSON


class RequestRefusal(Exception):
    """The request is refused; answered with a ``Status`` object."""

    def __init__(self, code: int, reason: str, message: str) -> None:
        super().__init__(message)
        self.code, self.reason = code, reason


class SnapshotApi:
    """The API of immutable objects. ``read_lines`` returns a pod's log lines since a time; ``now`` is constant."""

    def __init__(
        self,
        objects: Sequence[Object],
        read_lines: Callable[[Object, float], Sequence[LogLine]],
        now: float,
        kubernetes: str = "1.34",
    ) -> None:
        self._objects = [*objects, *_build_namespaces(objects)]
        self._read_lines = read_lines
        self._now = now
        served = list_served(self._objects)
        self._served = {(each.group_version, each.kind.plural): each for each in served}
        self._discovery = build_discovery(served, kubernetes)

    def answer(self, request: ApiRequest) -> ApiAnswer:
        """Answer a request; errors are answered with a ``Status``."""
        try:
            return self._answer(request)
        except RequestRefusal as refused:
            document = {
                "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": str(refused),
                "reason": refused.reason, "code": refused.code,
            }  # fmt: skip
            return ApiAnswer(refused.code, json.dumps(document).encode())

    def _answer(self, request: ApiRequest) -> ApiAnswer:
        query = {key: values[-1] for key, values in parse_qs(request.query, keep_blank_values=True).items()}
        if request.method not in ("GET", "HEAD"):
            raise RequestRefusal(405, "MethodNotAllowed", "this is a recording: it is read-only")
        if query.get("watch") in ("1", "true"):
            raise RequestRefusal(405, "MethodNotAllowed", "this is a recording: it cannot be watched")
        if (document := self._discovery.get(request.path.rstrip("/"))) is not None:
            return ApiAnswer(200, json.dumps(document).encode())
        match = _RESOURCE.fullmatch(request.path)
        served = self._served.get((match["core"] or match["group"], match["plural"])) if match else None
        if match is None or served is None:
            raise RequestRefusal(404, "NotFound", _NOT_FOUND)
        if match["sub"] == "log":
            return self._answer_lines(self._get(served, match["namespace"], match["name"]), query)
        if match["sub"]:
            raise RequestRefusal(404, "NotFound", _NOT_FOUND)
        if match["name"]:
            found = self._get(served, match["namespace"], match["name"])
            return self._render(served, [found], request, query, found)
        items = self._select(served, match["namespace"] or "", query)
        listed = {
            "kind": f"{served.kind.kind}List", "apiVersion": served.group_version,
            "metadata": {"resourceVersion": "1"}, "items": items,
        }  # fmt: skip
        return self._render(served, items, request, query, listed)

    def _render(
        self, served: RecordedKind, objects: Sequence[Object], request: ApiRequest, query: Mapping[str, str], plain: Any
    ) -> ApiAnswer:
        if _TABLE not in request.accept:
            return ApiAnswer(200, json.dumps(plain).encode())
        whole = query.get("includeObject") == "Object"
        table = build_table(served.kind.kind, objects, self._now, whole=whole)
        return ApiAnswer(200, json.dumps(table).encode())

    def _list(self, served: RecordedKind, namespace: str) -> list[Object]:
        return [
            each for each in self._objects
            if each["kind"] == served.kind.kind and namespace in ("", each["metadata"].get("namespace", ""))
        ]  # fmt: skip

    def _get(self, served: RecordedKind, namespace: str | None, name: str) -> Object:
        for each in self._list(served, namespace or ""):
            if each["metadata"]["name"] == name:
                return each
        group = f".{served.kind.group}" if served.kind.group else ""
        raise RequestRefusal(404, "NotFound", f'{served.kind.plural}{group} "{name}" not found')

    def _select(self, served: RecordedKind, namespace: str, query: Mapping[str, str]) -> list[Object]:
        try:
            labels, fields = (label_selector.parse(query.get(key, "")) for key in ("labelSelector", "fieldSelector"))
        except ValueError as error:
            raise RequestRefusal(400, "BadRequest", str(error)) from error
        if unknown := sorted({each.key for each in fields} - set(_FIELDS)):
            raise RequestRefusal(400, "BadRequest", f"field label not supported: {unknown[0]}")
        return [
            each for each in self._list(served, namespace)
            if label_selector.admits(labels, each["metadata"].get("labels") or {})
            and label_selector.admits(fields, _read_fields(each))
        ]  # fmt: skip

    def _answer_lines(self, pod: Object, query: Mapping[str, str]) -> ApiAnswer:
        containers = [c["name"] for key in ("containers", "initContainers") for c in pod["spec"].get(key) or ()]
        chosen = query.get("container") or (containers[0] if containers else "")
        if chosen not in containers:
            name = pod["metadata"]["name"]
            raise RequestRefusal(400, "BadRequest", f"container {chosen} is not valid for pod {name}")
        if query.get("previous") == "true":
            raise RequestRefusal(
                400, "BadRequest", "logs of previous container instances precede those of the current one"
            )
        lines = [each for each in self._read_lines(pod, self._read_since(query)) if each.container == chosen]
        if tail := query.get("tailLines"):
            lines = lines[max(len(lines) - _parse_count(tail), 0) :]
        stamped = query.get("timestamps") == "true"
        text = "".join(f"{format_timestamp(each.at) + ' ' if stamped else ''}{each.text}\n" for each in lines)
        body = text.encode()
        if limit := query.get("limitBytes"):
            body = body[: _parse_count(limit)]
        return ApiAnswer(200, body, "text/plain")

    def _read_since(self, query: Mapping[str, str]) -> float:
        if seconds := query.get("sinceSeconds"):
            return self._now - _parse_count(seconds)
        try:
            return parse_timestamp(query["sinceTime"]) if query.get("sinceTime") else 0.0
        except ValueError as error:
            raise RequestRefusal(400, "BadRequest", f"sinceTime: {error}") from error


def _build_namespaces(objects: Iterable[Object]) -> list[Object]:
    """Build Namespace objects if the snapshot has none."""
    if any(each["kind"] == "Namespace" for each in objects):
        return []
    names = sorted({str(each["metadata"].get("namespace", "")) for each in objects} - {""})
    return [
        {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": name}, "status": {"phase": "Active"}}
        for name in names
    ]


def _read_fields(obj: Object) -> dict[str, str]:
    found = {}
    for field in _FIELDS:
        value: Any = obj
        for step in field.split("."):
            value = value.get(step) if isinstance(value, dict) else None
        found[field] = "" if value is None else str(value)
    return found


def _parse_count(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise RequestRefusal(400, "BadRequest", f"expected a whole number, got {text!r}")
    return int(text)
