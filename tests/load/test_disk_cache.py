"""The disk cache: as current as its files, private, and bounded."""

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
def compute_cached(file: Path) -> Callable[..., Any]:
    """Return a function that computes a cached value and returns the number of computations."""
    made: list[int] = []

    def make() -> Any:
        made.append(1)
        return {"n": len(made)}

    return lambda *more: cache_json("x", [file], more, make)["n"]


def test_cached_value_is_kept_until_its_file_changes(
    folder: Path, file: Path, compute_cached: Callable[..., Any]
) -> None:
    assert [compute_cached("y") for _ in range(2)] == [1, 1]
    file.write_text("22")
    assert compute_cached("y") == 2
    assert compute_cached("other") == 3


def test_content_counts_not_times(folder: Path, file: Path, compute_cached: Callable[..., Any]) -> None:
    compute_cached()
    state = file.stat()
    file.write_text("2")
    os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert compute_cached() == 2
    file.write_text("1")
    assert compute_cached() == 1, "it said this before"


def test_created_or_deleted_file_invalidates_the_cache(
    folder: Path, file: Path, compute_cached: Callable[..., Any]
) -> None:
    compute_cached()
    file.unlink()
    assert compute_cached() == 2


def test_changed_code_invalidates_the_cache(
    folder: Path, compute_cached: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    compute_cached()
    monkeypatch.setattr(module, "_digest_code", lambda: b"newer")
    assert compute_cached() == 2


def test_result_of_changing_file_is_not_cached(folder: Path, file: Path) -> None:
    def make() -> str:
        before = file.read_text()
        file.write_text("changed")
        return before

    assert cache_json("x", [file], (), make) == "1"
    file.write_text("1")
    assert cache_json("x", [file], (), lambda: "anew") == "anew"


@pytest.mark.parametrize("named", ["", "/dev/null/nowhere", "/proc"])
def test_missing_cache_folder_disables_caching(named: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, named)

    assert cache_json("x", [], [], lambda: [1]) == [1]


def entry(folder: Path) -> Path:
    (found,) = folder.glob("*.json")
    return found


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def forge(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b'"n":1', b'"n":9'))


def replace_by_symlink(path: Path) -> None:
    other = path.with_name("elsewhere")
    path.rename(other)
    path.symlink_to(other)


def replace_by_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize(
    "harm",
    [
        truncate, forge, replace_by_symlink, replace_by_pipe,
        lambda path: path.write_bytes(b""), lambda path: path.chmod(0o666), lambda path: path.chmod(0o620),
    ],
)  # fmt: skip
def test_untrusted_or_damaged_cache_entry_is_rebuilt(
    harm: Callable[[Path], None], folder: Path, compute_cached: Callable[..., Any]
) -> None:
    compute_cached()
    harm(entry(folder))
    assert [compute_cached(), compute_cached()] == [2, 2]


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o1777])
def test_world_writable_cache_folder_is_not_used(mode: int, folder: Path, compute_cached: Callable[..., Any]) -> None:
    folder.mkdir()
    folder.chmod(mode)
    assert [compute_cached(), compute_cached()] == [1, 2]
    assert list(folder.iterdir()) == []


def test_folder_or_an_entry_of_another_user_is_not_used(
    folder: Path, compute_cached: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    compute_cached()
    monkeypatch.setattr(os, "getuid", lambda: os.geteuid() + 1)
    assert [compute_cached(), compute_cached()] == [2, 3]


def test_cache_files_are_private_to_owner(folder: Path, compute_cached: Callable[..., Any]) -> None:
    compute_cached()
    assert folder.stat().st_mode & 0o077 == 0
    assert entry(folder).stat().st_mode & 0o077 == 0


def test_oldest_cache_entries_are_evicted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_ENTRIES", 3)
    for number in range(6):
        cache_json(f"k{number}", [], [], lambda: 1)
        for path in folder.glob(f"k{number}-*"):
            os.utime(path, (number, number))
    assert sorted(path.name[:2] for path in folder.iterdir()) == ["k3", "k4", "k5"]

    monkeypatch.setattr(module, "MOST_BYTES", 1_000)
    cache_json("large", [], [], lambda: "x" * 950)
    assert [path.name[:5] for path in folder.iterdir()] == ["large"]


def test_oversized_value_is_not_cached(folder: Path, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_OF_ONE", 100)
    assert cache_json("x", [], [], lambda: "x" * 200) == "x" * 200
    file.write_text("x" * 200)
    assert cache_json("x", [file], [], lambda: 1) == 1
    assert list(folder.iterdir()) == []


def test_stale_temporary_files_are_removed(folder: Path, compute_cached: Callable[..., Any]) -> None:
    folder.mkdir(mode=0o700)
    left, new = folder / "tmpold", folder / "tmpnew"
    left.touch()
    new.touch()
    os.utime(left, (0, 0))
    compute_cached()
    assert not left.exists()
    assert new.exists()


def test_code_at_any_depth_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = tmp_path / "render" / "apps" / "app.py"
    for folder in ("catalog", "lab/twin", "load", "model", "render/apps", "schema"):
        (tmp_path / folder).mkdir(parents=True)
    deep.write_text("1")
    monkeypatch.setattr(module.scenario_kit, "__file__", str(tmp_path / "__init__.py"))

    before = module._digest_code.__wrapped__()
    deep.write_text("22")

    assert module._digest_code.__wrapped__() != before
