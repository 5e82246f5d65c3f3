"""References and patches that look right and name nothing, and briefs that quote the answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scenario_kit.catalog import find_data_root
from scenario_kit.lint.rules.leaks.ngrams import find_repeated
from tests.lint.test_rules import CHAOS, base, lint

Spec = dict[str, Any]


def add_patch(container: dict[str, Any]) -> Callable[[Spec], None]:
    """A further change of the solution, at a workload that has a part in the incident, that names this container."""
    body = {"spec": {"template": {"spec": {"containers": [container]}}}}
    change = {"patch": {"target": "Deployment/frontend", "type": "Strategic", "patch": body}}
    return lambda spec: spec["solutions"][0]["changes"].append(change)


def elsewhere(spec: Spec) -> None:
    spec["solutions"][0]["changes"][0]["patch"]["target"] = "kube-system/Service/product-catalog"


def edge(target: str) -> Callable[[Spec], None]:
    return lambda spec: spec["groundTruth"]["propagation"].append({"from": "Deployment/frontend", "to": target})


@pytest.mark.parametrize(
    ("change", "codes"),
    [
        pytest.param(lambda s: s["faults"][0].update(target="shop/Service/product-catalog"), {"SK110"}, id="target"),
        pytest.param(elsewhere, {"SK121"}, id="solution"),
        pytest.param(
            lambda s: s["groundTruth"]["rootCauses"][0].update(aliases=["kube-system/Deployment/product-catalog"]),
            {"SK112"},
            id="alias",
        ),
        pytest.param(edge("kube-system/Deployment/frontend-proxy"), {"SK115"}, id="edge"),
        pytest.param(add_patch({"name": "app", "image": "x:1"}), {"SK120", "SK215"}, id="container"),
        pytest.param(add_patch({"name": "frontend", "imagePullPolicy": "Always"}), set(), id="known container"),
        pytest.param(edge("kube-system/Deployment/coredns"), set(), id="what only a cluster has"),
    ],
)
def test_app_objects_are_only_found_in_app_namespace(
    change: Callable[[Spec], Any], codes: set[str], tmp_path: Path
) -> None:
    document = base()
    change(document["spec"])
    assert {f.code for f in lint(document, tmp_path) if f.code not in ("SK116",)} == codes


@pytest.mark.parametrize(
    ("brief", "reported"),
    [
        ("Product pages fail because a Service points at a closed port.", "a service points at a closed port"),
        ("Please point the Service at the container's port again!", "point the service at the container's port again"),
        ("Customers cannot order. Look at Service/product-catalog.", "Service/product-catalog"),
        (
            "Nothing works: new connections to the catalogue are refused.",
            "new connections to the catalogue are refused",
        ),
        ("Product pages fail, and orders do not go through.", ""),
        ("The pods are well, say our dashboards.", ""),
    ],
)
def test_brief_must_not_quote_description_or_solution(brief: str, reported: str, tmp_path: Path) -> None:
    document = base()
    document["spec"]["brief"] = brief
    messages = [f.message for f in lint(document, tmp_path) if f.code == "SK211"]
    assert [reported in message for message in messages] == ([True] if reported else [])


def test_hyphenated_name_is_not_split(tmp_path: Path) -> None:
    document = base(CHAOS)
    document["spec"]["brief"] = "Orders fail. See deployment/payment-history."
    assert not lint(document, tmp_path)


@pytest.mark.parametrize(
    ("text", "source", "least", "expected"),
    [
        ("a b c d", "x b c y", 2, "b c"),
        ("a b c d", "x b c y", 3, ""),
        ("A, b; C!", "a b c", 3, "a b c"),
        ("a b", "a b a b", 2, "a b"),
        ("", "a b", 1, ""),
        ("a bc d", "b c", 1, ""),
        ("It shows the list of hotels late.", "pages show the list of hotels", 4, ""),
        (
            "Orders fail as nobody answers the calls.",
            "nobody answers the calls for quotes",
            4,
            "nobody answers the calls",
        ),
    ],
)
def test_longest_run_of_words_is_found(text: str, source: str, least: int, expected: str) -> None:
    assert find_repeated(text, source, least) == expected


@pytest.mark.parametrize(
    ("chronic", "codes"),
    [
        ({"name": "HighRequestErrorRate", "entity": "Deployment/frontend"}, {"SK325"}),
        ({"name": "HighRequestErrorRate"}, {"SK325"}),
        ({"name": "KubePodNotReady", "entity": "Deployment/ad"}, {"SK325"}),
        ({"name": "HighRequestErrorRate", "entity": "Deployment/ad"}, set()),
        ({"name": "NoRequestsReceived"}, set()),
    ],
)
def test_background_alert_is_neither_required_nor_forbidden(
    chronic: dict[str, str], codes: set[str], tmp_path: Path
) -> None:
    document = base()
    document["spec"]["expect"]["background"] = [{**chronic, "reason": "known"}]
    assert {f.code for f in lint(document, tmp_path)} == codes


def test_repeated_command_is_a_duplicate_fault(tmp_path: Path) -> None:
    document = base(find_data_root() / "catalog" / "scenarios" / "products-not-to-be-read" / "scenario.yaml")
    spec = document["spec"]
    spec["faults"].append({**spec["faults"][0], "name": "again"})
    spec["groundTruth"]["rootCauses"].append({**spec["groundTruth"]["rootCauses"][0], "fault": "again"})
    assert "SK126" in {f.code for f in lint(document, tmp_path)}


def spell_group(group: str) -> Callable[[Spec], None]:
    """Every reference to a Deployment spells this group out."""

    def spell(spec: Spec) -> None:
        for part in ("expect", "groundTruth", "decoys"):
            text = json.dumps(spec[part]).replace("Deployment/", f"Deployment.{group}/")
            spec[part] = json.loads(text)

    return spell


@pytest.mark.parametrize(
    ("change", "codes"),
    [
        pytest.param(spell_group("apps"), set(), id="the group that it has"),
        pytest.param(spell_group("batch"), {"SK114", "SK115", "SK121", "SK235"}, id="another group"),
        pytest.param(
            lambda s: s["groundTruth"]["rootCauses"][0].update(entity="Service.apps/product-catalog"),
            {"SK112"},
            id="label",
        ),
        pytest.param(lambda s: s["faults"][0].update(target="Service.apps/product-catalog"), {"SK110"}, id="target"),
        pytest.param(
            lambda s: s["expect"]["alerts"].append(
                {"name": "HighRequestErrorRate", "entity": "Deployment.apps/frontend", "class": "MustNotFire"}
            ),
            {"SK325"},
            id="a contradiction, spelled in two ways",
        ),
    ],
)
def test_explicit_api_group_is_part_of_the_reference(
    change: Callable[[Spec], Any], codes: set[str], tmp_path: Path
) -> None:
    document = base()
    change(document["spec"])
    assert {f.code for f in lint(document, tmp_path)} == codes


def test_duplicate_label_is_reported(tmp_path: Path) -> None:
    document = base()
    causes = document["spec"]["groundTruth"]["rootCauses"]
    causes.append({**causes[0], "entity": "Service/product-catalog"})
    assert [f.code for f in lint(document, tmp_path)] == ["SK124"]
