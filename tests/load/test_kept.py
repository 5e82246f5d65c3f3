"""What is kept is as new as its files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scenario_kit.load.kept import VARIABLE, kept


def test_an_answer_is_kept_until_its_file_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    file, asked = tmp_path / "a", []
    file.write_text("1")

    def make() -> Any:
        asked.append(1)
        return {"n": len(asked)}

    assert [kept("x", [file], ["y"], make) for _ in range(2)] == [{"n": 1}, {"n": 1}]
    file.write_text("22")
    assert kept("x", [file], ["y"], make) == {"n": 2}
    assert kept("x", [file], ["other"], make) == {"n": 3}


@pytest.mark.parametrize("folder", ["", "/dev/null/nowhere"])
def test_without_a_folder_everything_is_worked_out(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, folder)

    assert kept("x", [], [], lambda: [1]) == [1]
