"""The world, as three Protocols: ``clients`` and ``lab`` implement, ``testing`` fakes them, one suite judges all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol

from scenario_kit.model import Object, Reference

PatchType = Literal["Json", "Merge", "Strategic"]


class Kind(NamedTuple):
    """A kind that the API serves. ``group`` is empty for core."""

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool


class LogLine(NamedTuple):
    """One line of a container; ``at`` in seconds since the epoch."""

    pod: str
    container: str
    at: float
    text: str


class Probed(NamedTuple):
    """What a port answered. ``connected`` is None where that cannot be known; ``status`` is set for HTTP answers."""

    connected: bool | None
    status: int | None = None
    reported: str = ""


class Cluster(Protocol):
    """A Kubernetes API, on plain objects. Every reference carries a real namespace (none of them is symbolic).

    Raises, all methods: ``ClusterError`` and its kinds. Every write goes under one neutral field manager.
    """

    def get(self, ref: Reference) -> Object | None:
        """Get the object, or None when it does not exist."""

    def list(
        self, kind: str, namespace: str = "", *, group: str = "", labels: Mapping[str, str] | None = None
    ) -> list[Object]:
        """List all objects of a kind, in one namespace or (empty) in all; ``apiVersion`` and ``kind`` are filled in."""

    def create(self, obj: Object) -> Object:
        """Create; raises ``AlreadyExists``."""

    def apply(self, obj: Object) -> Object:
        """Apply an object server-side, forced."""

    def patch(self, ref: Reference, patch: Any, type: PatchType = "Merge", *, subresource: str = "") -> Object:
        """Patch an object or one of its subresources; raises ``NotFound``."""

    def delete(self, ref: Reference, *, uid: str = "", grace_seconds: int | None = None) -> None:
        """Delete in the background; missing is fine. With ``uid`` only that very object (else ``Conflict``)."""

    def evict(self, pod: Reference) -> None:
        """Ask for the eviction of a pod; missing is fine. ``EvictionRefused`` where a disruption budget forbids it."""

    def kinds(self) -> Sequence[Kind]:
        """Return every kind that can be listed."""

    def logs(self, pod: Object, *, since: float = 0.0) -> Sequence[LogLine]:
        """Return lines of all containers of a pod, oldest first; ``NotFound`` when it is gone."""

    def probe(self, pod: Reference, port: int, path: str = "") -> Probed:
        """Ask a port of a pod, by TCP or (with a path) by an HTTP GET; ``NotFound`` when the pod does not exist."""


class Series(NamedTuple):
    """A time series: labels and (time, value) pairs, times in seconds since the epoch."""

    labels: Mapping[str, str]
    points: Sequence[tuple[float, float]]


class Metrics(Protocol):
    """A PromQL engine. All methods raise ``MetricsError``; its ``evaluation`` tells a bad query from a dead server."""

    def range(self, expr: str, start: float, end: float, step: float) -> Sequence[Series]:
        """Evaluate at start, start + step … up to and including end."""

    def instant(self, expr: str, at: float) -> Sequence[Series]:
        """Evaluate once; each series has one point."""


class Clock(Protocol):
    """The time of one trial. Virtual clocks move only here; wall clocks move by themselves."""

    def now(self) -> float:
        """Return seconds since the epoch."""

    def wait(self, until: float) -> float:
        """Let time pass up to ``until`` and the cluster settle; returns the time reached, which may be earlier.

        Raises:
            InfrastructureError: whatever moves the time is gone, or the cluster does not settle.
        """
