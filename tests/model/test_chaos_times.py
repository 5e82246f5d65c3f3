"""Times of experiments as tc and the injectors read them; those of tc were compared with iproute2 6.1."""

from typing import Any

import pytest

from scenario_kit.model.chaos.times import find_misread_times, is_passed_to_tc, parse_tc_seconds, parse_whole_seconds


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("250ms", 0.25),
        ("2SEC", 2.0),
        ("500usecs", 0.0005),
        ("1.5S", 1.5),
        ("1000", 0.001),
        ("274s", 274.0),
        ("0s", 0.0),
    ],
)
def test_times_of_tc(text: str, seconds: float) -> None:
    assert parse_tc_seconds(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1m", '^Illegal "latency"$'),
        ("1m30s", "latency"),
        ("1500ns", "latency"),
        ("100µs", "latency"),
        ("fast", "latency"),
        ("275s", r"^Illegal 275000000 time \(too large\)\nIllegal"),
    ],
)
def test_times_that_tc_refuses(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        parse_tc_seconds(text)


@pytest.mark.parametrize(
    ("text", "passed"),
    [("1ms", True), ("10s", True), ("0s", True), ("0ms", False), ("", False), ("0.5s", False), ("-1s", False)],
)
def test_times_passed_to_tc(text: str, passed: bool) -> None:
    assert is_passed_to_tc(text) is passed


@pytest.mark.parametrize(("text", "seconds"), [("2s", 2.0), ("1m30s", 90.0), ("1 m 30 s", 90.0), ("5ns", 5e-9)])
def test_whole_seconds(text: str, seconds: float) -> None:
    assert parse_whole_seconds(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("kind", "spec", "keys"),
    [
        ("NetworkChaos", {"delay": {"latency": "250ms", "jitter": "0ms"}}, []),
        ("NetworkChaos", {"delay": {"latency": "0ms", "jitter": "0s"}}, []),
        ("NetworkChaos", {"delay": {"latency": "0.5s", "jitter": "0.5ms"}}, ["delay.latency", "delay.jitter"]),
        ("NetworkChaos", {"delay": {"latency": "1m"}}, ["delay.latency"]),
        ("NetworkChaos", {"delay": {"latency": "1s", "jitter": "300ns"}}, ["delay.jitter"]),
        ("NetworkChaos", {"delay": "1m"}, []),  # which the schema reports
        ("NetworkChaos", {"duration": "1m30s"}, []),
        ("HTTPChaos", {"delay": "1m30s"}, []),
        ("HTTPChaos", {"delay": "1.5s"}, ["delay"]),
        ("HTTPChaos", {"abort": True}, []),
        ("IOChaos", {"delay": "0.5s"}, ["delay"]),
        ("IOChaos", {"delay": ""}, []),
        ("Schedule", {"type": "IOChaos", "ioChaos": {"delay": "0.5s"}}, ["delay"]),
        ("JVMChaos", {"latency": 1500}, []),
    ],
)
def test_misread_times_are_found(kind: str, spec: dict[str, Any], keys: list[str]) -> None:
    found = find_misread_times({"kind": kind, "metadata": {"name": "x"}, "spec": spec})
    assert [".".join(each.keys) for each in found] == keys
