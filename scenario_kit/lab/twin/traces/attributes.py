"""Span attributes of instrumented programs (semantic conventions of OpenTelemetry).

They depend only on the app's calls: protocol, address, operation, and error messages.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from scenario_kit.lab.twin.call_tree.routes import find_route
from scenario_kit.lab.twin.call_tree.spans import SpanName
from scenario_kit.lab.twin.call_tree.tree import CallNode, ConsumerNode, OperationNode
from scenario_kit.lab.twin.process.process import Process
from scenario_kit.lab.twin.traces.span_buffer import ANSWER, Frame
from scenario_kit.model.runtime.trace import Scalar, SpanEvent
from scenario_kit.model.twin.edge import Edge

_GRPC_CODES: Final = (
    "OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS",
    "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED",
    "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED",
)  # fmt: skip
_GRPC_CODE: Final = re.compile(
    r'code = (\w+)|^\d+ ([A-Z_]+)|StatusCode\.(\w+)|StatusCode="(\w+)"|StatusRuntimeException: ([A-Z_]+)'
)
_GRPC_WORDS: Final = re.compile(
    r"^\d+ [A-Z_]+: ?|^rpc error: code = \w+ desc = |^StatusCode\.\w+ details = |^io\.grpc\.StatusRuntimeException: "
)
_STATUS: Final = re.compile(r"(?:^|status(?: code)?:? |got )(?P<status>[45]\d\d)\b")
_FLAGS: Final = re.compile(r"^\d{3} (?P<flags>[A-Z]{2}) (?P<details>\S+)")
_STORES: Final = {"redis": "redis", "memcached": "memcached", "sql": "postgresql", "mongodb": "mongodb"}
_LANGUAGES: Final = {"node": "nodejs", "envoy": "cpp"}
#: The exception that a language's instrumentation records, by protocol; Go records none.
_EXCEPTIONS: Final[Mapping[tuple[str, str], str]] = {
    ("node", "grpc"): "Error",
    ("node", "http"): "Error",
    ("python", "grpc"): "grpc._channel._InactiveRpcError",
    ("python", "http"): "requests.exceptions.ConnectionError",
    ("python", "sql"): "psycopg2.OperationalError",
    ("dotnet", "grpc"): "Grpc.Core.RpcException",
    ("dotnet", "redis"): "StackExchange.Redis.RedisConnectionException",
    ("dotnet", "sql"): "Npgsql.NpgsqlException",
    ("java", "grpc"): "io.grpc.StatusRuntimeException",
    ("java", "kafka"): "org.apache.kafka.common.errors.TimeoutException",
}
_SUCCESS: Final = 200
_SERVER_ERROR: Final = 500


class Circumstance(NamedTuple):
    """A span and its context. ``outcome`` and ``text`` are the cause of its failure, empty if unknown.

    ``thrown`` is the exception behind the callee's failure, if it was an unexpected one.
    """

    name: SpanName
    frame: Frame
    edges: tuple[Edge, ...]
    failed: bool
    depth: int
    outcome: str
    text: str
    thrown: str = ""

    @property
    def dialect(self) -> str:
        """The program's language."""
        model = self.frame.process.model
        return model.dialect if model else ""

    @property
    def protocol(self) -> str:
        """The protocol of the call or request."""
        node = self.frame.node
        if isinstance(node, CallNode):
            return self.edges[node.edge].protocol
        if isinstance(node, ConsumerNode) or self.name.kind == "CONSUMER":
            return "kafka"
        ports = self.frame.process.listeners
        return ports[0].protocol if ports else ""

    @property
    def product(self) -> str:
        """The callee's product if the protocol alone does not identify it; empty otherwise."""
        node = self.frame.node
        return self.edges[node.edge].product if isinstance(node, CallNode) else ""

    @property
    def words(self) -> str:
        """The error: the one returned by a callee, or the one received by a caller."""
        node = self.frame.node
        if self.thrown or self.outcome == ANSWER:
            return self.text
        own = node.model.failure if isinstance(node, OperationNode) else ""
        return own.replace("{cause}", self.text) or self.text


def describe_error(around: Circumstance) -> str:
    """Return the description of an error status; empty if instrumentation sets none, or without an error."""
    if not around.failed or (around.thrown and isinstance(around.frame.node, OperationNode)):
        return ""  # the exception event has it
    if around.protocol == "http" and _read_status(around):
        return ""
    return _GRPC_WORDS.sub("", around.words) if around.protocol == "grpc" else around.words


def record_events(around: Circumstance, end: float) -> tuple[SpanEvent, ...]:
    """Return the exception event if the instrumentation records one."""
    protocol = around.protocol if around.name.kind != "INTERNAL" else "http"
    kind = _EXCEPTIONS.get((around.dialect, protocol), "")
    if around.failed and around.thrown and isinstance(around.frame.node, OperationNode):
        kind, _, words = around.thrown.partition(": ")
        return (SpanEvent(end, "exception", {"exception.type": kind, "exception.message": words}),)
    if not around.failed or not kind or not around.words:
        return ()
    if around.name.kind == "SERVER" and around.dialect in ("node", "dotnet"):
        return ()
    if around.name.kind == "CLIENT" and protocol == "http" and _read_status(around):
        return ()  # a response of any status is not an exception
    reported = {"exception.type": kind, "exception.message": around.words}
    return (SpanEvent(end, "exception", reported),)


def build_attributes(around: Circumstance) -> dict[str, Scalar]:
    """Build the attributes of a span by protocol and kind."""
    if around.name.kind == "INTERNAL":
        return {}
    found: dict[str, Scalar] = {}
    node, link = around.frame.node, around.frame.link
    if isinstance(node, CallNode) and link is not None and not around.edges[node.edge].registry:
        found["server.address"] = link.address.host
        found["server.port"] = link.address.port
        if link.ip:
            found["network.peer.address"] = link.ip
    if around.protocol == "grpc":
        found.update(_build_grpc(around))
    elif around.protocol == "http":
        found.update(_build_http(around))
    elif around.protocol in _STORES:
        found["db.system"] = around.product or _STORES[around.protocol]
        if isinstance(node, CallNode):
            found["db.operation"] = node.operation.name
            if table := node.operation.model.table:
                found["db.sql.table"] = table
    elif around.protocol == "kafka":
        found.update(_build_kafka(around))
    return found


def _build_grpc(around: Circumstance) -> dict[str, Scalar]:
    found: dict[str, Scalar] = {"rpc.system": "grpc"}
    service, _, method = around.name.span.rpartition(" ")[2].strip("/").rpartition("/")
    if service:
        found |= {"rpc.service": service, "rpc.method": method}
    code = "OK"
    if around.failed:
        match = _GRPC_CODE.search(around.words)
        code = next((part for part in match.groups() if part), "") if match else ""
        code = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", code).upper()
    found["rpc.grpc.status_code"] = _GRPC_CODES.index(code) if code in _GRPC_CODES else _GRPC_CODES.index("UNKNOWN")
    return found


def _build_http(around: Circumstance) -> dict[str, Scalar]:
    found: dict[str, Scalar] = {}
    if route := find_route(around.name.span, _find_route_text(around.frame)):
        found["http.request.method"] = route.method
        found["http.route" if around.name.kind == "SERVER" else "url.path"] = route.path
    status = _read_status(around)
    if status:
        found["http.response.status_code"] = status
    if around.failed:
        found["error.type"] = str(status) if status else around.outcome or "_OTHER"
    if around.dialect == "envoy":
        flags = _FLAGS.match(around.text)
        found |= {"component": "proxy", "response_flags": flags["flags"] if flags else "-"}
        if isinstance(around.frame.node, CallNode):
            found["upstream_cluster"] = around.edges[around.frame.node.edge].callee
    return found


def _find_route_text(frame: Frame) -> str:
    """Return other texts with the route: the callee's span, or the program's log line."""
    node = frame.node
    if isinstance(node, CallNode):
        return node.operation.server.span if node.operation.server else ""
    return node.log if isinstance(node, OperationNode) else ""


def _read_status(around: Circumstance) -> int:
    """Return the HTTP status; 0 without a response."""
    if not around.failed:
        return _SUCCESS
    if match := _STATUS.search(around.text):
        return int(match["status"])
    answered = around.name.kind == "SERVER" or around.outcome in ("failure", "")
    return _SERVER_ERROR if answered else 0


def _build_kafka(around: Circumstance) -> dict[str, Scalar]:
    found: dict[str, Scalar] = {"messaging.system": around.product or "kafka"}
    node = around.frame.node
    consumes = around.frame.process.model.consumers if around.frame.process.model else ()
    if isinstance(node, CallNode):
        found["messaging.destination.name"] = node.operation.model.topic
        found["messaging.operation.type"] = "publish"
    elif consumes:
        consumer = node.model if isinstance(node, ConsumerNode) else consumes[0]
        found["messaging.destination.name"] = consumer.topic
        found["messaging.consumer.group.name"] = consumer.group
        found["messaging.operation.type"] = "receive" if isinstance(node, ConsumerNode) else "process"
    return found


def build_resource(process: Process, service: str, namespace: str) -> dict[str, Scalar]:
    """Build the resource attributes from SDK and collector."""
    metadata = process.pod["metadata"]
    found: dict[str, Scalar] = {"service.name": service}
    if service != process.component:  # a browser, which has no pod
        return found | {"telemetry.sdk.language": "webjs", "k8s.namespace.name": namespace}
    for part in process.env.get("OTEL_RESOURCE_ATTRIBUTES", "").split(","):
        key, _, value = part.partition("=")
        if key.strip() and value.strip():
            found[key.strip()] = value.strip()
    if dialect := process.dialect:
        found["telemetry.sdk.name"] = "opentelemetry"
        found["telemetry.sdk.language"] = _LANGUAGES.get(dialect, dialect)
    found["k8s.namespace.name"] = str(metadata.get("namespace") or namespace)
    if workload := _find_deployment(process):
        found["k8s.deployment.name"] = workload
    found["k8s.pod.name"] = process.name
    found["k8s.pod.uid"] = str(metadata["uid"])
    if process.ip:
        found["k8s.pod.ip"] = process.ip
    if process.node:
        found["k8s.node.name"] = process.node
    found["k8s.container.name"] = process.key.container
    return found


def _find_deployment(process: Process) -> str:
    """Return the Deployment of a pod, by the name of its ReplicaSet and the pod template hash."""
    for owner in process.pod["metadata"].get("ownerReferences") or ():
        if owner.get("kind") == "ReplicaSet":
            return str(owner["name"]).removesuffix("-" + str(process.labels.get("pod-template-hash", "")))
    return ""
