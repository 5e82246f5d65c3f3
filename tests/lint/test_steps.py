"""Reasons of propagation steps, and the fields named by entities."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scenario_kit.lint.rules.truth.entities import matches_path
from tests.lint.test_claims import build_scaling_fault, list_messages
from tests.lint.test_truth_rules import edge, scenario

Spec = dict[str, Any]


def reasons(*texts: str) -> Callable[[Spec], Any]:
    """The reasons of the first edges."""

    def change(spec: Spec) -> None:
        for each, text in zip(spec["groundTruth"]["propagation"], texts, strict=False):
            each["because"] = text

    return change


def duplicate_edge(spec: Spec) -> None:
    edges = spec["groundTruth"]["propagation"]
    edges.append({**edges[0], "from": "Service/product-catalog", "because": "the same once more, in other words"})


@pytest.mark.parametrize(
    ("change", "code", "reported"),
    [
        pytest.param(duplicate_edge, "SK455", 1, id="an edge twice"),
        pytest.param(edge("Deployment/frontend", "Deployment/frontend"), "SK455", 1, id="an edge to itself"),
        pytest.param(reasons("x"), "SK456", 1, id="a letter"),
        pytest.param(reasons(" "), "SK456", 1, id="a blank"),
        pytest.param(reasons("n/a", "see above"), "SK456", 2, id="nothing said, twice"),
        pytest.param(reasons("Product-catalog to frontend"), "SK456", 1, id="only names"),
        pytest.param(reasons("the call fails here", "The call fails, here!"), "SK456", 0, id="two callers of one"),
        pytest.param(reasons(*["the call fails here"] * 3), "SK456", 1, id="three edges"),
        pytest.param(reasons("接続はすべて拒否されるため失敗する"), "SK456", 0, id="another script"),
        pytest.param(edge("Deployment/frontend", "Node/worker-1"), "SK454", 1, id="a node"),
        pytest.param(edge("Deployment/frontend", "StorageClass/fast"), "SK454", 1, id="another object of the cluster"),
    ],
)
def test_propagation_step_reason_is_checked(
    change: Callable[[Spec], Any], code: str, reported: int, tmp_path: Path
) -> None:
    assert len(list_messages(scenario(change, tmp_path), code)) == reported


@pytest.mark.parametrize(
    ("end", "alert", "reported"),
    [
        ("Service/ad", {"name": "HighRequestErrorRate"}, 1),
        ("Deployment/ad", {"name": "HighRequestErrorRate"}, 0),
        ("Deployment/ad", {"name": "HighRequestErrorRate", "entity": "Deployment/frontend"}, 1),
    ],
)
def test_propagation_must_end_at_an_alerting_object(end: str, alert: Spec, reported: int, tmp_path: Path) -> None:
    def lead(spec: Spec) -> None:
        spec["groundTruth"]["propagation"].append(
            {"from": "Deployment/frontend", "to": end, "because": "it is what they ask for next"}
        )
        kept = [a for a in spec["expect"]["alerts"] if a.get("entity")]
        spec["expect"]["alerts"] = [*kept, {**alert, "class": "MayFire"}]

    assert len([m for m in list_messages(scenario(lead, tmp_path), "SK116") if "the chain ends" in m]) == reported


@pytest.mark.parametrize(
    ("field", "path", "found"),
    [
        ("spec.replicas", ("spec", "replicas"), True),
        ("spec.template.spec.containers.image", ("spec", "template", "spec", "containers", "cart", "image"), True),
        (
            "spec.template.spec.containers.env",
            ("spec", "template", "spec", "containers", "c", "env", "A", "value"),
            True,
        ),
        ("spec.template.spec.containers", ("spec", "template", "spec", "containers", "cart", "image"), True),
        ("spec.template.spec.containers.image", ("spec", "template", "spec", "containers"), True),
        ("data.Corefile", ("data", "Corefile"), True),
        ("data.demo.flagd.json", ("data", "demo.flagd.json"), True),
        ("spec.ports", ("spec", "ports", "0", "targetPort"), True),
        ("spec.replicas", ("spec", "selector", "app"), False),
        ("spec.template.spec.containers.env", ("spec", "template", "spec", "containers", "cart", "image"), False),
        ("spec.minReadySeconds", ("spec", "replicas"), False),
        ("data", ("spec",), False),
    ],
)
def test_matches_path_compares_entity_fields(field: str, path: tuple[str, ...], found: bool) -> None:
    assert matches_path(field, path) == found


@pytest.mark.parametrize(
    ("field", "reported"), [("spec.replicas", 0), ("spec", 0), ("spec.template.spec.containers", 1)]
)
def test_entity_field_must_be_written_by_its_fault(field: str, reported: int, tmp_path: Path) -> None:
    def label(spec: Spec) -> None:
        spec["groundTruth"]["rootCauses"][0]["entity"] = "Deployment/cart"

    fault = build_scaling_fault()
    fault["entities"][0]["field"] = field
    assert len(list_messages(scenario(label, tmp_path, fault), "SK453")) == reported
