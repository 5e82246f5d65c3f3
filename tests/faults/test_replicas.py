"""Faults of single replicas: rendering, effect size, and refusals."""

from __future__ import annotations

from typing import Any

import pytest

from scenario_kit.catalog import Catalog
from scenario_kit.changes.chaos import bind, choose_pods
from scenario_kit.errors import AuthoringError
from scenario_kit.model import Fault, Object, Reference
from scenario_kit.model.authored.scenario import FaultUse, Recurrence
from scenario_kit.render import render_app, render_fault
from scenario_kit.testing import FakeCluster

CATALOG = Catalog()
NAMESPACE = "shop"


@pytest.fixture(scope="module")
def objects() -> list[Object]:
    app = CATALOG.app("otel-demo", "2.2.0")
    return list(render_app(app, {"replicasOf": {"quote": 3, "cart": 3}}, 50, NAMESPACE))


def render(objects: list[Object], fault: str, target: str, **more: Any) -> Fault:
    app = CATALOG.app("otel-demo", "2.2.0")
    use = FaultUse(name="bad", type=fault, target=Reference.parse(target), **more)
    return render_fault(CATALOG.fault(fault), use, app, objects, NAMESPACE, "one-bad")


def list_expressions(fault: Fault) -> list[str]:
    return [check.query.expr for check in fault.effect if check.query is not None]


def test_experiment_selects_the_given_replicas(objects: list[Object]) -> None:
    fault = render(objects, "http-abort", "Deployment/quote", replicas=1)
    spec = fault.experiments[0]["spec"]
    assert (spec["mode"], spec["value"]) == ("fixed", "1")
    assert spec["selector"] == render(objects, "http-abort", "Deployment/quote").experiments[0]["spec"]["selector"]


def make_pod(name: str, second: int) -> Object:
    labels = {"app.kubernetes.io/component": "quote", "opentelemetry.io/name": "quote"}
    created = f"2026-11-26T10:00:{second:02d}Z"
    return {
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": name, "generateName": "quote-5d9-", "namespace": NAMESPACE, "labels": labels,
            "creationTimestamp": created, "uid": f"u-{name}",
        },
        "spec": {"containers": [{"name": "quote"}]},
        "status": {"phase": "Running", "containerStatuses": [{"name": "quote", "containerID": f"c-{name}"}]},
    }  # fmt: skip


def test_oldest_pod_is_bound_first(objects: list[Object]) -> None:
    experiment = render(objects, "http-abort", "Deployment/quote", replicas=1).experiments[0]
    experiment["spec"]["selector"] = {"namespaces": [NAMESPACE], "labelSelectors": {"opentelemetry.io/name": "quote"}}
    pods = [make_pod("young", 3), make_pod("oldest", 1), make_pod("middle", 2)]
    for there, expected in ((pods, "oldest"), ([pods[0], pods[2]], "middle")):
        bound = bind(experiment, choose_pods(FakeCluster(there), experiment, NAMESPACE))
        assert bound["spec"]["mode"] == "all"
        assert bound["spec"]["selector"]["pods"] == {NAMESPACE: [expected]}


def test_mean_rises_by_the_share_of_the_pods(objects: list[Object]) -> None:
    def threshold(**more: Any) -> float:
        fault = render(objects, "http-delay", "Deployment/quote", parameters={"delayMilliseconds": 900}, **more)
        return next(check.query.value for check in fault.effect if check.query is not None)

    assert threshold() == 450
    assert threshold(replicas=1) == 150
    assert threshold(replicas=2) == 300


def test_whether_requests_fail_is_no_matter_of_the_share(objects: list[Object]) -> None:
    one, all_ = (render(objects, "pod-failure", "Deployment/cart", **more) for more in ({"replicas": 1}, {}))
    assert list_expressions(one) == list_expressions(all_)


@pytest.mark.parametrize(
    ("fault", "target", "more", "message"),
    [
        ("http-abort", "Deployment/quote", {"replicas": 3}, "hits 3 of the pods of Deployment/quote, which has 3"),
        ("http-abort", "Deployment/quote", {"replicas": 9}, "which has 3"),
        ("http-abort", "Deployment/shipping", {"replicas": 1}, "which has 1"),
        ("container-image-not-found", "Deployment/quote", {"replicas": 1}, "changes all pods alike"),
        (
            "pod-kill",
            "Deployment/quote",
            {"replicas": 1, "recurrence": Recurrence(every_seconds=600)},
            "draws its pods anew each time",
        ),
        ("service-deleted", "Service/flagd", {"replicas": 1}, "which has 1"),
    ],
)
def test_invalid_replica_count_is_refused(
    objects: list[Object], fault: str, target: str, more: dict[str, Any], message: str
) -> None:
    with pytest.raises(AuthoringError, match=message) as refused:
        render(objects, fault, target, **more)
    assert refused.value.findings[0].code == "SK304"


def test_replica_count_changes_the_digest(objects: list[Object]) -> None:
    whole, one, two = (render(objects, "http-abort", "Deployment/quote", replicas=n) for n in (None, 1, 2))
    assert len({whole.digest, one.digest, two.digest}) == 3
