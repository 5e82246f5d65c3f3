"""Queued writes: ordered per key, parallel between keys, and flushed before reads."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from scenario_kit.lab.kubelet.event_queue import KeyedWriteQueue


@pytest.fixture
def background() -> Iterator[KeyedWriteQueue]:
    made = KeyedWriteQueue("test")
    yield made
    made.close()


def failing() -> None:
    raise RuntimeError("no disk")


def test_calls_of_one_key_run_in_order(background: KeyedWriteQueue) -> None:
    seen: list[int] = []
    for number in range(200):
        background.put("a", lambda number=number: seen.append(number))  # type: ignore[misc]
    assert background.flush("a")
    assert seen == list(range(200))


def test_blocked_key_does_not_delay_others(background: KeyedWriteQueue) -> None:
    gate, done = threading.Event(), threading.Event()
    background.put("slow", gate.wait)
    background.put("slow", done.set)
    background.put("other", lambda: None)
    assert background.flush("other", 10.0)
    assert not background.flush("slow", 0.0)
    assert not background.flush(seconds=0.0)
    gate.set()
    assert background.flush()
    assert done.is_set()


def test_exception_of_call_is_raised_by_check_of_its_key(background: KeyedWriteQueue) -> None:
    background.put("a", failing)
    background.put("b", lambda: None)
    assert background.flush("b")
    with pytest.raises(RuntimeError, match="no disk"):
        background.flush("a")
    background.check("a")
    background.put("a", failing)
    with pytest.raises(RuntimeError, match="no disk"):
        background.flush()


def test_dropped_items_are_not_processed(background: KeyedWriteQueue) -> None:
    gate, begun, late = threading.Event(), threading.Event(), threading.Event()
    background.put("a", lambda: (begun.set(), gate.wait(), failing())[0])
    background.put("a", late.set)
    begun.wait(10.0)
    background.drop("a")
    background.drop("unknown")
    gate.set()
    with pytest.raises(RuntimeError):
        background.flush("a")
    assert not late.is_set()
    background.put("a", failing)
    background.put("b", lambda: None)
    background.flush("b")
