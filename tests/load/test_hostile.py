"""No file and no folder makes ``lint`` crash, hang or take the memory; each is refused with a place."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from scenario_kit.catalog import Catalog
from scenario_kit.lint import lint_file, lint_text
from scenario_kit.lint.fix import fix_file
from scenario_kit.load.yaml.document import parse
from tests.load import hostile

CONFINED = Path(__file__).parent / "confined.py"
#: Peak resident memory, the interpreter and the kit included.
MEGABYTES = 300
CATALOG = Catalog()
#: Of how many places one takes a value.
STEP = 9
#: Scenarios that are no files, and what is said of them.
PLACES = {
    "loop": "the file cannot be read: Too many levels",
    "pipe": "this is not a regular file",
    "folder": "this is not a regular file",
    "device": "this is not a regular file",
    "nowhere": "the link is broken",
    "password": "the link points to a file of another name",
    "process": "the file cannot be read",
}
FILES = hostile.list_deep_or_large()
ODD = hostile.list_odd()
POSITION = re.compile(r"scenario\.yaml:[1-9][0-9]*:[1-9][0-9]*")


def run_confined(commands: Sequence[Sequence[str]]) -> list[dict[str, Any]]:
    """How each command ended, in a process with bounds on processor time and memory, and no rights of root."""
    run = subprocess.run(
        [sys.executable, str(CONFINED)], input=json.dumps(commands), capture_output=True, text=True, check=True
    )
    results: list[dict[str, Any]] = json.loads(run.stdout)
    return results


def assert_refused(result: dict[str, Any]) -> None:
    shown = result["out"] + result["err"]
    assert result["code"] == 1, shown[-2000:]
    assert POSITION.search(shown)
    assert "Traceback" not in shown
    assert "bug of scenario-kit" not in shown
    assert result["megabytes"] < MEGABYTES
    assert len(shown) < 100_000


@pytest.fixture(scope="module")
def refused(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """How ``lint`` ended for each file, by its name."""
    folder, paths = tmp_path_factory.mktemp("hostile"), {}
    for number, (name, content) in enumerate(FILES.items()):
        paths[name] = folder / str(number) / "scenario.yaml"
        paths[name].parent.mkdir()
        paths[name].write_bytes(content)
    results = run_confined([["lint", str(path)] for path in paths.values()])
    return dict(zip(paths, results, strict=True))


@pytest.mark.parametrize("name", FILES)
def test_deep_or_large_files(name: str, refused: dict[str, dict[str, Any]]) -> None:
    assert_refused(refused[name])


@pytest.mark.parametrize("name", ODD)
def test_odd_files(name: str, tmp_path: Path) -> None:
    path = tmp_path / "scenario.yaml"
    path.write_bytes(ODD[name])

    found = lint_file(path, CATALOG)
    fixed = fix_file(path, CATALOG)

    assert found
    assert found[0].severity == "Error"
    assert all(finding.position and finding.position.line > 0 and finding.position.column > 0 for finding in found)
    assert all(finding.message.isprintable() for finding in found), "what the file says must not move a terminal"
    if fixed.new != fixed.old:
        parse(fixed.new.decode(), "")


@pytest.mark.parametrize("name", hostile.VALUES)
def test_odd_values(name: str) -> None:
    """In the places of some scalars of a scenario, others for each value."""
    text = hostile.VALID.read_text()
    for start, end in hostile.scalars(text)[[*hostile.VALUES].index(name) % STEP :: STEP]:
        tried = text[:start] + hostile.VALUES[name] + text[end:]
        for finding in lint_text(tried, hostile.VALID, CATALOG):
            assert finding.finding.position


def test_odd_folders(tmp_path: Path) -> None:
    """Paths that are no files are reported without being read; other files are still linted."""
    made = {name: tmp_path / name / "scenario.yaml" for name in (*PLACES, "closed", "shut")}
    for path in made.values():
        path.parent.mkdir()
    made["loop"].symlink_to("scenario.yaml")
    os.mkfifo(made["pipe"])
    made["folder"].mkdir()
    made["device"].symlink_to("/dev/zero")
    made["nowhere"].symlink_to("missing")
    made["process"].symlink_to("/proc/self/mem")
    made["password"].symlink_to("/etc/passwd")
    (tmp_path / "round").symlink_to(tmp_path)
    for name in ("closed", "shut"):
        shutil.copy(hostile.VALID, made[name])
    made["closed"].chmod(0)
    made["shut"].parent.chmod(0)
    try:
        (result,) = run_confined([["lint", str(tmp_path)]])
    finally:
        made["shut"].parent.chmod(0o700)

    assert_refused(result)
    for name, message in PLACES.items():
        assert re.search(rf"{made[name]}:1:1\n  {message}", result["out"]), result["out"]
    for name in ("closed", "shut"):
        assert f"{made[name]}:1:1\n  the file cannot be read: Permission denied" in result["out"]
    assert "root:" not in result["out"]
    assert "round" not in result["out"], "links to folders are not followed"
