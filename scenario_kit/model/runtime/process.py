"""A container's process as the data plane sees it: startup, exit, resource usage, output.

The twin produces these values; pod status, metrics and logs are derived from them. Times are in seconds since the epoch
on the trial's clock, durations in seconds, memory in bytes, CPU in cores.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

#: Identity of a series: metric name, and label pairs sorted by name.
SeriesId = tuple[str, tuple[tuple[str, str], ...]]


class Exit(NamedTuple):
    """The exit of a process. ``reason`` is the kubelet's (Error, OOMKilled, Completed), ``text`` the last output."""

    pod_uid: str
    container: str
    code: int
    reason: str
    text: str = ""


class ProcessStart(NamedTuple):
    """The startup of a process: the seconds until it listens, or, with ``exit``, until it exits.

    ``lines`` is its output, except for what the simulation of the process logs itself.
    """

    listens_after_seconds: float
    exit: Exit | None = None
    lines: tuple[str, ...] = ()


class InitState(NamedTuple):
    """The state of an init container, with its exit code once ended, and its output."""

    state: Literal["Running", "Succeeded", "Failed"]
    code: int = 0
    lines: tuple[str, ...] = ()


class Stop(NamedTuple):
    """The reaction to SIGTERM: seconds until the exit (infinite: none), and the exit code."""

    after_seconds: float = 0.0
    code: int = 143


class Lag(NamedTuple):
    """The time that a probe waits for its connection, and in total for the response; may be infinite.

    ``status`` is that of an HTTP response on its way to the node, 0 if the connection is closed without one.
    """

    connects: float = 0.0
    answers: float = 0.0
    status: int = 200


class Usage(NamedTuple):
    """Resources of one container over a tick; ``throttled_ratio`` is the share of CPU periods it was throttled."""

    cpu_cores: float
    memory_bytes: float
    throttled_ratio: float = 0.0


class NetworkUsage(NamedTuple):
    """Network traffic of a pod over a tick, in bytes per second."""

    received: float
    sent: float


class LogRecord(NamedTuple):
    """A log line of a container."""

    pod: str
    container: str
    t: float
    text: str
