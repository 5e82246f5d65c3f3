from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from scenario_kit.errors import AuthoringError, Forbidden, MetricsError, Unreachable
from scenario_kit.model import Check, Object, Reference
from scenario_kit.observe import evaluate_check
from scenario_kit.ports import Probed
from scenario_kit.testing import FakeCluster, FakeMetrics

NS = "shop-1"


def obj(kind: str, name: str, version: str = "v1", owner: tuple[str, str] | None = None, **body: Any) -> Object:
    metadata: Object = {"name": name, "namespace": NS, "labels": body.pop("labels", {})}
    if owner:
        reference = {"kind": owner[0], "name": owner[1], "uid": owner[1], "controller": True}
        metadata["ownerReferences"] = [reference]
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **body}


def event(name: str, involved: str, reason: str, message: str = "") -> Object:
    kind, _, target = involved.partition("/")
    return obj("Event", name, involvedObject={"kind": kind, "name": target}, reason=reason, message=message)


def endpoint(address: str, ready: bool | None = None) -> Object:
    return {"addresses": [address], "conditions": {} if ready is None else {"ready": ready}}


@pytest.fixture
def cluster() -> FakeCluster:
    ports = [{"name": "grpc", "port": 8080, "targetPort": 9999}]
    labels = {"kubernetes.io/service-name": "cart"}
    fake = FakeCluster(
        [
            obj("Service", "cart", spec={"ports": ports, "selector": {"app": "cart"}}),
            obj("Deployment", "cart", "apps/v1", spec={"replicas": 2}, status={"observedGeneration": 3}),
            obj("ReplicaSet", "cart-7d4b9c", "apps/v1", ("Deployment", "cart"), spec={}),
            obj("Pod", "cart-7d4b9c-x2x4z", owner=("ReplicaSet", "cart-7d4b9c"), spec={}, labels={"app": "cart"}),
            obj("Pod", "ad-6c8f5d-abcde", owner=("ReplicaSet", "ad-6c8f5d"), spec={}, labels={"app": "ad"}),
            obj(
                "EndpointSlice",
                "cart-1",
                "discovery.k8s.io/v1",
                endpoints=[endpoint("10.0.0.1", True), endpoint("10.0.0.2"), endpoint("10.0.0.3", False)],
                labels=labels,
            ),
            obj("EndpointSlice", "cart-2", "discovery.k8s.io/v1", endpoints=None, labels=labels),
            event("e1", "Pod/cart-7d4b9c-x2x4z", "BackOff", "Back-off pulling image example.org/nope"),
            event("e2", "ReplicaSet/cart-7d4b9c", "FailedCreate", "exceeded quota"),
            event("e3", "Pod/cart-5f5f5f-zzzzz", "Killing", "Stopping container"),
            event("e4", "Pod/ad-6c8f5d-abcde", "Unhealthy", "probe failed"),
            event("e5", "Service/cart", "Warned"),
        ]
    )
    fake.log(NS, "cart-7d4b9c-x2x4z", "main", 100.0, "started")
    fake.log(NS, "cart-7d4b9c-x2x4z", "main", 200.0, "dial tcp: connection refused")
    return fake


METRICS = FakeMetrics.matching(
    {
        "two": lambda _: [({"a": "1"}, 0.2), ({"a": "2"}, 0.4)],
        "undefined": lambda _: [({}, float("nan"))],
    }
)


def ask(cluster: FakeCluster, check: Object, since: float = 0.0) -> tuple[str, str]:
    result = evaluate_check(Check.from_json(check), cluster, METRICS, NS, 300.0, since=since)
    assert result.at == 300.0
    assert result.expected
    assert result.describe
    return result.answer, result.observed


@pytest.mark.parametrize(
    ("body", "answer"),
    [
        ({"ref": "Service/cart"}, "True"),
        ({"ref": "Service/cart", "exists": True}, "True"),
        ({"ref": "Service/cart", "exists": False}, "False"),
        ({"ref": "Service/gone"}, "False"),
        ({"ref": "Service/gone", "exists": False}, "True"),
        ({"ref": "Service/gone", "path": ".spec.ports[0].port", "notEquals": 1}, "False"),
        ({"ref": "Service/gone", "path": ".spec.replicas", "atMost": 0}, "False"),
        ({"ref": "Service/cart", "path": ".spec.ports[0].targetPort", "equals": 9999}, "True"),
        ({"ref": "Service/cart", "path": ".spec.ports[0].targetPort", "equals": "9999"}, "False"),
        ({"ref": "Service/cart", "path": ".spec.ports[0].targetPort", "notEquals": 8080}, "True"),
        ({"ref": "Service/cart", "path": ".spec.ports[0].missing", "equals": 1}, "False"),
        ({"ref": "Service/cart", "path": ".spec.ports[0].missing", "exists": False}, "True"),
        ({"ref": "Service/cart", "path": ".spec.ports", "contains": {"name": "grpc"}}, "True"),
        ({"ref": "Service/cart", "path": ".spec.ports", "contains": {"name": "http"}}, "False"),
        ({"ref": "Service/cart", "path": ".spec.selector", "contains": "app"}, "True"),
        ({"ref": "Service/cart", "path": ".spec.ports[0].name", "contains": "rp"}, "True"),
        ({"ref": "Service/cart", "path": ".spec.ports[0].name", "notContains": "rp"}, "False"),
        ({"ref": "Service/cart", "path": ".spec.ports[0].name", "notContains": "tt"}, "True"),
        ({"ref": "Service/cart", "path": ".spec.ports", "notContains": {"name": "http"}}, "True"),
        ({"ref": "Service/gone", "path": ".spec.ports", "notContains": "a"}, "False"),
        ({"ref": "Service/cart", "path": ".spec.ports[0].name", "matches": "^g.*c$"}, "True"),
        ({"ref": "Service/cart", "path": ".spec.ports", "atLeast": 1}, "True"),
        ({"ref": "Deployment/cart", "path": ".spec.replicas", "atLeast": 2}, "True"),
        ({"ref": "Deployment/cart", "path": ".spec.replicas", "atLeast": 3}, "False"),
        ({"ref": "Deployment/cart", "path": ".status.readyReplicas", "atMost": 0}, "True"),
        ({"ref": "Deployment/cart", "path": ".status.readyReplicas", "atLeast": 1}, "False"),
        ({"ref": "Deployment/cart", "path": ".spec.paused", "notEquals": True}, "True"),
        ({"ref": "Deployment/cart", "path": ".spec.paused", "equals": False}, "True"),
        ({"ref": "Deployment/cart", "path": ".spec.paused", "equals": True}, "False"),
        ({"ref": "Deployment/cart", "path": ".spec.paused", "notEquals": False}, "False"),
        ({"ref": "Deployment/cart", "path": ".spec.paused", "notEquals": "true"}, "False"),
        ({"ref": "Deployment/gone", "path": ".spec.paused", "notEquals": True}, "False"),
    ],
)
def test_objects(cluster: FakeCluster, body: Object, answer: str) -> None:
    assert ask(cluster, {"object": body})[0] == answer


def test_check_reports_the_observed_value(cluster: FakeCluster) -> None:
    path = ".spec.ports[0].targetPort"
    assert ask(cluster, {"object": {"ref": "Service/cart", "path": path, "equals": 8080}}) == ("False", "9999")
    assert ask(cluster, {"object": {"ref": "Service/gone"}}) == ("False", "Service/gone does not exist")


@pytest.mark.parametrize(
    ("body", "answer"),
    [
        ({"service": "Service/cart", "atLeast": 2}, "True"),
        ({"service": "Service/cart", "atLeast": 3}, "False"),
        ({"service": "Service/cart", "atMost": 1}, "False"),
        ({"service": "Service/cart", "atLeast": 1, "atMost": 2}, "True"),
        ({"service": "Service/gone", "atMost": 0}, "True"),
    ],
)
def test_endpoints(cluster: FakeCluster, body: Object, answer: str) -> None:
    assert ask(cluster, {"endpoints": body})[0] == answer


@pytest.mark.parametrize(
    ("expr", "comparison", "value", "scale", "empty", "answer"),
    [
        ("two", "GreaterThan", 3, 10, "Unknown", "True"),
        ("two", "GreaterThan", 4, 10, "Unknown", "False"),
        ("two", "AtLeast", 4, 10, "Unknown", "True"),
        ("two", "LessThan", 1, 1, "Unknown", "True"),
        ("two", "AtMost", 3, 10, "Unknown", "False"),
        ("two", "Equal", 4, 10, "Unknown", "True"),
        ("none", "GreaterThan", 0, 1, "Unknown", "Unknown"),
        ("none", "GreaterThan", 0, 1, "True", "True"),
        ("none", "GreaterThan", 0, 1, "False", "False"),
        ("undefined", "GreaterThan", 0, 1, "Unknown", "Unknown"),
    ],
)
def test_queries(
    cluster: FakeCluster, expr: str, comparison: str, value: int, scale: int, empty: str, answer: str
) -> None:
    body = {"expr": expr, "is": comparison, "value": value, "scale": scale, "empty": empty}
    assert ask(cluster, {"query": body})[0] == answer
    assert METRICS.queries[-1] == f'{expr}{{namespace="{NS}"}}'


@pytest.mark.parametrize(
    ("body", "answer"),
    [
        ({"entity": "Deployment/cart", "reason": "BackOff"}, "True"),
        ({"entity": "Pod/cart-7d4b9c-x2x4z", "reason": "BackOff"}, "True"),
        ({"entity": "Service/cart", "reason": "BackOff"}, "True"),
        ({"entity": "Service/cart", "reason": "Warned"}, "True"),
        ({"entity": "Deployment/cart", "reason": "FailedCreate", "messageMatches": "quota"}, "True"),
        ({"entity": "Deployment/cart", "reason": "Killing"}, "True"),  # the pod is gone, its event is not
        ({"entity": "Deployment/cart", "reason": "BackOff", "messageMatches": "^never"}, "False"),
        ({"entity": "Deployment/cart", "reason": "Unhealthy"}, "False"),
        ({"entity": "Deployment/ad", "reason": "BackOff"}, "False"),
        ({"entity": "Pod/cart-7d4b9c-x2x4z", "reason": "Killing"}, "False"),
    ],
)
def test_events(cluster: FakeCluster, body: Object, answer: str) -> None:
    assert ask(cluster, {"event": body})[0] == answer


@pytest.mark.parametrize(
    ("on", "pattern", "since", "answer"),
    [
        ("Deployment/cart", "connection refused", 0.0, "True"),
        ("Service/cart", "connection refused", 0.0, "True"),
        ("Pod/cart-7d4b9c-x2x4z", "^dial", 0.0, "True"),
        ("Deployment/cart", "started", 150.0, "False"),
        ("Deployment/ad", "connection refused", 0.0, "False"),
        ("Deployment/gone", ".", 0.0, "False"),
        ("Deployment/cart", "(([a-z :.0-9]+)+)+!", 0.0, "False"),  # ways without number for a matcher that tries them
    ],
)
def test_logs(cluster: FakeCluster, on: str, pattern: str, since: float, answer: str) -> None:
    assert ask(cluster, {"log": {"entity": on, "pattern": pattern}}, since)[0] == answer


CHECKS: list[Object] = [
    {"object": {"ref": "Service/cart"}},
    {"endpoints": {"service": "Service/cart", "atLeast": 1}},
    {"event": {"entity": "Deployment/cart", "reason": "BackOff"}},
    {"log": {"entity": "Deployment/cart", "pattern": "x"}},
]


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("error", [Unreachable("no answer within 30 s"), Forbidden("not for you")])
def test_infrastructure_failure_gives_unknown(cluster: FakeCluster, check: Object, error: Exception) -> None:
    def fail(verb: str, target: str) -> None:
        raise error

    cluster.before = fail
    assert ask(cluster, check) == ("Unknown", str(error))


def test_unserved_kind_gives_unknown(cluster: FakeCluster) -> None:
    assert ask(cluster, {"object": {"ref": "Unheard/x", "exists": False}})[0] == "Unknown"


@pytest.mark.parametrize("evaluation", [True, False])
def test_prometheus_failure_gives_unknown(cluster: FakeCluster, evaluation: bool) -> None:
    def fail(expr: str, at: float) -> list[Any]:
        raise MetricsError("many-to-many", evaluation=evaluation)

    check = Check.from_json({"query": {"expr": "x", "is": "AtLeast", "value": 1, "empty": "True"}})
    result = evaluate_check(check, cluster, FakeMetrics(fail), NS, 0.0)
    assert (result.answer, result.observed) == ("Unknown", "many-to-many")


@pytest.mark.parametrize(
    "check",
    [
        {"object": {"ref": "Service/cart", "path": "[["}},
        {"object": {"ref": "Service/cart", "path": ".metadata.name", "atLeast": 1}},
        {"object": {"ref": "Service/cart", "path": ".metadata.name", "matches": "("}},
        {"query": {"expr": "sum(", "is": "AtLeast", "value": 1}},
        {"log": {"entity": "Deployment/cart", "pattern": "("}},
        {"event": {"entity": "Deployment/cart", "reason": "BackOff", "messageMatches": "("}},
    ],
)
def test_invalid_check_is_an_authoring_error(cluster: FakeCluster, check: Object) -> None:
    with pytest.raises(AuthoringError):
        ask(cluster, check)


def test_check_with_invalid_reference_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError, match=r"'not a reference' is not a reference.*\$\.object\.ref"):
        Check.from_json({"object": {"ref": "not a reference"}})


def test_pod_deleted_during_log_read_is_skipped(cluster: FakeCluster) -> None:
    def vanish(verb: str, target: str) -> None:
        if verb == "logs":
            cluster.before = nothing
            cluster.delete(Reference("Pod", "cart-7d4b9c-x2x4z", NS))

    nothing: Callable[[str, str], None] = cluster.before
    cluster.before = vanish
    assert ask(cluster, {"log": {"entity": "Deployment/cart", "pattern": "refused"}}) == ("False", "none of 0 lines")


def _serve(cluster, *pods, answer=None, port=9090, service_port=8080):
    """Pods behind ``Service/web``, which forwards ``service_port`` to ``port`` of each."""
    cluster.put({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "web", "namespace": NS},
        "spec": {"ports": [{"name": "http", "port": service_port}]},
    })  # fmt: skip
    cluster.put({
        "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
        "metadata": {"name": "web-1", "namespace": NS, "labels": {"kubernetes.io/service-name": "web"}},
        "ports": [{"name": "http", "port": port}],
        "endpoints": [
            {"addresses": [f"10.0.0.{i}"], "conditions": {"ready": True}, "targetRef": {"kind": "Pod", "name": name}}
            for i, name in enumerate(pods)
        ],
    })  # fmt: skip
    for name in pods:
        cluster.put({
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": NS},
            "spec": {"containers": []}, "status": {"phase": "Running"},
        })  # fmt: skip
        if answer is not None:
            cluster.answers[NS, name, port] = answer


@pytest.mark.parametrize(
    ("check", "answers", "answer", "observed"),
    [
        ({}, [True], "True", "web-0:9090 accepts connections"),
        ({}, [True, True], "True", "web-1:9090"),
        ({}, [True, False], "False", "web-1:9090 connection refused"),
        ({}, [True, None], "Unknown", "is unknown"),
        ({}, [False, None], "False", "refused"),
        ({}, [], "False", "no pod behind Service/web"),
        ({"port": 8081}, [True], "False", "no pod behind Service/web"),
        ({"target": "Pod/web-0", "port": 9090}, [True], "True", "web-0:9090"),
        ({"target": "Pod/web-9", "port": 9090}, [True], "False", "no pod"),
        ({"succeeds": False}, [False, False], "True", "refused"),
        ({"succeeds": False}, [False, True], "False", "accepts"),
        ({"succeeds": False}, [False, None], "Unknown", "is unknown"),
        ({"succeeds": False}, [], "True", "no pod"),
        ({"path": "/"}, [200], "True", "answers 200"),
        ({"path": "/"}, [404], "False", "answers 404"),
        ({"path": "/"}, [False], "False", "refused"),
        ({"path": "/", "statusAtLeast": 500, "statusAtMost": 599}, [503], "True", "answers 503"),
        ({"path": "/", "succeeds": False}, [404], "True", "answers 404"),
    ],
)
def test_probes(check, answers, answer, observed):
    cluster = FakeCluster()
    _serve(cluster, *[f"web-{i}" for i in range(len(answers))])
    for i, each in enumerate(answers):
        number = each if isinstance(each, int) and not isinstance(each, bool) else None
        if each is not False:
            cluster.answers[NS, f"web-{i}", 9090] = Probed(True if number else each, number)
    document = {"probe": {"target": "Service/web", "port": 8080, **check}}
    result = evaluate_check(Check.from_json(document), cluster, METRICS, NS, 300.0)
    assert (result.answer, observed in result.observed) == (answer, True), result.observed
    assert result.describe.startswith("port ")


def test_unsendable_probe_gives_unknown():
    cluster = FakeCluster()
    _serve(cluster, "web-0")

    def refuse(verb, target):
        if verb == "probe":
            raise Unreachable("the proxy does not answer")

    cluster.before = refuse
    check = Check.from_json({"probe": {"target": "Service/web", "port": 8080}})
    result = evaluate_check(check, cluster, METRICS, NS, 300.0)
    assert (result.answer, result.observed) == ("Unknown", "the proxy does not answer")


def test_symbolic_namespace_is_resolved(cluster: FakeCluster) -> None:
    away: Object = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "shop-1-stores"}}
    cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop-1-stores"}})
    cluster.create(away)
    check = Check.from_json({"object": {"ref": "stores/ConfigMap/c", "exists": True}})

    def ask(others: dict[str, str]) -> str:
        return evaluate_check(check, cluster, FakeMetrics(lambda expr, at: []), NS, 0.0, others=others).answer

    assert ask({"stores": "shop-1-stores"}) == "True"
    assert ask({}) == "False"
