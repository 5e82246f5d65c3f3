"""Total requests of objects: pods and disks beyond those of the app."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from scenario_kit.admission.amounts import check_totals, count_disk, count_pods, count_starts
from scenario_kit.catalog import Catalog
from scenario_kit.lint.rules.security.runbook_admission import list_refusals
from scenario_kit.load import load_scenario
from scenario_kit.render import resolve
from tests.lint.test_truth_rules import lint_scenario, scenario
from tests.lint.truth_violations import build_local_fault


def workload(name: str, replicas: Any = 1, **more: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "shop"}
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": metadata,
        "spec": {"replicas": replicas, **more},
    }


def claim(size: str) -> dict[str, Any]:
    return {"metadata": {"name": "data"}, "spec": {"resources": {"requests": {"storage": size}}}}


def job(kind: str, **spec: Any) -> dict[str, Any]:
    body = {"jobTemplate": {"spec": spec.pop("job", {})}, **spec} if kind == "CronJob" else spec
    return {"apiVersion": "batch/v1", "kind": kind, "metadata": {"name": "batch"}, "spec": body}


def replica_set(name: str) -> dict[str, Any]:
    pod = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "main", "image": "busybox:1.37.0"}]}}
    spec = {"replicas": 600, "selector": {"matchLabels": {"a": "b"}}, "template": pod}
    return {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": name}, "spec": spec}


@pytest.mark.parametrize(
    ("obj", "pods"),
    [
        (workload("a", 3), 3),
        (workload("a", "7"), 7),
        (workload("a", None), 1),
        (workload("a", "many"), 0),
        (job("Job"), 1),
        (job("Job", parallelism=4), 4),
        (job("CronJob", job={"parallelism": 4}), 240),
        (job("CronJob", job={"parallelism": 4}, concurrencyPolicy="Forbid"), 4),
        (job("CronJob", job={"parallelism": 4}, schedule="0 3 * * *"), 4),
        ({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}, "spec": {"replicas": 9}}, 0),
    ],
)
def test_pods_of_an_object(obj: dict[str, Any], pods: int) -> None:
    assert count_pods(obj) == pods


@pytest.mark.parametrize(
    ("schedule", "starts"),
    [
        ("* * * * *", 60),
        ("*/15 * * * *", 4),
        ("0,30 * * * *", 2),
        ("10-19 * * * *", 10),
        ("10-19/5 * * * *", 2),
        ("20/20 * * * *", 2),
        ("5 4 * * sun", 1),
        ("@daily", 1),
        ("@every 1s", 60),
        ("*/0 * * * *", 60),
        ("CRON_TZ=UTC 0 * * * *", 60),
        ("30-10 * * * *", 1),
        ("", 60),
        (None, 60),
        (5, 1),
    ],
)
def test_starts_of_a_schedule(schedule: Any, starts: int) -> None:
    assert count_starts(schedule) == starts


def test_a_nightly_job_may_have_a_disk() -> None:
    volumes = [{"name": "scratch", "ephemeral": {"volumeClaimTemplate": claim("100Gi")}}]
    pod = {"template": {"spec": {"containers": [{"name": "main"}], "volumes": volumes}}}

    assert list(check_totals([job("CronJob", schedule="0 3 * * *", job=pod)], ())) == []


def test_each_replica_has_its_disk() -> None:
    assert count_disk(workload("a", 4, volumeClaimTemplates=[claim("256Gi")])) == 1


def test_lint_and_operator_add_a_solution_to_its_fault(tmp_path: Path) -> None:
    fault = copy.deepcopy(build_local_fault())
    fault["changes"].append({"create": replica_set("{{ neutral('web') }}")})
    fault["solutions"][0]["changes"] = [{"create": replica_set("{{ neutral('front') }}")}]
    path = scenario(lambda _: None, tmp_path, fault)

    runbook = resolve(load_scenario(path).scenario, Catalog(), "app-x1", beside=path)
    refused = {f.message.partition(" requests ")[2] for f in list_refusals(runbook) if f.code == "SK226"}
    reported = [f for f in lint_scenario(path.parent / "faults/own/fault.yaml") if f.code == "SK226"]
    assert refused == {"600 pods, with the other changes 1200"}
    assert [f.message.partition(" requests ")[2] for f in reported] == ["600 pods, with the other changes 1200"]


def test_changes_count_together() -> None:
    before = [workload("a", 900), workload("b")]
    after = [workload("a", 1400), workload("b", 600), workload("c", 10)]
    ((obj, breach),) = check_totals(after, before)

    assert obj["metadata"]["name"] == "b"
    assert breach.code == "SK226"
    assert breach.note == "requests 599 pods, with the other changes 1109"


def test_app_resources_are_not_counted() -> None:
    app = [workload("a", 5000, volumeClaimTemplates=[claim("1Ti")])]

    assert list(check_totals([*app, workload("b", 999)], app)) == []


def test_an_object_counts_the_same_whether_a_change_copied_it_or_not() -> None:
    app = [workload("a", 400), workload("b", 300)]
    after = [app[0], workload("b", 900), workload("c", 500)]
    (shared,) = check_totals(after, app)
    (copied,) = check_totals(copy.deepcopy(after), app)
    assert shared == copied
    assert shared[1].note == "requests 600 pods, with the other changes 1100"
