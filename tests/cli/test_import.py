"""``scenario-kit import``: drafts in a folder, all or none; the report as a table and as JSON; mistakes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scenario_kit.cli import run
from scenario_kit.cli.authoring import draft_files

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = str(ROOT / "docs/examples/import/chaos-mesh.yaml")


def run_import_command(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = run(["import", *arguments])
    shown = capsys.readouterr()
    return code, shown.out, shown.err


def list_files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_drafts_and_the_report(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "drafts"
    code, shown, _ = run_import_command(capsys, "chaos-mesh", EXAMPLE, "--out", str(out))
    assert code == 0
    assert list_files(out) == [
        ".schema/scenario.schema.json", "kill-carts/scenario.yaml", "late-then-lossy/scenario.yaml",
    ]  # fmt: skip
    assert "chaos-mesh.yaml:29:30" in shown
    assert "metadata.labels" in shown
    assert "21 taken, 16 mapped, 3 guessed, 2 refused" in shown
    text = (out / "late-then-lossy/scenario.yaml").read_text()
    assert text.startswith("# yaml-language-server: $schema=../.schema/scenario.schema.json\n# to decide: ")
    assert run(["lint", str(out)]) == 0
    assert "SK611" in capsys.readouterr().out


def test_import_overwrites_nothing(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "kill-carts").mkdir()
    code, _, err = run_import_command(capsys, "chaos-mesh", EXAMPLE, "--out", str(tmp_path))
    assert code == 3
    assert "kill-carts already exists; nothing was written" in err
    assert list_files(tmp_path) == []


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_partial_failure_leaves_no_files(
    error: BaseException, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    made: list[Path] = []

    def link(source: Path, target: Path) -> None:
        if made:
            raise error
        made.append(target)
        target.write_bytes(source.read_bytes())

    monkeypatch.setattr(draft_files.os, "link", link)
    code, _, _ = run_import_command(capsys, "chaos-mesh", EXAMPLE, "--out", str(tmp_path))
    assert code != 0
    assert made
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
    assert [path.name for path in tmp_path.parent.iterdir() if path.name.startswith(".scenario-kit")] == []


def test_json_report(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, shown, _ = run_import_command(capsys, "chaos-mesh", EXAMPLE, "--dry-run", "--format", "json")
    assert code == 0
    document = json.loads(shown)
    assert document["counts"] == {"Taken": 21, "Mapped": 16, "Guessed": 3, "Refused": 2}
    labels = next(each for each in document["decisions"] if each["place"] == "metadata.labels")
    assert labels["position"]["line"] == 29
    assert labels["within"] == ["metadata.labels.team"]
    assert list_files(tmp_path) == []


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("gremlin", EXAMPLE, "--dry-run"), 3, "unknown format 'gremlin'"),
        (("chaos-mesh", "absent.yaml", "--dry-run"), 3, "absent.yaml"),
        (("chaos-mesh", EXAMPLE), 3, "no output folder for the drafts"),
        (("chaos-mesh", EXAMPLE, "--out", EXAMPLE), 3, "is not a folder"),
        (("chaos-mesh", EXAMPLE, "--dry-run", "--app", "otel-dmo"), 3, "app 'otel-dmo' does not exist"),
        (
            ("chaos-mesh", EXAMPLE, "--dry-run", "--app", "otel-demo", "--version", "1"),
            3,
            "version '1' of otel-demo does not exist",
        ),
        (("litmus", EXAMPLE, "--dry-run"), 1, "nothing could be converted"),
        (("sregym", EXAMPLE, "--dry-run"), 1, "the file is not Python"),
    ],
)
def test_usage_errors(
    arguments: tuple[str, ...], code: int, message: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    found, _, err = run_import_command(capsys, *arguments)
    assert found == code
    assert message in err
    assert "fix:" in err


def test_empty_folder(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, _, err = run_import_command(capsys, "krkn", str(tmp_path), "--dry-run")
    assert code == 3
    assert "contains no .yaml" in err
