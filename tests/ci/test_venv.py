"""``ci/venv``: the environment of every script, made on a bare machine, kept where there is one. No network."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BASE = getattr(sys, "_base_executable", sys.executable)
#: A project of that name that pip installs without asking anybody.
PROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]

[project]
name = "scenario-kit"
version = "1"
optional-dependencies = {dev = []}
"""
BACKEND = """
import zipfile

def build_editable(folder, settings=None, metadata=None):
    info = "scenario_kit-1.dist-info"
    with zipfile.ZipFile(f"{folder}/scenario_kit-1-py3-none-any.whl", "w") as wheel:
        about = "Metadata-Version: 2.1\\nName: scenario-kit\\nVersion: 1\\nProvides-Extra: dev\\n"
        wheel.writestr(f"{info}/METADATA", about)
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr(f"{info}/RECORD", "")
    return "scenario_kit-1-py3-none-any.whl"
"""
SCRIPT = """#!/usr/bin/env python3
import sys
from pathlib import Path
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import ci.environment
print(sys.prefix, *sys.argv[1:])
"""
PREFIX = ("python", "-c", "import sys; print(sys.prefix)")


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A new clone, in a folder whose name contains a space."""
    folder = tmp_path / "a clone"
    (folder / "ci").mkdir(parents=True)
    for name in ("venv", "environment.py"):
        shutil.copy(ROOT / "ci" / name, folder / "ci" / name)
    (folder / "ci" / "script").write_text(SCRIPT)
    (folder / "ci" / "script").chmod(0o755)
    (folder / "pyproject.toml").write_text(PROJECT)
    (folder / "backend.py").write_text(BACKEND)
    return folder


def program(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{text}\n")
    (folder / name).chmod(0o755)
    return folder


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A PATH folder whose python3 is the base interpreter of this environment, without its packages."""
    return program(tmp_path / "bin", "python3", f'exec "{BASE}" -I "$@"')


def run(clone: Path, machine: Path, *command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    env = {"PATH": f"{machine}:/usr/bin:/bin", "HOME": str(clone.parent), **variables}
    return subprocess.run(command, cwd=clone.parent, env=env, capture_output=True, text=True, check=False, timeout=110)


def enter(clone: Path, machine: Path, *command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return run(clone, machine, str(clone / "ci" / "venv"), *(command or PREFIX), **variables)


def test_venv_is_created_once_reused_and_updated(clone: Path, machine: Path) -> None:
    first = enter(clone, machine)
    assert (first.returncode, first.stdout.strip()) == (0, str(clone / ".venv")), first.stderr
    assert "making" in first.stderr
    assert "installing scenario-kit" in first.stderr
    again = enter(clone, machine)
    assert (again.stdout, again.stderr) == (first.stdout, "")
    (clone / "pyproject.toml").write_text(PROJECT + "# changed\n")
    changed = enter(clone, machine)
    assert changed.stdout == first.stdout
    assert "installing" in changed.stderr
    assert "making" not in changed.stderr
    assert enter(clone, machine).stderr == ""

    assert "installing" in enter(clone, machine, "--dev", *PREFIX).stderr, "what tests need is added"
    assert enter(clone, machine).stderr == "", "there is more than is needed"
    assert enter(clone, machine, "--dev", *PREFIX).stderr == ""

    (clone / ".venv" / ".source").unlink()
    assert "installing" in enter(clone, machine).stderr, "an interrupted installation is finished"
    found = run(clone, machine, str(clone / "ci" / "script"), "--lab", "a b")
    assert (found.returncode, found.stdout.strip()) == (0, f"{clone / '.venv'} --lab a b"), found.stderr

    other = f'case "$2" in *%d.%d.%d*) echo 3.99.0; exit;; esac; exec "{BASE}" -I "$@"'
    program(machine, "python3.99", other)
    found = enter(clone, machine, PYTHON="python3.99")
    assert found.returncode == 2, "no environment is replaced by another interpreter's"
    assert "PYTHON=python3.99 is Python 3.99.0" in found.stderr
    assert "set VENV to another folder" in found.stderr

    (clone / ".venv" / ".source").unlink()
    found = enter(clone, clone / ".venv" / "bin", "--dev", *PREFIX, VIRTUAL_ENV=str(clone / ".venv"))
    assert found.returncode == 2, "an active environment is not changed"
    assert "-m pip install --editable '.[dev]'" in found.stderr


def test_moved_or_broken_environment_is_recreated(clone: Path, machine: Path) -> None:
    enter(clone, machine)
    moved = clone.rename(clone.parent / "elsewhere")
    found = enter(moved, machine)
    assert (found.returncode, found.stdout.strip()) == (0, str(moved / ".venv")), found.stderr
    (moved / ".venv" / "bin" / "python").unlink()
    (moved / ".venv" / "bin" / "python").symlink_to("/nowhere/python")
    found = enter(moved, machine)
    assert (found.returncode, found.stdout.strip()) == (0, str(moved / ".venv")), found.stderr


def test_active_environment_with_the_project_is_used(clone: Path, machine: Path) -> None:
    enter(clone, machine, VENV=str(clone.parent / "mine"))
    mine = clone.parent / "mine"
    assert not (clone / ".venv").exists()
    found = enter(clone, mine / "bin", VIRTUAL_ENV=str(mine))
    assert (found.stdout.strip(), found.stderr) == (str(mine), "")
    found = enter(clone, mine / "bin", VIRTUAL_ENV=str(mine), PYTHON="python3")
    assert found.stdout.strip() == str(mine)
    assert not (clone / ".venv").exists()


def test_active_environment_without_the_project_is_refused(clone: Path, machine: Path) -> None:
    other = clone.parent / "other"
    subprocess.run([BASE, "-m", "venv", "--without-pip", other], check=True)
    found = enter(clone, other / "bin", VIRTUAL_ENV=str(other))
    assert (found.returncode, found.stdout.strip()) == (0, str(clone / ".venv")), found.stderr
    assert f"{other} has no scenario-kit" in found.stderr
    assert not list(other.glob("lib/*/site-packages/scenario*"))


OLD = "case $1 in --version) echo Python 3.9.2;; esac; exit 1"
NO_VENV = f'case "$2" in *ensurepip*) exit 1;; esac; exec "{BASE}" -I "$@"'


@pytest.mark.parametrize(
    ("python", "variables", "message", "fix"),
    [
        (
            OLD,
            {"PYTHON": "python3"},
            "PYTHON=python3 is Python 3.9.2; needed is Python 3.11 or newer",
            "correct or unset",
        ),
        (NO_VENV, {}, "its module venv or ensurepip is missing", "apt install python3-venv"),
        (NO_VENV, {"PYTHON": "python9"}, "PYTHON=python9: there is no such program", "correct or unset PYTHON"),
    ],
    ids=["old", "no venv", "no such program"],
)
def test_missing_requirement_is_named_with_fix(
    clone: Path, tmp_path: Path, python: str, variables: dict[str, str], message: str, fix: str
) -> None:
    found = enter(clone, program(tmp_path / "bin", "python3", python), **variables)
    assert found.returncode == 2
    assert message in found.stderr
    assert fix in found.stderr
    assert not (clone / ".venv").exists()


def test_newer_python_is_preferred_over_an_old_python3(clone: Path, tmp_path: Path) -> None:
    machine = program(tmp_path / "bin", "python3", OLD)
    for version in ("3.14", "3.13", "3.12", "3.11"):
        program(machine, f"python{version}", f'exec "{BASE}" -I "$@"')
    assert enter(clone, machine).stdout.strip() == str(clone / ".venv")


def test_failed_installation_is_reported(clone: Path, machine: Path) -> None:
    (clone / "backend.py").write_text("raise SystemExit('no')")
    found = enter(clone, machine)
    assert found.returncode == 2
    assert "scenario-kit cannot be installed" in found.stderr
    (clone / "backend.py").write_text(BACKEND)
    assert enter(clone, machine).returncode == 0


@pytest.mark.parametrize("script", sorted((ROOT / "ci").iterdir()), ids=lambda p: p.name)
def test_every_script_enters_the_environment(script: Path) -> None:
    if not script.is_file() or script.name in ("venv", "environment.py", "pythons"):
        return
    text = script.read_text()
    if "bash" in text.splitlines()[0]:
        assert "\n. ci/venv " in text or '"$(dirname "$0")/venv"' in text
    else:
        before, entered, _ = text.partition("import ci.environment")
        assert entered, "import ci.environment first"
        assert "scenario_kit" not in "".join(
            line for line in before.splitlines() if line.startswith(("import", "from"))
        )
    assert os.access(script, os.X_OK)
