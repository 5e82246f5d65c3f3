"""Commands share a lab unless their trials reach beyond their app."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from scenario_kit.lab.lifecycle import occupy


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCENARIO_KIT_HOME", str(tmp_path))


def test_app_scoped_commands_share_a_lab() -> None:
    messages: list[str] = []
    with occupy("a", messages.append, alone=False), occupy("a", messages.append, alone=False):
        pass
    with occupy("a", messages.append, alone=True), occupy("b", messages.append, alone=True):
        pass
    assert messages == []


@pytest.mark.parametrize(("first", "second"), [(False, True), (True, False), (True, True)])
def test_exclusive_command_waits_with_a_message(first: bool, second: bool) -> None:
    waits, inside = threading.Event(), threading.Event()
    messages: list[str] = []

    def say(text: str) -> None:
        messages.append(text)
        waits.set()

    def other() -> None:
        with occupy("a", say, alone=second):
            inside.set()

    thread = threading.Thread(target=other)
    with occupy("a", say, alone=first):
        thread.start()
        assert waits.wait(10)
        assert not inside.is_set()
    thread.join(10)
    assert inside.is_set()
    assert messages == ["another command runs trials in lab 'a', and one of the two reaches beyond its app; waiting"]
