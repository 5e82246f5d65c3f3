"""Unanswered dials: callers log them in the words of their client library."""

import copy
from typing import Any

import pytest

from tests.lab.twin import tiny
from tests.lab.twin.twin_cluster import TwinCluster

NO_LOGIN = "10.99.0.9:9000"


def gate_of(dialect: str, seconds: float) -> TwinCluster:
    """The application with a gate of that language and a call timeout in seconds (0: none)."""
    twin: dict[str, Any] = copy.deepcopy(tiny.TWIN)
    twin["components"]["gate"]["dialect"] = dialect
    edge = next(e for e in twin["edges"] if e["callee"] == "api")
    edge["timeoutSeconds"] = seconds
    cluster = TwinCluster(tiny.app(**twin), tiny.objects())
    cluster.run(60)
    cluster.env("gate", "API_ADDR", NO_LOGIN)
    cluster.logs.clear()
    cluster.run(120)
    return cluster


def said_by_gate(cluster: TwinCluster) -> set[str]:
    return {line.text for line in cluster.logs if line.pod.startswith("gate")}


@pytest.mark.parametrize(
    ("dialect", "words"),
    [
        ("go", "transport: Error while dialing: dial tcp 10.99.0.9:9000: i/o timeout"),
        ("node", "14 UNAVAILABLE: No connection established. Last error: connect ETIMEDOUT 10.99.0.9:9000"),
        ("python", "StatusCode.UNAVAILABLE"),
        ("dotnet", 'Status(StatusCode="Unavailable"'),
        ("java", "io exception: connection timed out: 10.99.0.9/10.99.0.9:9000"),
        ("rust", "Connection timed out (os error 110)"),
        ("cpp", "Connection timed out"),
    ],
)
def test_unanswered_channel_has_client_specific_errors(dialect: str, words: str) -> None:
    assert any(words in text for text in said_by_gate(gate_of(dialect, 0)))


@pytest.mark.parametrize(
    ("dialect", "words"),
    [
        ("go", "context deadline exceeded"),
        ("node", "DEADLINE_EXCEEDED"),
        ("python", "Deadline Exceeded"),
        ("java", "DEADLINE_EXCEEDED"),
        ("rust", "operation timed out"),
        ("cpp", "THRIFT_EAGAIN (timed out)"),
    ],
)
def test_caller_timeout_has_client_specific_errors(dialect: str, words: str) -> None:
    assert any(words in text for text in said_by_gate(gate_of(dialect, 5)))
