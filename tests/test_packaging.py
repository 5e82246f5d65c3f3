"""The wheel contains the files of the source tree."""

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("scenario_kit", "operators")
DATA = ("catalog", "templates")
pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def packaged(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", str(ROOT), "--no-deps", "--no-cache-dir", "-w", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    if done.returncode and ("hatchling" in done.stdout + done.stderr or "No module named pip" in done.stderr):
        pytest.skip("the build backend is not available here, and there is no network to get it")
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
        return set(wheel.namelist())


def in_tree(folder):
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", folder],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if listed.returncode:
        pytest.skip("not a git checkout: nothing says which files belong to the project")
    return {name for name in listed.stdout.splitlines() if (ROOT / name).exists()}


@pytest.mark.parametrize("folder", PACKAGES)
def test_packages_are_whole(packaged, folder):
    assert in_tree(folder) - packaged == set()


@pytest.mark.parametrize("folder", DATA)
def test_data_is_whole(packaged, folder):
    assert {f"scenario_kit/_data/{name}" for name in in_tree(folder)} - packaged == set()


@pytest.mark.parametrize(
    "path",
    [
        "scenario_kit/_data/templates/apps/otel-demo/_manifests.yaml.j2",
        "scenario_kit/lab/toolchain/modules/kubernetes/go.sum",
        "scenario_kit/schema/scenario.yaml",
        "operators/manifests/crds.yaml",
        "scenario_kit/py.typed",
    ],
)
def test_data_files_are_packaged(packaged, path):
    assert path in packaged


def test_wheel_contains_package_files_only(packaged):
    assert {name.split("/")[0] for name in packaged if ".dist-info" not in name} == set(PACKAGES)
    assert not [name for name in packaged if "__pycache__" in name or re.search(r"/tests/.*\.py$", name)]
