from __future__ import annotations

from typing import Any

import pytest

from scenario_kit.clients import KubeCluster
from scenario_kit.clients.discovery import parse, pick
from scenario_kit.ports import Kind


def resource(kind: str, plural: str, scope: str = "Namespaced", verbs: tuple[str, ...] = ("get", "list")) -> Any:
    return {"resource": plural, "responseKind": {"kind": kind}, "scope": scope, "verbs": list(verbs)}


def group(name: str, **versions: Any) -> Any:
    body = [{"version": version, "resources": resources} for version, resources in versions.items()]
    return {"metadata": {"name": name} if name else {}, "versions": body}


CORE = {"items": [group("", v1=[resource("Event", "events"), resource("Node", "nodes", "Cluster")])]}
GROUPS = {
    "items": [
        group(
            "autoscaling",
            v2=[resource("Scaler", "scalers")],
            v1=[resource("Scaler", "scalers"), resource("Old", "olds")],
        ),
        group("events.k8s.io", v1=[resource("Event", "events")]),
        group("authorization.k8s.io", v1=[resource("Review", "reviews", "Cluster", ("create",))]),
    ]
}
SERVED = parse(CORE, GROUPS)


@pytest.mark.parametrize(
    ("kind", "group_name", "core", "expected"),
    [
        ("Event", "", False, Kind("", "v1", "Event", "events", True)),
        ("Event", "events.k8s.io", False, Kind("events.k8s.io", "v1", "Event", "events", True)),
        ("Node", "", False, Kind("", "v1", "Node", "nodes", False)),
        ("Scaler", "", False, Kind("autoscaling", "v2", "Scaler", "scalers", True)),
        ("Old", "", False, Kind("autoscaling", "v1", "Old", "olds", True)),
        ("Review", "", False, Kind("authorization.k8s.io", "v1", "Review", "reviews", False)),
        ("Scaler", "", True, None),
        ("Scaler", "apps", False, None),
        ("Unheard", "", False, None),
    ],
)
def test_pick(kind: str, group_name: str, core: bool, expected: Kind | None) -> None:
    assert pick(SERVED, kind, group_name, core=core) == expected


def test_parse_marks_unlistable_kinds() -> None:
    assert [s.kind.kind for s in SERVED if not s.listable] == ["Review"]


@pytest.mark.lab
def test_real_server_prefers_stable_versions(kube: KubeCluster) -> None:
    kinds = {(k.group, k.kind): k.version for k in kube.kinds()}
    assert kinds["autoscaling", "HorizontalPodAutoscaler"] == "v2"
    assert kinds["batch", "CronJob"] == "v1"
    assert kinds["discovery.k8s.io", "EndpointSlice"] == "v1"
    assert ("authorization.k8s.io", "SubjectAccessReview") not in kinds
