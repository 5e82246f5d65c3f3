"""A full disk is reported with a fix, before and while a lab runs."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from scenario_kit.errors import LabError
from scenario_kit.lab import lifecycle
from scenario_kit.lab.host import disk_space
from scenario_kit.lab.host.state import LabState, ProcessState

MIB = 1 << 20


def disk(monkeypatch: pytest.MonkeyPatch, free: int = 1 << 40, inodes: int = 1_000_000, files: int = 2_000_000) -> None:
    found = SimpleNamespace(f_bavail=free // 4096, f_frsize=4096, f_files=files, f_favail=inodes)
    monkeypatch.setattr(os, "statvfs", lambda _: found)


@pytest.mark.parametrize(
    ("given", "desired", "message"),
    [
        ({}, disk_space.TO_START, ""),
        ({"free": 100 * MIB}, disk_space.TO_START, "is full: 100 MiB free, a lab needs 512 MiB"),
        ({"free": 100 * MIB}, disk_space.TO_GO_ON, ""),
        ({"free": 0}, disk_space.TO_GO_ON, "is full: 0 MiB free, a running lab needs 32 MiB"),
        ({"inodes": 10}, disk_space.TO_GO_ON, "has no room for more files: 10 inodes free"),
        ({"inodes": 1000}, disk_space.TO_START, "has no room for more files: 1000 inodes free"),
        ({"inodes": 0, "files": 0}, disk_space.TO_START, ""),  # file systems that count none
    ],
)
def test_insufficient_disk_is_described(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, given: dict[str, int], desired: int, message: str
) -> None:
    disk(monkeypatch, **given)
    found = disk_space.find_problem(tmp_path / "not" / "there" / "yet", desired)
    assert (message in found) if message else found == ""
    assert "\n" not in found


def test_read_only_folder_is_described(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse(**_: Any) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr("tempfile.TemporaryFile", refuse)
    assert disk_space.find_problem(tmp_path) == f"cannot write in {tmp_path}: Read-only file system"


def test_lab_up_checks_disk_before_starting(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SCENARIO_KIT_HOME", str(tmp_path))
    disk(monkeypatch, free=10 * MIB)
    with pytest.raises(LabError, match="is full: 10 MiB free") as caught:
        lifecycle.bring_up("no-room")
    assert "SCENARIO_KIT_HOME" in caught.value.fix
    assert not list(tmp_path.iterdir())


def test_other_errors_are_not_explained_as_disk_space(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    other = LabError("the control plane did not start: {'level': 'fatal', 'msg': '…'}")
    assert disk_space.explain_error(other, tmp_path) is None
    spent = disk_space.explain_error(OSError(errno.ENOSPC, "No space left on device", "/data/lab.json"), tmp_path)
    assert spent is not None
    assert spent.message == "the disk of /data/lab.json is full"
    disk(monkeypatch, free=0)
    reported = disk_space.explain_error(other, tmp_path)
    assert reported is not None
    assert "is full: 0 MiB free" in reported.message


def test_part_ended_by_a_full_disk_is_explained(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    log = tmp_path / "etcd.log"
    log.write_text('{"level":"panic","msg":"failed to write"}\n' * 50)
    part = ProcessState(name="etcd", pid=2**22 + 1, log=str(log))
    state = LabState(name="x", folder=str(tmp_path), epoch=0, parts=(part,))
    disk(monkeypatch, free=0)
    with pytest.raises(LabError) as caught:
        state.require_alive()
    assert "is full" in caught.value.message
    assert "etcd ended" in caught.value.message
    assert "level" not in caught.value.message
