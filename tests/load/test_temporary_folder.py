"""Folders of a process: its own, gone when it removes them, and removed by the next one when it was killed."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from scenario_kit.load.temporary_folder import TemporaryFolder, remove_abandoned_folders

HOLD = """
import sys
from scenario_kit.load.temporary_folder import TemporaryFolder
print(TemporaryFolder("kept-").path, flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_temporary_folder_is_removed_with_its_files(place):
    folder = TemporaryFolder("kept-")
    (folder.path / "file").write_text("x")
    folder.remove()
    folder.remove()
    assert not list(place.iterdir())


def test_next_process_removes_folder_of_killed_process(place):
    environment = {**os.environ, "TMPDIR": str(place)}
    with subprocess.Popen(
        [sys.executable, "-c", HOLD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        left = Path(process.stdout.readline().strip())
        (left / "file").write_text("x")
        assert remove_abandoned_folders("kept-") == []
        process.send_signal(signal.SIGKILL)
    assert left.exists()
    own = TemporaryFolder("kept-")
    assert list(place.iterdir()) == [own.path]


def test_cleanup_spares_files_links_and_other_names(place):
    (place / "other-1").mkdir()
    (place / "kept-file").write_text("x")
    (place / "kept-link").symlink_to(place / "other-1")
    assert remove_abandoned_folders("kept-") == []
    assert sorted(path.name for path in place.iterdir()) == ["kept-file", "kept-link", "other-1"]
