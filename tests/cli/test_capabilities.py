"""``try`` without a needed capability: not evaluated, before any lab starts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scenario_kit.cli import run
from scenario_kit.cli.doctor.machine import examine


def test_missing_capability_exits_2_before_a_lab_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["new", "pauses", "--app", "otel-demo", "--target", "ad", "--fault", "noisy-neighbor"]) == 0
    capsys.readouterr()

    code = run(["try", "pauses", "--name", "there-is-none", "--format", "json"])

    document = json.loads(capsys.readouterr().out)
    assert (code, document["verdict"]) == (2, "NotEvaluated")
    assert {f["message"] for f in document["findings"] if f["code"] == "SK911"} >= {
        "fault 'noisy-neighbor' (noisy-neighbor) needs real-nodes, which the lab does not have"
    }
    assert document.get("trials", []) == []
    report = Path(document["report"]).with_suffix(".md").read_text()
    assert "SK911" in report
    assert "nothing to change in the scenario" in report


def test_lint_ignores_capabilities(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["new", "pauses", "--app", "otel-demo", "--target", "ad", "--fault", "noisy-neighbor"]) == 0

    assert run(["lint", "pauses"]) == 0


def test_doctor_lists_lab_capabilities() -> None:
    (shown,) = (c for c in examine() if c.name == "a lab offers")

    assert shown.fine
    assert shown.observed.startswith("wall-clock, nodes>=3, cni-network-policy")
    assert "; it lacks real-nodes" in shown.observed
