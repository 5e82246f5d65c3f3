"""Over the whole catalogue: the truth scores 1, nothing 0, a claim about a control 0; a broken truth is caught."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scenario_kit.catalog import find_data_root
from scenario_kit.cli import run
from scenario_kit.errors import AuthoringError
from scenario_kit.exporters import gates
from scenario_kit.exporters.gates import check_gates, require_gates
from scenario_kit.exporters.reference_answers import build_oracle_answer
from scenario_kit.scoring.entities.truth import CausalEdge, IncidentTruth
from tests.scoring.truths import group


def test_whole_catalogue_is_planned(capsys: pytest.CaptureFixture[str]) -> None:
    folder = find_data_root() / "catalog" / "scenarios"
    assert run(["gates", str(folder), "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {each["incident"] for each in found["incidents"]} == {p.parent.name for p in folder.glob("*/scenario.yaml")}
    assert {each["outcome"] for each in found["incidents"]} == {"Incident", "Benign", "NoIncident"}
    for incident in found["incidents"]:
        rewards = {check["name"]: (check["exported"], check["scored"]) for check in incident["checks"]}
        assert rewards["oracle"] == rewards["control: oracle"] == (1.0, 1.0)
        assert rewards["nop"] == rewards["control: nop"] == rewards["control: false alarm"] == (0.0, 0.0)


def test_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["gates", str(find_data_root() / "catalog" / "scenarios" / "busy-afternoon")]) == 0
    assert "1 incident; all gates hold" in capsys.readouterr().out


def test_indistinguishable_roots_fail_the_gate() -> None:
    """Two roots of one name: no answer can name both."""
    truth = IncidentTruth(
        incident="one",
        groups=(group("a", "shop/Deployment/cart", root=True), group("b", "Deployment/cart", root=True)),
    )
    report = check_gates(truth)
    assert not report.holds
    assert [each.name for each in report.checks if not each.holds] == ["oracle"]
    with pytest.raises(AuthoringError, match="one: gates failed: oracle: expected 1, got 0 and 0"):
        require_gates(truth)


def test_disagreeing_verifiers_fail_a_gate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gates, "score_text", lambda *_: 1.0)
    truth = IncidentTruth(incident="one", groups=(group("a", "shop/Deployment/cart", root=True),))
    assert {each.name for each in check_gates(truth).checks if not each.holds} == {
        "nop", "no incident claimed", "control: nop", "control: false alarm",
    }  # fmt: skip


def test_command_fails_with_a_gate(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(gates, "score_text", lambda *_: 1.0)
    assert run(["gates", str(find_data_root() / "catalog" / "scenarios" / "busy-afternoon")]) == 1
    assert "gates of 1 do not hold: busy-afternoon" in capsys.readouterr().out


def test_missing_path_is_a_usage_error(tmp_path: Path) -> None:
    assert run(["gates", str(tmp_path / "nothing")]) == 3


def test_right_answer_has_each_root_once_and_the_propagation() -> None:
    truth = IncidentTruth(
        incident="one",
        groups=(
            group("a", "shop/Deployment/cart", root=True), group("b", "shop/Service/cart"),
            group("c", "shop/Service/front"),
        ),
        aliases=(("b", "a"),),
        edges=(CausalEdge(source="a", target="c"),),
    )  # fmt: skip
    answer = build_oracle_answer(truth)
    assert [(e["name"], e["contributing_factor"]) for e in answer["entities"]] == [
        ("shop/Deployment/cart", True), ("shop/Service/front", False),
    ]  # fmt: skip
    assert [(e["source"], e["target"]) for e in answer["propagations"]] == [
        ("shop/Deployment/cart", "shop/Service/front")
    ]
