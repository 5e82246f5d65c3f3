"""What is kept is as new as its files, ours alone, and no more than it may be."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scenario_kit.load.disk_cache import VARIABLE, cache_json

module = sys.modules["scenario_kit.load.disk_cache"]  # the package has a function of that name


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "cache"
    monkeypatch.setenv(VARIABLE, str(path))
    return path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a"
    path.write_text("1")
    return path


@pytest.fixture
def asked(file: Path) -> Callable[..., Any]:
    """Asks for an answer; it tells how many times one was made."""
    made: list[int] = []

    def make() -> Any:
        made.append(1)
        return {"n": len(made)}

    return lambda *more: cache_json("x", [file], more, make)["n"]


def test_an_answer_is_kept_until_its_file_changes(folder: Path, file: Path, asked: Callable[..., Any]) -> None:
    assert [asked("y") for _ in range(2)] == [1, 1]
    file.write_text("22")
    assert asked("y") == 2
    assert asked("other") == 3


def test_content_counts_not_times(folder: Path, file: Path, asked: Callable[..., Any]) -> None:
    asked()
    state = file.stat()
    file.write_text("2")
    os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert asked() == 2
    file.write_text("1")
    assert asked() == 1, "it said this before"


def test_a_file_that_comes_or_goes_is_a_change(folder: Path, file: Path, asked: Callable[..., Any]) -> None:
    asked()
    file.unlink()
    assert asked() == 2


def test_another_code_makes_another_answer(
    folder: Path, asked: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked()
    monkeypatch.setattr(module, "_digest_code", lambda: b"newer")
    assert asked() == 2


def test_result_of_changing_file_is_not_cached(folder: Path, file: Path) -> None:
    def make() -> str:
        before = file.read_text()
        file.write_text("changed")
        return before

    assert cache_json("x", [file], (), make) == "1"
    file.write_text("1")
    assert cache_json("x", [file], (), lambda: "anew") == "anew"


@pytest.mark.parametrize("named", ["", "/dev/null/nowhere", "/proc"])
def test_without_a_folder_everything_is_worked_out(named: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, named)

    assert cache_json("x", [], [], lambda: [1]) == [1]


def entry(folder: Path) -> Path:
    (found,) = folder.glob("*.json")
    return found


def truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def forged(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b'"n":1', b'"n":9'))


def linked(path: Path) -> None:
    other = path.with_name("elsewhere")
    path.rename(other)
    path.symlink_to(other)


def a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize(
    "harm",
    [
        truncated, forged, linked, a_pipe, lambda path: path.write_bytes(b""), lambda path: path.chmod(0o666),
        lambda path: path.chmod(0o620),
    ],
)  # fmt: skip
def test_untrusted_or_damaged_cache_entry_is_rebuilt(
    harm: Callable[[Path], None], folder: Path, asked: Callable[..., Any]
) -> None:
    asked()
    harm(entry(folder))
    assert [asked(), asked()] == [2, 2]


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o1777])
def test_a_folder_that_others_can_write_to_is_not_used(mode: int, folder: Path, asked: Callable[..., Any]) -> None:
    folder.mkdir()
    folder.chmod(mode)
    assert [asked(), asked()] == [1, 2]
    assert list(folder.iterdir()) == []


def test_a_folder_or_an_entry_of_another_user_is_not_used(
    folder: Path, asked: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked()
    monkeypatch.setattr(os, "getuid", lambda: os.geteuid() + 1)
    assert [asked(), asked()] == [2, 3]


def test_cache_files_are_private_to_owner(folder: Path, asked: Callable[..., Any]) -> None:
    asked()
    assert folder.stat().st_mode & 0o077 == 0
    assert entry(folder).stat().st_mode & 0o077 == 0


def test_the_oldest_make_room(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_ENTRIES", 3)
    for number in range(6):
        cache_json(f"k{number}", [], [], lambda: 1)
        for path in folder.glob(f"k{number}-*"):
            os.utime(path, (number, number))
    assert sorted(path.name[:2] for path in folder.iterdir()) == ["k3", "k4", "k5"]

    monkeypatch.setattr(module, "MOST_BYTES", 1_000)
    cache_json("large", [], [], lambda: "x" * 950)
    assert [path.name[:5] for path in folder.iterdir()] == ["large"]


def test_what_is_too_large_is_not_kept(folder: Path, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_OF_ONE", 100)
    assert cache_json("x", [], [], lambda: "x" * 200) == "x" * 200
    file.write_text("x" * 200)
    assert cache_json("x", [file], [], lambda: 1) == 1
    assert list(folder.iterdir()) == []


def test_what_a_writer_left_behind_goes(folder: Path, asked: Callable[..., Any]) -> None:
    folder.mkdir(mode=0o700)
    left, new = folder / "tmpold", folder / "tmpnew"
    left.touch()
    new.touch()
    os.utime(left, (0, 0))
    asked()
    assert not left.exists()
    assert new.exists()
