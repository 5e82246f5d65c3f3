"""A whole lab, shared by the folder, and the command line as a contributor runs it. Every test here is ``e2e``."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from scenario_kit.catalog import find_data_root
from scenario_kit.clients.kube import KubeCluster
from scenario_kit.lab import lifecycle
from scenario_kit.lab.host.state import LabState

FOLDER = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if FOLDER in item.path.parents:
            item.add_marker("e2e")
            item.add_marker(pytest.mark.timeout(600))


@dataclass
class Lab:
    """A running lab by name; its state is read afresh, because tests kill parts of it."""

    name: str

    @property
    def state(self) -> LabState:
        return LabState.load(self.name)

    @property
    def cluster(self) -> KubeCluster:
        return KubeCluster(kubeconfig=Path(self.state.kubeconfig))

    def heal(self) -> None:
        lifecycle.bring_up(self.name)


@pytest.fixture(scope="session")
def lab_session() -> Iterator[Lab]:
    lab = Lab(f"e2e-{os.getpid()}")
    lifecycle.bring_up(lab.name)
    yield lab
    lifecycle.take_down(lab.name)


@pytest.fixture
def lab(lab_session: Lab) -> Lab:
    """A lab that works: repaired if the test before killed a part of it."""
    lab_session.heal()
    return lab_session


@dataclass
class Done:
    """How a command ended: exit code, and its JSON where it printed some."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        return json.loads(self.out)

    @property
    def codes(self) -> set[str]:
        return {f["code"] for f in self.document.get("findings", []) if f["severity"] == "Error"}


@pytest.fixture
def kit(tmp_path: Path) -> Callable[..., Done]:
    """Run ``scenario-kit``; reports go to a folder of the test."""

    def run(*arguments: str) -> Done:
        done = subprocess.run(
            [sys.executable, "-m", "scenario_kit.cli", *arguments],
            capture_output=True, text=True, timeout=500, cwd=tmp_path, check=False,
        )  # fmt: skip
        assert "Traceback" not in done.stderr, done.stderr
        return Done(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def copy(tmp_path: Path) -> Callable[..., Path]:
    """A copy of a catalogue scenario, edited in place by a function of its document."""

    def make(name: str, edit: Callable[[dict[str, Any]], None]) -> Path:
        folder = tmp_path / name
        shutil.copytree(find_data_root() / "catalog" / "scenarios" / name, folder)
        file = folder / "scenario.yaml"
        # As the kit reads it, and as it writes it: a bare `on` is a key, not a truth.
        document = yaml.load(file.read_text(), Loader=yaml.SafeLoader)
        edit(document)
        file.write_text(yaml.safe_dump(document, sort_keys=False))
        return file

    return make
