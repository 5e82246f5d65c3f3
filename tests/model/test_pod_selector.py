"""Selectors of Chaos Mesh, field by field, as the manager's `pkg/selector` evaluates them."""

from __future__ import annotations

from typing import Any

import pytest

from scenario_kit.model.chaos.pod_selector import LIVE, count, parse_selector

POD = {
    "metadata": {
        "name": "cart-1",
        "namespace": "shop",
        "labels": {"app": "cart", "tier": "back"},
        "annotations": {"chaos": "on", "empty": ""},
    },
    "spec": {"nodeName": "worker-1", "serviceAccountName": "cart"},
    "status": {"phase": "Running", "podIP": "10.0.0.7"},
}
NODES = [
    {"metadata": {"name": "worker-1", "labels": {"zone": "a", "disk": "ssd"}}},
    {"metadata": {"name": "worker-2", "labels": {"zone": "b"}}},
]


def expression(key: str, operator: str, *values: str) -> dict[str, Any]:
    return {"expressionSelectors": [{"key": key, "operator": operator, **({"values": [*values]} if values else {})}]}


@pytest.mark.parametrize(
    ("selector", "selected"),
    [
        ({}, True),
        ({"namespaces": ["shop"]}, True),
        ({"namespaces": ["other", "shop"]}, True),
        ({"namespaces": ["other"]}, False),
        ({"namespaces": []}, True),
        ({"labelSelectors": {"app": "cart"}}, True),
        ({"labelSelectors": {"app": "cart", "tier": "back"}}, True),
        ({"labelSelectors": {"app": "cart", "tier": "front"}}, False),
        ({"labelSelectors": {"gone": ""}}, False),
        (expression("tier", "In", "back", "front"), True),
        (expression("tier", "In", "front"), False),
        (expression("tier", "NotIn", "front"), True),
        (expression("gone", "NotIn", "front"), True),
        (expression("tier", "NotIn", "back"), False),
        (expression("tier", "Exists"), True),
        (expression("gone", "Exists"), False),
        (expression("gone", "DoesNotExist"), True),
        (expression("tier", "DoesNotExist"), False),
        ({"labelSelectors": {"app": "cart"}, **expression("tier", "In", "front")}, False),
        ({"annotationSelectors": {"chaos": "on"}}, True),
        ({"annotationSelectors": {"chaos": "off"}}, False),
        ({"annotationSelectors": {"empty": ""}}, True),
        ({"annotationSelectors": {"gone": ""}}, False),
        ({"annotationSelectors": {"": "whatever"}}, True),
        ({"podPhaseSelectors": ["Running"]}, True),
        ({"podPhaseSelectors": ["Pending", "Running"]}, True),
        ({"podPhaseSelectors": ["Pending"]}, False),
        ({"podPhaseSelectors": ["!Running"]}, False),
        ({"podPhaseSelectors": ["!Pending"]}, True),
        ({"podPhaseSelectors": ["Running", "!Running"]}, False),
        ({"fieldSelectors": {"metadata.name": "cart-1"}}, True),
        ({"fieldSelectors": {"metadata.name": "cart-2"}}, False),
        ({"fieldSelectors": {"metadata.namespace": "shop"}}, True),
        ({"fieldSelectors": {"spec.nodeName": "worker-1"}}, True),
        ({"fieldSelectors": {"spec.nodeName": "worker-2"}}, False),
        ({"fieldSelectors": {"spec.restartPolicy": "Always"}}, True),
        ({"fieldSelectors": {"spec.schedulerName": "other"}}, False),
        ({"fieldSelectors": {"spec.serviceAccountName": "cart"}}, True),
        ({"fieldSelectors": {"status.phase": "Running"}}, True),
        ({"fieldSelectors": {"status.podIP": "10.0.0.8"}}, False),
        ({"fieldSelectors": {"status.nominatedNodeName": ""}}, True),
        ({"fieldSelectors": {"status.phase": "Running", "spec.nodeName": "worker-2"}}, False),
        ({"nodes": ["worker-1"]}, True),
        ({"nodes": ["worker-2"]}, False),
        ({"nodeSelectors": {"zone": "a"}}, True),
        ({"nodeSelectors": {"zone": "a", "disk": "hdd"}}, False),
        ({"nodeSelectors": {"zone": "c"}}, False),
        ({"nodes": ["worker-1"], "nodeSelectors": {"zone": "b"}}, True),
        ({"nodes": ["worker-2"], "nodeSelectors": {"zone": "b"}}, False),
        ({"nodes": [], "nodeSelectors": {}}, True),
        ({"pods": {"shop": ["cart-1"]}}, True),
        ({"pods": {"shop": ["cart-2"]}}, False),
        ({"pods": {"other": ["cart-1"]}}, False),
        ({"pods": {"shop": ["cart-1"]}, "namespaces": ["other"], "labelSelectors": {"app": "ad"}}, True),
        ({"pods": {}, "labelSelectors": {"app": "ad"}}, False),
    ],
)
def test_field_of_a_selector(selector: dict[str, Any], selected: bool) -> None:
    assert parse_selector(selector, "shop").selects(POD, NODES) is selected


def test_selector_defaults_to_its_own_namespace() -> None:
    assert not parse_selector({"labelSelectors": {"app": "cart"}}, "elsewhere").selects(POD)


@pytest.mark.parametrize(
    ("selector", "field"),
    [
        ({"labelSelectors": {"app": "no label!"}}, "labelSelectors"),
        ({"labelSelectors": {"-app": "cart"}}, "labelSelectors"),
        (expression("tier", "Gt", "1"), "expressionSelectors"),
        (expression("tier", "In"), "expressionSelectors"),
        (expression("tier", "Exists", "back"), "expressionSelectors"),
        ({"annotationSelectors": {"chaos": "on and on"}}, "annotationSelectors"),
        ({"annotationSelectors": {"url": "a/b"}}, "annotationSelectors"),
        ({"podPhaseSelectors": ["phase=Running"]}, "podPhaseSelectors"),
        ({"fieldSelectors": {"spec.hostNetwork": "true"}}, "fieldSelectors"),
    ],
)
def test_unreadable_experiment_field_is_reported(selector: dict[str, Any], field: str) -> None:
    with pytest.raises(ValueError, match=f"^{field}: "):
        parse_selector(selector, "shop")


def test_missing_nodes_are_listed() -> None:
    assert parse_selector({"nodes": ["worker-1", "worker-9"]}, "shop").missing_nodes(NODES) == ("worker-9",)
    assert parse_selector({"nodes": ["worker-9"], "pods": {"shop": ["cart-1"]}}, "shop").missing_nodes(NODES) == ()


def test_unknown_live_fields_may_match() -> None:
    template = {"metadata": {"name": "cart", "namespace": "shop"}, "spec": {}, "status": {"phase": "Running"}}
    selector = {"fieldSelectors": {"metadata.name": "cart-1", "spec.nodeName": "worker-1"}}

    assert not parse_selector(selector, "shop").selects(template)
    assert parse_selector(selector, "shop", unknown=LIVE).selects(template)


@pytest.mark.parametrize(
    ("mode", "value", "there", "taken"),
    [
        ("all", "", 5, 5),
        ("one", "", 5, 1),
        ("one", "", 0, 0),
        ("fixed", "2", 5, 2),
        ("fixed", "9", 5, 5),
        ("fixed-percent", "50", 5, 3),
        ("fixed-percent", "1", 5, 1),
        ("fixed-percent", "100", 5, 5),
        ("random-max-percent", "40", 5, 2),
    ],
)
def test_mode_selects_pod_count(mode: str, value: str, there: int, taken: int) -> None:
    assert count(mode, value, there) == taken


@pytest.mark.parametrize(
    ("mode", "value"),
    [("fixed", ""), ("fixed", "0"), ("fixed", "half"), ("fixed-percent", "101"), ("random-max-percent", "0")],
)
def test_value_invalid_for_mode_is_refused(mode: str, value: str) -> None:
    with pytest.raises(ValueError, match=r"^value: "):
        count(mode, value, 3)
