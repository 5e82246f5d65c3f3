"""How many trials of a scenario share a cluster."""

import msgspec
import pytest

from scenario_kit.campaign.planning.concurrency import build_labels, find_blocking_trial, limit_concurrency
from scenario_kit.model import Change, Procedure, Solution
from scenario_kit.model.results.trial import ALONE_LABEL

CREATED = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 9}


def with_changes(fault, *changes, scope="Namespace"):
    return msgspec.structs.replace(fault, changes=tuple(Change.from_json(c) for c in changes), scope=scope)


@pytest.mark.parametrize(
    ("change", "many"),
    [
        ({"scale": {"target": "Deployment/cart", "replicas": 0}}, True),
        ({"scale": {"target": "shop/Deployment/cart", "replicas": 0}}, True),
        ({"create": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "shop"}}}, True),
        ({"restart": {"target": "kube-system/Deployment/coredns"}}, False),
        ({"create": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "other"}}}, False),
        ({"create": CREATED}, False),
        ({"apply": CREATED}, False),
        ({"cordon": {"target": "Node/node-1"}}, False),
        ({"removeFault": {"fault": "f"}}, True),
        ({"chaos": {"kind": "NetworkChaos", "metadata": {"name": "n"}, "spec": {"action": "delay"}}}, True),
        ({"chaos": {"kind": "DNSChaos", "metadata": {"name": "n"}, "spec": {"action": "error"}}}, False),
        (
            {"chaos": {"kind": "Schedule", "metadata": {"name": "n"}, "spec": {"type": "DNSChaos", "dnsChaos": {}}}},
            False,
        ),
        (
            {"chaos": {"kind": "Schedule", "metadata": {"name": "n"}, "spec": {"type": "PodChaos", "podChaos": {}}}},
            False,
        ),
    ],
)
def test_large_or_cluster_scoped_changes_run_alone(runbook_of, fault, change, many):
    expected = 4 if many else 1
    assert limit_concurrency(runbook_of(with_changes(fault("f"), change)), 4) == expected
    procedure = Procedure(use="Decoy", name="d", solution=Solution(name="d", changes=(Change.from_json(change),)))
    assert limit_concurrency(msgspec.structs.replace(runbook_of(fault("f")), procedures=(procedure,)), 4) == expected


def workload(cpu):
    template = {"spec": {"containers": [{"name": "web", "resources": {"requests": {"cpu": cpu}}}]}}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {"template": template}}


def job(parallelism):
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}, "spec": {"parallelism": parallelism}}


def build_request_patch(replicas):
    return {"patch": {"target": "Deployment/web", "type": "Strategic", "patch": {"spec": {"replicas": replicas}}}}


@pytest.mark.parametrize(
    ("change", "cpu", "many"),
    [
        ({"scale": {"target": "Deployment/web", "replicas": 20}}, "100m", True),
        ({"scale": {"target": "Deployment/web", "replicas": 21}}, "100m", False),
        ({"scale": {"target": "Deployment/web", "replicas": 5}}, "1", False),
        ({"scale": {"target": "Deployment/web", "replicas": 1}}, "64", True),
        (build_request_patch(200), "100m", False),
        (build_request_patch(2), "100m", True),
        ({"patch": {"target": "Deployment/web", "type": "Json",
                    "patch": [{"op": "replace", "path": "/spec/replicas", "value": 200}]}}, "100m", False),
        ({"patch": {"target": "Deployment/web", "type": "Merge", "patch": {"metadata": {"labels": {}}}}}, "64", True),
        ({"create": {**workload("1"), "spec": {**workload("1")["spec"], "replicas": 8}}}, "100m", False),
        ({"restart": {"target": "Deployment/web"}}, "64", True),
        ({"scale": {"target": "Deployment/web", "replicas": 4}}, "1", True),
        ({"scale": {"target": "Deployment/web", "replicas": 2}}, "3", False),
        ({"scale": {"target": "Deployment/ad", "replicas": 5}}, "64", True),
        ({"create": job(20)}, "1", True),
        ({"create": job(21)}, "1", False),
        ({"apply": job(21)}, "1", False),
        ({"patch": {"target": "HorizontalPodAutoscaler/web", "type": "Merge",
                    "patch": {"spec": {"maxReplicas": 30}}}}, "1", False),
        ({"patch": {"target": "Deployment/web", "type": "Json",
                    "patch": [{"op": "replace", "path": "/spec/other", "value": 200}]}}, "100m", True),
    ],
)  # fmt: skip
def test_trial_with_large_requests_runs_alone(runbook_of, fault, change, cpu, many):
    runbook = msgspec.structs.replace(runbook_of(with_changes(fault("f"), change)), objects=(workload(cpu),))
    assert limit_concurrency(runbook, 4) == (4 if many else 1)


def test_fault_with_cluster_scope_runs_alone(runbook_of, fault):
    assert limit_concurrency(runbook_of(with_changes(fault("f"), scope="Cluster")), 4) == 1


@pytest.mark.parametrize(("shared", "many"), [((), True), ((CREATED,), False)])
def test_app_with_objects_of_the_whole_cluster_runs_alone(runbook_of, fault, shared, many):
    runbook = msgspec.structs.replace(runbook_of(fault("f")), objects=(workload("100m"), *shared))
    assert limit_concurrency(runbook, 4) == (4 if many else 1)


def trial(name, alone=False, outcome="", leaving=False):
    labels = {ALONE_LABEL: "true"} if alone else {}
    metadata = {"name": name, "labels": labels} | ({"deletionTimestamp": "2026-01-01T00:00:00Z"} if leaving else {})
    return {"metadata": metadata, "status": {"outcome": outcome} if outcome else {}}


@pytest.mark.parametrize(
    ("scope", "others", "named"),
    [
        ("Namespace", [], ""),
        ("Namespace", [trial("a"), trial("b")], ""),
        ("Namespace", [trial("a"), trial("b", alone=True)], "b"),
        ("Namespace", [trial("b", alone=True, outcome="Held")], ""),
        ("Namespace", [trial("b", alone=True, outcome="Held", leaving=True)], "b"),
        ("Cluster", [trial("a", outcome="Broken")], ""),
        ("Cluster", [trial("a")], "a"),
        ("Cluster", [trial("b"), trial("a"), trial("c")], "a and 2 more"),
    ],
)
def test_blocking_trial_is_named(runbook_of, fault, scope, others, named):
    message = find_blocking_trial(runbook_of(with_changes(fault("f"), scope=scope)), others)
    assert message.partition(": ")[2] == named


def test_exclusive_trial_is_labelled(runbook_of, fault):
    assert build_labels(runbook_of(fault("f"))) == {}
    assert build_labels(runbook_of(with_changes(fault("f"), scope="Cluster"))) == {ALONE_LABEL: "true"}
