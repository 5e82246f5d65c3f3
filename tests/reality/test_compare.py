"""What counts as a difference between two recordings, and what does not."""

from __future__ import annotations

from typing import Any

import pytest

from tools.reality import known
from tools.reality.compare import Difference, are_close, find_differences, has_same_course, split_stretches
from tools.reality.recording import (
    ContainerView,
    Event,
    PodView,
    Recording,
    drop_repeats,
    normalise_text,
    read_event,
    read_view,
)

RUNS = ContainerView(state="running", ready=True, started=True)
CRASHED = ContainerView(state="terminated", reason="Error", code=1)
WAITS = ContainerView(state="waiting", reason="CrashLoopBackOff", message="back-off 10s", last="Error 1")


def build_view(seconds: float, container: ContainerView = RUNS, phase: str = "Running", **more: Any) -> PodView:
    return PodView(at=seconds, phase=phase, containers={"main": container}, **more)


def recording(*views: PodView, seconds: float = 60, **more: Any) -> Recording:
    return Recording(case="x", seconds=seconds, views=views, **more)


def with_restarts(view: ContainerView, restarts: int) -> ContainerView:
    return ContainerView.from_json({**view.to_json(), "restarts": restarts})


def aspects(a: Recording, b: Recording) -> list[str]:
    return [d.aspect for d in find_differences(a, b)]


PULLED = Event(type="Normal", reason="Pulled", message="image is there", where="main", count=2)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (recording(build_view(0)), recording(build_view(3)), []),
        (recording(build_view(0, phase="Pending"), build_view(1)), recording(build_view(0)), []),
        (recording(build_view(0, phase="Pending"), build_view(9)), recording(build_view(0)), ["phases"]),
        (recording(build_view(0)), recording(build_view(0), build_view(20, phase="Failed")), ["phases"]),
        (recording(build_view(0)), recording(build_view(0), build_view(58, phase="Failed")), []),
        (recording(build_view(0), build_view(20, CRASHED)), recording(build_view(0), build_view(22, CRASHED)), []),
        (recording(build_view(0), build_view(20, CRASHED)), recording(build_view(0)), ["main states"]),
        (recording(build_view(0), gone=20.0), recording(build_view(0)), ["gone at"]),
        (recording(build_view(0), gone=20.0), recording(build_view(0), gone=24.0), []),
        (recording(build_view(0), gone=40.0), recording(build_view(0), gone=20.0), ["gone at"]),
        (recording(build_view(0, reason="Evicted")), recording(build_view(0)), ["pod reason"]),
        (
            recording(build_view(0, conditions={"Ready": "True"})),
            recording(build_view(0, conditions={"Ready": "False"})),
            ["readiness", "condition Ready"],
        ),
        (
            recording(build_view(0, conditions={"Ready": "False"}), build_view(10, conditions={"Ready": "True"})),
            recording(build_view(0, conditions={"Ready": "False"}), build_view(25, conditions={"Ready": "True"})),
            ["readiness"],
        ),
        (
            recording(build_view(0), build_view(9, WAITS), build_view(20, with_restarts(RUNS, 1))),
            recording(build_view(0), build_view(9, WAITS), build_view(21, with_restarts(RUNS, 1))),
            [],
        ),
        (
            recording(build_view(0), build_view(9, WAITS), build_view(40, with_restarts(RUNS, 1))),
            recording(build_view(0), build_view(9, WAITS), build_view(19, with_restarts(RUNS, 1))),
            ["main restarts at"],
        ),
        (
            recording(build_view(0), build_view(9, WAITS), build_view(55, with_restarts(RUNS, 1))),
            recording(build_view(0), build_view(9, WAITS)),
            [],
        ),
        (recording(build_view(0), events=(PULLED,)), recording(build_view(0), events=(PULLED,)), []),
        (recording(build_view(0), events=(PULLED,)), recording(build_view(0)), ["event Pulled"]),
    ],
)
def test_differences(a: Recording, b: Recording, expected: list[str]) -> None:
    assert aspects(a, b) == expected
    assert aspects(b, a) == expected


def test_counts_of_events_have_a_band() -> None:
    def reported(count: int) -> Recording:
        return recording(build_view(0), events=(Event.from_json({**PULLED.to_json(), "count": count}),))

    assert aspects(reported(10), reported(13)) == []
    assert aspects(reported(10), reported(20)) == ["count of event Pulled"]


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [(0, 5, True), (0, 7, False), (100, 120, True), (100, 140, False), (20, 20, True)],
)
def test_times_agree_within_a_band(a: float, b: float, expected: bool) -> None:
    assert are_close(a, b) is expected
    assert are_close(b, a) is expected


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ([(0, "up")], [(0, "up")], True),
        ([(0, "new"), (1, "up")], [(0, "up")], True),
        ([(0, "new"), (10, "up")], [(0, "up")], False),
        ([(0, "up"), (10, "down")], [(0, "down"), (10, "up")], False),
        ([(0, "up"), (10, "down"), (11, "up")], [(0, "up")], True),
        ([(0, "up"), (10, "down"), (20, "up")], [(0, "up")], False),
    ],
)
def test_courses(a: list[tuple[float, str]], b: list[tuple[float, str]], expected: bool) -> None:
    assert has_same_course(split_stretches(a, 60), split_stretches(b, 60), 60) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("pod=a_shop(0b3f4a5e-7c1d-4f62-9a55-6f1f0c8f2d11)", "pod=a_<namespace>(<uid>)"),
        ("dial tcp 10.244.0.7:8080: connect: refused", "dial tcp <ip>:8080: connect: refused"),
        ("pulled in 1.2s (1.5s including waiting). Image size: 17 bytes.", "pulled in <time>. Image size: <n> bytes."),
        ("workshop and shopping", "workshop and shopping"),
        ("f" * 64, "<id>"),
    ],
)
def test_messages_are_normalised(text: str, expected: str) -> None:
    assert normalise_text(text, "shop") == expected


def test_view_of_a_status() -> None:
    ended = {"exitCode": 1, "reason": "Error"}
    entry = {"name": "main", "state": {"terminated": ended}, "restartCount": 2, "ready": False, "started": False}
    pod = {
        "metadata": {"namespace": "shop"},
        "status": {
            "phase": "Running",
            "conditions": [{"type": "Ready", "status": "False", "reason": "No", "message": "in shop"}],
            "containerStatuses": [{**entry, "lastState": {"terminated": ended}}],
        },
    }
    seen = read_view(pod, 3.14)
    assert seen == build_view(
        3.1,
        ContainerView(state="terminated", reason="Error", code=1, restarts=2, last="Error 1"),
        conditions={"Ready": "False No: in <namespace>"},
    )
    assert drop_repeats([seen, read_view(pod, 4), read_view({**pod, "status": {}}, 5)])[1].at == 5


def test_event_object() -> None:
    obj = {
        "type": "Warning", "reason": "BackOff", "message": "m", "count": 3,
        "firstTimestamp": "2026-01-01T00:00:10Z", "lastTimestamp": "2026-01-01T00:00:40Z",
        "involvedObject": {"namespace": "shop", "fieldPath": "spec.containers{main}"},
    }  # fmt: skip
    expected = Event(type="Warning", reason="BackOff", message="m", where="main", count=3, first=10, last=40)
    assert read_event(obj, 1_767_225_600.0) == expected


def test_difference_without_a_cause() -> None:
    assert known.find_cause(Difference(case="no-such-case", aspect="phases", real="", simulated="")) == ""
