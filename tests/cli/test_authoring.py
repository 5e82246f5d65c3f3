"""The authoring commands: exit codes, one clear message, formats for programs."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import msgspec
import pytest
import typer

from scenario_kit import __version__
from scenario_kit import cli as command_line
from scenario_kit.catalog import find_data_root
from scenario_kit.cli import COMMANDS, build, run
from scenario_kit.cli.authoring.lint import format_annotation, format_summary
from scenario_kit.cli.terminal import output
from scenario_kit.errors import AuthoringError, InfrastructureError, KitError, UsageError
from scenario_kit.model import Finding, Position, Severity
from scenario_kit.report import sarif

SCENARIOS = find_data_root() / "catalog" / "scenarios"
GOOD = SCENARIOS / "cart-scaled-to-zero"
FINDING = Finding(
    code="SK405",
    severity=Severity.ERROR,
    message="100 % wrong\nreally",
    position=Position(path="a,b:c.yaml", line=3, column=7),
    fix="label it",
)


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    path = tmp_path / "scenario.yaml"
    path.write_text((GOOD / "scenario.yaml").read_text().replace("Deployment/cart\n", "Deployment/crt\n"))
    return path


@pytest.mark.parametrize(
    ("arguments", "code", "stream", "text"),
    [
        (["lint", str(GOOD)], 0, "out", "1 scenario checked: no findings"),
        (["lint", str(SCENARIOS)], 0, "out", "no findings"),
        (["lint", "nowhere"], 3, "err", "there is no nowhere"),
        (["lint", str(find_data_root() / "templates")], 3, "err", "contains no scenario.yaml"),
        (["lint", str(GOOD), "--format", "xml"], 3, "err", "invalid value 'xml' for --format"),
        (["verify", str(GOOD), "--format", "xml"], 3, "err", "one of: text, json"),
        (["report", str(GOOD), "--format", "pdf"], 3, "err", "one of: md, html, json, junit, sarif"),
        (["lab", "kubeconfig", "--as", "root"], 3, "err", "one of: admin, solver"),
        (["lab", "up", "--name", "none", "--alert-pack", "defalt"], 3, "err", "did you mean `default`"),
        (["operator", "run", "--clock", "wall"], 3, "err", "one of: Wall, Virtual"),
        (["validate-pr", "--repository", "nowhere"], 3, "err", "folder nowhere does not exist"),
        (["lint"], 3, "err", "Missing argument"),
        (["lnt"], 3, "err", "No such command"),
        (["lint", "--frmat"], 3, "err", "No such option"),
        (["--version"], 0, "out", f"scenario-kit {__version__}"),
        (["rules"], 0, "out", "SK405"),
        (["explain", "sk405"], 0, "out", "SK405: The labelled object is not what the fault changes"),
        (["explain", "405"], 0, "out", "SK405: The labelled object"),
        (["explain", "nothing"], 3, "err", "list all codes with scenario-kit rules"),
        (["explain", "SK4O5"], 3, "err", "there is no rule 'SK4O5'"),
        (["catalog"], 0, "out", "otel-demo"),
        (["catalog", "faults"], 0, "out", "network-delay"),
        (["catalog", "faults", "show", "network-delay"], 0, "out", "latencyMilliseconds"),
        (["catalog", "faults", "show", "network-delay"], 0, "out", "HighRequestLatency on Deployment/checkout: 195"),
        (["catalog", "faults", "show", "network-dely"], 3, "err", "did you mean `network-delay`"),
        (["catalog", "alerts"], 0, "out", "HighKafkaConsumerLag            itbench"),
        (["catalog", "alerts", "show", "NoRequestsReceived"], 0, "out", "itbench:\n- name: NoRequestsReceived"),
        (["catalog", "alerts", "show", "NoRequestReceived"], 3, "err", "did you mean `NoRequestsReceived`"),
        (["catalog", "flaws"], 3, "err", "the catalogue has no 'flaws'"),
        (["catalog", "faults", "network-delay"], 3, "err", "scenario-kit catalog faults show network-delay"),
        (["catalog", "faults", "show"], 3, "err", "scenario-kit catalog faults show NAME"),
        (["render", str(GOOD)], 0, "out", "# Fault cart-replicas"),
        (["render", str(GOOD), "--show", "manifests"], 0, "out", "kind: Deployment"),
        (["render", str(GOOD), "--show", "nothing"], 3, "err", "one of: summary"),
        (["render", str(SCENARIOS)], 3, "err", "name one of them"),
    ],
)  # fmt: skip
def test_commands(arguments: list[str], code: int, stream: str, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments) == code

    captured = capsys.readouterr()
    assert text in getattr(captured, stream)
    assert "Traceback" not in captured.err


def test_lint_prints_position_and_fix(bad: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lint", str(bad)]) == 1

    out = capsys.readouterr().out
    assert f"SK110 error {bad}:20:13" in out
    assert "fix: did you mean `Deployment/cart`" in out


def test_bad_scenario_cannot_be_rendered(bad: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["render", str(bad)]) == 1
    assert "Deployment/crt" in capsys.readouterr().err


def test_json_for_programs(bad: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lint", str(bad), "--format", "json"]) == 1

    document = json.loads(capsys.readouterr().out)
    assert document["schemaVersion"] == 1
    assert {f["code"] for f in document["findings"]} >= {"SK110"}
    assert document["findings"][0]["position"]["line"] == 20


@pytest.mark.parametrize(
    "arguments",
    [["rules"], ["catalog"], ["render", str(GOOD)], ["catalog", "scenarios", "show", GOOD.name]],
)
def test_every_listing_supports_json(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*arguments, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)


def test_annotations_are_escaped() -> None:
    assert format_annotation(FINDING) == (
        "::error file=a%2Cb%3Ac.yaml,line=3,col=7,title=SK405::100 %25 wrong%0Areally Fix: label it"
    )


def test_sarif_names_rule_and_place() -> None:
    (run_,) = sarif.build_log([FINDING])["runs"]  # type: ignore[misc]

    assert run_["tool"]["driver"]["rules"][0]["id"] == "SK405"
    assert run_["results"][0]["locations"][0]["physicalLocation"]["region"] == {"startLine": 3, "startColumn": 7}


def test_summary_counts() -> None:
    assert format_summary([FINDING, FINDING], 3) == "3 scenarios checked: 2 errors"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UsageError("wrong", fix="do it right"), 3),
        (AuthoringError("bad", [FINDING], fix="do it right"), 1),
        (InfrastructureError("gone", fix="do it right"), 2),
        (KitError("bug", fix="do it right"), 3),
        (KeyboardInterrupt(), 130),
        (typer.Abort(), 130),
    ],
)
def test_errors_map_to_exit_codes(
    error: BaseException, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command_line, "build", lambda _: _raising(error))

    assert run(["x"]) == code
    captured = capsys.readouterr()
    assert "Traceback" not in captured.err
    if hasattr(error, "fix"):
        assert "fix: do it right" in captured.err


def test_error_does_not_repeat_its_findings(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    message = f"a,b:c.yaml:3:7: {FINDING.message.splitlines()[-1]}"
    finding = msgspec.structs.replace(FINDING, message=FINDING.message.splitlines()[-1])
    monkeypatch.setattr(command_line, "build", lambda _: _raising(AuthoringError(message, [finding], fix=finding.fix)))

    assert run(["x"]) == 1
    err = capsys.readouterr().err
    assert err.count(finding.message) == err.count("fix: label it") == 1
    assert "error:" not in err


def test_unexpected_exception_saves_its_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(command_line, "build", lambda _: _raising(ZeroDivisionError("by zero")))
    monkeypatch.setattr(command_line.tempfile, "tempdir", str(tmp_path))

    assert run(["x"]) == 3
    (saved,) = tmp_path.glob("*.traceback")
    err = capsys.readouterr().err
    assert "this is a bug in scenario-kit: ZeroDivisionError: by zero" in err
    assert str(saved) in err
    assert "Traceback" in saved.read_text()


@pytest.mark.parametrize(
    ("number", "code", "bug"),
    [
        (errno.ENOSPC, 2, False),
        (errno.EROFS, 2, False),
        (errno.EACCES, 3, False),
        (errno.ENOTDIR, 3, False),
        (errno.ECHILD, 3, True),
    ],
)
def test_os_errors_of_the_machine_are_no_bugs(
    number: int,
    code: int,
    bug: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    monkeypatch.setattr(command_line, "build", lambda _: _raising(OSError(number, os.strerror(number), "/full/file")))
    monkeypatch.setattr(command_line.tempfile, "tempdir", str(tmp_path))

    assert run(["x"]) == code
    err = capsys.readouterr().err
    assert os.strerror(number) in err
    assert ("bug" in err) is bug


def _raising(error: BaseException) -> typer.Typer:
    app = typer.Typer()

    @app.command()
    def x() -> None:
        raise error

    @app.command()
    def y() -> None: ...

    return app


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_module_registers_its_declared_commands(name: str) -> None:
    whole = typer.main.get_command(build())
    (_, first, *_) = COMMANDS[name]
    part = typer.main.get_command(build([first]))

    assert tuple(part.commands) == COMMANDS[name][1:]  # type: ignore[attr-defined]
    assert part.commands.keys() <= whole.commands.keys()  # type: ignore[attr-defined]
    assert sorted(c for _, *commands in COMMANDS.values() for c in commands) == sorted(whole.commands)  # type: ignore[attr-defined]


def test_findings_show_observed_values(capsys: pytest.CaptureFixture[str]) -> None:
    output.show_findings(
        [Finding(code="SK304", severity=Severity.WARNING, message="m", observed="a", expected="b", why="w")]
    )

    assert capsys.readouterr().out.splitlines() == ["SK304 warning", "  m", "  observed: a; expected: b", "  why: w"]


@pytest.mark.parametrize(
    ("width", "lines"),
    [
        (None, ["code   title", "SK601  The licence is missing or unknown", "SK602"]),
        (30, ["code   title", "SK601  The licence is missing", "       or unknown", "SK602"]),
        (20, ["code   title", "SK601  The licence is missing or unknown", "SK602"]),
    ],
)
def test_last_table_column_wraps(width: int | None, lines: list[str]) -> None:
    rows = [("SK601", "The licence is missing or unknown"), ("SK602", "")]
    assert output.format_table(("code", "title"), rows, width) == lines


def test_text_is_broken_between_words_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "fix: see runs/a-long-name/20261124T221154445970Z/report.html and\nmore"
    assert output.fold_text(text, "  ") == "  " + text

    monkeypatch.setattr(output.sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "30")
    assert output.fold_text(text, "  ").splitlines() == [
        "  fix: see",
        "    runs/a-long-name/20261124T221154445970Z/report.html",
        "    and",
        "  more",
    ]
