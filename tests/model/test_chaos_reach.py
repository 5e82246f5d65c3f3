"""The reach of chaos objects: selectors at any depth, and other fields that lead outside."""

from __future__ import annotations

from typing import Any

import pytest

from scenario_kit.model.chaos.reach import list_declared, list_outside_targets, rename_namespaces

OWN = frozenset({"shop", "shop-stores"})
INSIDE = {"namespaces": ["shop"], "labelSelectors": {"app": "cart"}}
OUTSIDE = {"namespaces": ["kube-system"]}


def chaos(kind: str, /, namespace: str = "", **spec: Any) -> dict[str, Any]:
    metadata = {"name": "x", **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": "chaos-mesh.org/v1alpha1", "kind": kind, "metadata": metadata, "spec": spec}


def network(selector: dict[str, Any], target: dict[str, Any]) -> dict[str, Any]:
    return {"selector": selector, "mode": "all", "action": "partition", "target": {"selector": target, "mode": "all"}}


@pytest.mark.parametrize(
    "obj",
    [
        chaos("PodChaos", selector=INSIDE),
        chaos("PodChaos", selector={"labelSelectors": {"app": "cart"}}),
        chaos("PodChaos", selector={}),
        chaos("PodChaos", selector={"namespaces": ["shop", "shop-stores"]}),
        chaos("PodChaos", selector={"pods": {"shop": ["cart-1"]}, "namespaces": ["kube-system"]}),
        chaos("NetworkChaos", **network(INSIDE, {"pods": {"shop-stores": ["db-0"]}})),
        chaos("HTTPChaos", selector=INSIDE, target="Request", port=80),
        chaos("Schedule", schedule="@every 60s", type="PodChaos", podChaos={"selector": INSIDE}),
    ],
)
def test_selectors_within_the_app_have_no_outside_targets(obj: dict[str, Any]) -> None:
    assert list(list_outside_targets(obj, OWN, "shop")) == []


@pytest.mark.parametrize(
    ("obj", "keys", "value"),
    [
        (chaos("PodChaos", selector=OUTSIDE), "spec.selector.namespaces.0", "kube-system"),
        (chaos("PodChaos", selector={"namespaces": ["shop", "payments"]}), "spec.selector.namespaces.1", "payments"),
        (chaos("PodChaos", selector={"namespaces": ["shop-others"]}), "spec.selector.namespaces.0", "shop-others"),
        (chaos("PodChaos", selector={"namespaces": ["*"]}), "spec.selector.namespaces.0", "*"),
        (chaos("PodChaos", selector={"namespaces": [""]}), "spec.selector.namespaces.0", ""),
        (chaos("PodChaos", selector={"pods": {"default": ["a"]}}), "spec.selector.pods.default", "default"),
        (chaos("PodChaos", "default", selector={}), "spec.selector", "default"),
        (chaos("NetworkChaos", **network(INSIDE, OUTSIDE)), "spec.target.selector.namespaces.0", "kube-system"),
        (
            chaos("NetworkChaos", "chaos-mesh", **network(INSIDE, {"labelSelectors": {"a": "b"}})),
            "spec.target.selector",
            "chaos-mesh",
        ),
        (
            chaos("Schedule", schedule="@every 60s", type="NetworkChaos", networkChaos=network(INSIDE, OUTSIDE)),
            "spec.networkChaos.target.selector.namespaces.0",
            "kube-system",
        ),
        (
            chaos("Schedule", "default", schedule="@every 60s", type="PodChaos", podChaos={"selector": {}}),
            "spec.podChaos.selector",
            "default",
        ),
        (
            chaos("Workflow", entry="a", templates=[{"name": "a", "podChaos": {"selector": OUTSIDE}}]),
            "spec.templates.0.podChaos.selector.namespaces.0",
            "kube-system",
        ),
        (
            chaos("Workflow", templates=[{"schedule": {"type": "IOChaos", "ioChaos": {"selector": OUTSIDE}}}]),
            "spec.templates.0.schedule.ioChaos.selector.namespaces.0",
            "kube-system",
        ),
        (chaos("PodChaos", selector=INSIDE, remoteCluster="prod"), "spec.remoteCluster", "prod"),
        (chaos("PhysicalMachineChaos", address=["10.0.0.1:31767"]), "kind", "PhysicalMachineChaos"),
        (chaos("AWSChaos", awsRegion="eu-west-1"), "kind", "AWSChaos"),
        (chaos("Schedule", type="GCPChaos", schedule="@daily"), "spec.type", "GCPChaos"),
        (chaos("Workflow", templates=[{"azureChaos": {}}]), "spec.templates.0.azureChaos", "azureChaos"),
        (
            chaos("HTTPChaos", selector=INSIDE, tls={"secretName": "a", "secretNamespace": "default"}),
            "spec.tls.secretNamespace",
            "default",
        ),
    ],
)
def test_outside_targets_are_found_with_their_path(obj: dict[str, Any], keys: str, value: str) -> None:
    found = {(".".join(map(str, stray.keys)), stray.value) for stray in list_outside_targets(obj, OWN, "shop")}
    assert (keys, value) in found


def test_namespace_names_are_replaced_everywhere() -> None:
    names = {"app": "shop-x7", "stores": "shop-x7-stores"}
    spec = network({"namespaces": ["app", "other"]}, {"pods": {"stores": ["db-0"]}})
    found = rename_namespaces(
        chaos("Schedule", type="NetworkChaos", networkChaos=spec), lambda name: names.get(name, name)
    )

    inner = found["spec"]["networkChaos"]
    assert inner["selector"] == {"namespaces": ["shop-x7", "other"]}
    assert inner["target"]["selector"] == {"pods": {"shop-x7-stores": ["db-0"]}}
    assert {**inner, "selector": 0, "target": 0} == {**spec, "selector": 0, "target": 0}


def test_control_plane_reach_can_be_declared() -> None:
    assert list_declared(["chaos-mesh", "control-plane-pods"]) == {"kube-system"}
    assert list_declared(["chaos-mesh", "chaos-daemon", "netem"]) == frozenset()
