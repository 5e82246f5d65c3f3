"""Labels of the pods of a workload."""

from typing import Any

import pytest

from scenario_kit.model.kubernetes.pod_labels import list_ordinals, list_pod_labels, selects_pods

NAME, INDEX = "statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index"


def workload(kind: str = "StatefulSet", **spec: Any) -> dict[str, Any]:
    template = {"metadata": {"labels": {"app": "db"}}, "spec": {"containers": []}}
    return {"kind": kind, "metadata": {"name": "db"}, "spec": {"template": template, **spec}}


@pytest.mark.parametrize(
    ("spec", "ordinals"),
    [
        ({}, [0]),
        ({"replicas": 3}, [0, 1, 2]),
        ({"replicas": 2, "ordinals": {"start": 5}}, [5, 6]),
        ({"replicas": 0}, []),
    ],
)
def test_ordinals_follow_from_replicas_and_start(spec: dict[str, Any], ordinals: list[int]) -> None:
    assert list(list_ordinals(workload(**spec))) == ordinals


def test_the_controller_of_a_stateful_set_adds_labels() -> None:
    assert list_pod_labels(workload("Deployment", replicas=3)) == [{"app": "db"}]
    assert list_pod_labels(workload(replicas=2)) == [
        {"app": "db", NAME: "db-0", INDEX: "0"},
        {"app": "db", NAME: "db-1", INDEX: "1"},
    ]


@pytest.mark.parametrize(
    ("kind", "selector", "selected"),
    [
        ("StatefulSet", {"app": "db"}, True),
        ("StatefulSet", {"app": "db", NAME: "db-1"}, True),
        ("StatefulSet", {NAME: "db-1", INDEX: "0"}, False),
        ("StatefulSet", {NAME: "db-2"}, False),
        ("StatefulSet", {"app": "db", "role": "leader"}, False),
        ("Deployment", {"app": "db"}, True),
        ("Deployment", {NAME: "db-0"}, False),
    ],
)
def test_selectors_may_name_single_pods(kind: str, selector: dict[str, str], selected: bool) -> None:
    assert selects_pods(selector, workload(kind, replicas=2)) is selected
