"""Terminal output: colours, table widths, completion, and explained fields."""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from scenario_kit.cli import run
from scenario_kit.cli.terminal.terminal import can_redraw, is_plain
from scenario_kit.snapshot import FIRST_DAY

COMMAND = [sys.executable, "-m", "scenario_kit.cli"]


def on_terminal(arguments: list[str], columns: int = 80, **environment: str) -> str:
    """Return the output of a command on a terminal with ``columns`` columns."""
    ours, theirs = pty.openpty()
    variables = {k: v for k, v in os.environ.items() if k != "NO_COLOR"} | {
        "COLUMNS": str(columns), "TERM": "xterm-256color", **environment,
    }  # fmt: skip
    process = subprocess.Popen([*COMMAND, *arguments], stdout=theirs, stderr=theirs, stdin=theirs, env=variables)
    os.close(theirs)
    printed = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        printed += part
    process.wait(timeout=60)
    os.close(ours)
    return printed.decode().replace("\r\n", "\n")


@pytest.fixture(scope="module")
def wrong(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("wrong") / "scenario.yaml"
    path.write_text("kind: Scenario\nspec: [\n")
    return path


def test_colours_follow_terminal_and_environment(wrong: Path) -> None:
    assert "\x1b[" in on_terminal(["lint", str(wrong)])
    for unwanted in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        printed = on_terminal(["lint", str(wrong)], **unwanted)
        assert "SK101 error" in printed
        assert "\x1b[" not in printed


@pytest.mark.parametrize(
    ("environment", "plain"),
    [({}, False), ({"NO_COLOR": ""}, False), ({"NO_COLOR": "0"}, True), ({"TERM": "dumb"}, True)],
)
def test_is_plain_follows_environment(
    environment: dict[str, str], plain: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert is_plain() is plain
    assert not can_redraw(io.StringIO())


@pytest.mark.parametrize(
    "arguments",
    [
        ["rules"], ["catalog"], ["catalog", "faults"], ["catalog", "alerts"], ["catalog", "scenarios"],
        ["explain", "spec.expect.alerts"], ["explain", "Fault"], ["explain", "SK405"], ["--help"], ["new", "--help"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_output_fits_80_columns(arguments: list[str]) -> None:
    printed = re.sub(r"\x1b\[[0-9;]*m", "", on_terminal(arguments))
    assert printed.strip()
    assert [line for line in printed.split("\n") if len(line.rstrip()) > 80] == []


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("scenario-kit li", "lint"),
        ("scenario-kit explain spec.expect.al", "spec.expect.alerts"),
        ("scenario-kit explain SK40", "SK405"),
        ("scenario-kit alerts test def", "default"),
        ("scenario-kit new --app otel", "otel-demo"),
        ("scenario-kit new --fault network-de", "network-delay"),
        ("scenario-kit new --target valkey", "valkey-cart"),
    ],
)
def test_completion(words: str, offered: str) -> None:
    environment = {
        **os.environ, "_SCENARIO_KIT_COMPLETE": "complete_bash", "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
    }  # fmt: skip
    script = Path(sys.executable).parent / "scenario-kit"
    done = subprocess.run([script], capture_output=True, text=True, env=environment, timeout=60, check=False)
    assert offered in done.stdout.split(), done.stderr


@pytest.mark.parametrize(
    ("what", "code", "reported"),
    [
        ("spec.expect.alerts", 0, "withinSeconds"),
        ("spec.expect.alerts[0].class", 0, "one of: MustFire, MayFire, MustNotFire"),
        ("spec.app", 0, "version*"),
        ("alerts", 0, "spec.expect.alerts (scenario.yaml)"),
        ("Fault.effect", 0, "fault.yaml"),
        ("Pack", 0, "groups*"),
        ("spec.expect.alert", 3, "did you mean `spec.expect.alerts`?"),
        ("spec.exepct.alerts", 3, "did you mean `spec.expect`?"),
        ("nonsense", 3, "pass a field such as spec.expect.alerts"),
    ],
)
def test_field_is_explained(what: str, code: int, reported: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", what]) == code
    captured = capsys.readouterr()
    assert reported in captured.out + captured.err


def test_help_of_snapshot_shows_the_first_day(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["snapshot", "--help"]) == 0
    assert f"{FIRST_DAY} by" in " ".join(capsys.readouterr().out.replace("│", " ").split())


def test_help_imports_no_heavy_package() -> None:
    """Help imports neither the packages that commands run nor the libraries of reports."""
    script = "import sys; from scenario_kit.cli import run; run(['--help']); print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    heavy = {"snapshot", "judge", "trial", "campaign", "exporters", "report", "publication", "lab", "clients"}
    loaded = {name.split(".")[1] for name in done.stderr.split() if name.startswith("scenario_kit.")}
    assert not loaded & heavy
