"""What a container's process does, as the data plane sees it: how it starts, ends, what it uses and prints.

Produced by whatever simulates processes (the twin), consumed by whoever writes pod status, metrics and logs. Times are
seconds since the epoch on the trial's clock, durations seconds, memory bytes, CPU cores.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

#: One series of metrics: its name, and its label pairs sorted by label name.
SeriesId = tuple[str, tuple[tuple[str, str], ...]]


class Exit(NamedTuple):
    """A process ended. ``reason`` is the kubelet's word (Error, OOMKilled, Completed), ``text`` its last words."""

    pod_uid: str
    container: str
    code: int
    reason: str
    text: str = ""


class ProcessStart(NamedTuple):
    """How a process comes up: it listens after that many seconds, or, with ``exit``, ends after them.

    It then prints ``lines``; what whoever simulates it logs by itself is not among them.
    """

    listens_after_seconds: float
    exit: Exit | None = None
    lines: tuple[str, ...] = ()


class InitState(NamedTuple):
    """The state of an init container. ``code`` counts once it ended; ``lines`` are what it prints meanwhile."""

    state: Literal["Running", "Succeeded", "Failed"]
    code: int = 0
    lines: tuple[str, ...] = ()


class Stop(NamedTuple):
    """What a process makes of SIGTERM: it ends after that many seconds with that code; infinite: it does not."""

    after_seconds: float = 0.0
    code: int = 143


class Lag(NamedTuple):
    """How long a probe waits: for its connection to stand, and in all for the answer. Infinite: it never comes."""

    connects: float = 0.0
    answers: float = 0.0


class Usage(NamedTuple):
    """Resources of one container over a tick; ``throttled_ratio`` is the share of CPU periods it was throttled."""

    cpu_cores: float
    memory_bytes: float
    throttled_ratio: float = 0.0


class NetworkUsage(NamedTuple):
    """What went over the network interface of one pod over a tick, in bytes per second."""

    received: float
    sent: float


class LogRecord(NamedTuple):
    """One line that a container printed."""

    pod: str
    container: str
    t: float
    text: str
