"""Snapshots as Harbor tasks: their parts, their scripts executed as by Harbor, refusals."""

from __future__ import annotations

import json
import subprocess
import tomllib
from pathlib import Path

import pytest

from scenario_kit.cli import run
from scenario_kit.exporters.task_files import BASE_IMAGE
from scenario_kit.load import load_scenario
from scenario_kit.model.authored.contamination_canary import CANARY
from tests.docs.pages import ROOT
from tests.snapshot.recordings import SCENARIO, play, play_control, write


@pytest.fixture(scope="module")
def snapshots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An incident and its control twin."""
    out = tmp_path_factory.mktemp("snapshots")
    write(play(1)[0], out)
    write(play_control(2), out, name="Scenario-2", control=True)
    return out


@pytest.fixture(scope="module")
def tasks(snapshots: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("tasks") / "harbor"
    assert run(["export", "harbor", str(snapshots), "--out", str(out)]) == 0
    return out


def grade(task: Path, folder: Path, answer: str | None) -> float:
    """Run the verifier as its container does, with folders of this machine for those of the container."""
    folder.mkdir()
    script = (task / "tests" / "test.sh").read_text()
    for path, real in (("/tests", task / "tests"), ("/app", folder), ("/logs", folder / "logs")):
        script = script.replace(f" {path}", f" {real}")
    if answer is not None:
        (folder / "answer.json").write_text(answer)
    subprocess.run(["bash", "-c", script], check=True, cwd=folder, capture_output=True)
    return json.loads((folder / "logs" / "verifier" / "reward.json").read_text())["reward"]


def test_incident_and_control_tasks_are_complete(tasks: Path) -> None:
    assert sorted(p.name for p in tasks.iterdir()) == ["scenario-1", "scenario-2"]
    for task in tasks.iterdir():
        config = tomllib.loads((task / "task.toml").read_text())
        assert config["schema_version"] == "1.4"
        assert config["task"]["name"] == f"scenario-kit/{task.name}"
        assert config["artifacts"] == ["/app/answer.json"]
        assert config["verifier"]["environment_mode"] == "separate"
        assert config["metadata"]["canary"] == CANARY
        for program in ("tests/test.sh", "solution/solve.sh"):
            assert (task / program).stat().st_mode & 0o111


def test_oracle_scores_1_and_empty_answer_0(tasks: Path, tmp_path: Path) -> None:
    for task in tasks.iterdir():
        right = (task / "solution" / "answer.json").read_text()
        assert grade(task, tmp_path / f"{task.name}-oracle", right) == 1.0
        assert grade(task, tmp_path / f"{task.name}-nop", None) == 0.0
    claims = (tasks / "scenario-1" / "solution" / "answer.json").read_text()
    assert grade(tasks / "scenario-2", tmp_path / "alarm", claims) == 0.0
    nothing = (tasks / "scenario-2" / "solution" / "answer.json").read_text()
    assert grade(tasks / "scenario-1", tmp_path / "missed", nothing) == 0.0


def test_incident_and_control_inputs_are_indistinguishable(tasks: Path) -> None:
    """The same text, the same kinds of files; nothing that only an injection leaves."""
    one, other = tasks / "scenario-1", tasks / "scenario-2"
    assert (one / "instruction.md").read_bytes() == (other / "instruction.md").read_bytes()
    assert (one / "environment" / "Dockerfile").read_bytes() == (other / "environment" / "Dockerfile").read_bytes()
    for task in (one, other):
        names = [p.name for p in (task / "environment").rglob("*")]
        assert "manifest.json" not in names
        assert not [name for name in names if name.startswith(("init__", "post_fault_injection__", "ground_truth"))]
    tops = [sorted(p.name for p in (t / "environment/snapshot").iterdir()) for t in (one, other)]
    assert tops[0] == tops[1]


def test_exported_tasks_do_not_contain_the_answer(tasks: Path) -> None:
    spec = load_scenario(SCENARIO).scenario.spec
    secrets = [SCENARIO.parent.name, *(f.name for f in spec.faults), *(f.type for f in spec.faults)]
    for task in tasks.iterdir():
        given = [p for p in (task / "environment").rglob("*") if p.is_file()]
        texts = [p.read_text(errors="replace") for p in (task / "instruction.md", task / "task.toml", *given)]
        assert not [name for name in secrets for text in texts if name in text]
        assert spec.brief.strip() in (task / "instruction.md").read_text()


def test_inspect_samples_keep_truths_separate(snapshots: Path, tmp_path: Path) -> None:
    assert run(["export", "inspect", str(snapshots), "--output", str(tmp_path / "out")]) == 0
    folder = tmp_path / "out" / "incidents"
    assert sorted(p.name for p in folder.iterdir()) == ["incidents.py", "samples", "score_answer.py", "truths"]
    compile((folder / "incidents.py").read_text(), "incidents.py", "exec")
    for name in ("scenario-1", "scenario-2"):
        sample = folder / "samples" / name
        assert {p.name for p in sample.iterdir()} == {"Dockerfile", "compose.yaml", "instruction.md", "snapshot"}
        assert not [p for p in sample.rglob("*") if p.name in ("rules.json", "manifest.json")]
    assert json.loads((folder / "truths" / "scenario-1.json").read_text())["incident"] is True
    assert json.loads((folder / "truths" / "scenario-2.json").read_text())["incident"] is False


def test_task_images_use_the_kit_base_image() -> None:
    assert f"FROM {BASE_IMAGE} AS build" in (ROOT / "Containerfile").read_text()


def test_export_overwrites_nothing(snapshots: Path, tasks: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(tasks.rglob("*"))
    assert run(["export", "harbor", str(snapshots), "--out", str(tasks)]) == 3
    assert "already exists" in capsys.readouterr().err
    assert sorted(tasks.rglob("*")) == before


@pytest.mark.parametrize(
    ("spoil", "code", "messages"),
    [
        (lambda s: (s / "Scenario-1" / "otel_logs_raw.tsv").write_text("x"), 1, "otel_logs_raw.tsv was changed"),
        (lambda s: (s / "Scenario-1" / "answer.txt").write_text("cart"), 1, "answer.txt is not in the manifest"),
        (lambda s: (s / "truths/Scenario-1/ground_truth.yaml").write_text("x"), 1, "is missing or was changed"),
        (lambda s: (s / "truths/Scenario-1/manifest.json").write_text("{}"), 1, "is not the manifest of a truth"),
        (lambda s: (s / "truths").rename(s / "hidden"), 3, "keep `truths` beside its snapshots"),
    ],
)
def test_modified_snapshot_is_refused(spoil, code, messages, tmp_path: Path, capsys) -> None:  # type: ignore[no-untyped-def]
    write(play(3)[0], tmp_path / "s")
    spoil(tmp_path / "s")
    assert run(["export", "harbor", str(tmp_path / "s"), "--out", str(tmp_path / "out")]) == code
    assert messages in capsys.readouterr().err
    assert not (tmp_path / "out").exists() or not list((tmp_path / "out").iterdir())


def test_root_cause_absent_from_the_snapshot_is_refused(tmp_path: Path, capsys) -> None:  # type: ignore[no-untyped-def]
    write(play(4, root="Deployment/checkout")[0], tmp_path / "s")
    assert run(["export", "harbor", str(tmp_path / "s"), "--out", str(tmp_path / "out")]) == 1
    assert "no object or event mentions the root cause Deployment/checkout" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["terminal-bench", ""])
def test_unknown_export_format_is_refused(kind: str, snapshots: Path, tmp_path: Path, capsys) -> None:  # type: ignore[no-untyped-def]
    assert run(["export", kind, str(snapshots), "--out", str(tmp_path / "out")]) == 3
    assert "one of: harbor" in capsys.readouterr().err


def test_scenario_is_no_snapshot(tmp_path: Path, capsys) -> None:  # type: ignore[no-untyped-def]
    assert run(["export", "harbor", str(SCENARIO.parent), "--out", str(tmp_path / "out")]) == 3
    assert "scenario-kit snapshot" in capsys.readouterr().err
