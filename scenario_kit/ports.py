"""The ports as Protocols: implemented by ``clients`` and ``lab``, faked by ``testing``, with one contract suite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol

from scenario_kit.model import Object, Reference

PatchType = Literal["Json", "Merge", "Strategic"]


class Kind(NamedTuple):
    """A kind of the API. ``group`` is empty for core."""

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
    """The result of a probe. ``connected`` is None if unknown; ``status`` is set for HTTP responses."""

    connected: bool | None
    status: int | None = None
    reported: str = ""


class Cluster(Protocol):
    """A Kubernetes API with plain objects. References have real namespaces, never symbolic ones.

    All methods raise ``ClusterError`` and its subclasses. All writes have the same neutral field manager.
    """

    def get(self, ref: Reference) -> Object | None:
        """Return the object, or None if it does not exist."""

    def list(
        self, kind: str, namespace: str = "", *, group: str = "", labels: Mapping[str, str] | None = None
    ) -> list[Object]:
        """List all objects of a kind, in one namespace or (empty) in all, with ``apiVersion`` and ``kind``."""

    def create(self, obj: Object) -> Object:
        """Create; raises ``AlreadyExists``."""

    def apply(self, obj: Object) -> Object:
        """Apply an object server-side, forced."""

    def patch(self, ref: Reference, patch: Any, type: PatchType = "Merge", *, subresource: str = "") -> Object:
        """Patch an object or one of its subresources; raises ``NotFound``."""

    def delete(self, ref: Reference, *, uid: str = "", grace_seconds: int | None = None) -> None:
        """Delete in the background; no error if it is missing. With ``uid``, only that object (else ``Conflict``)."""

    def evict(self, pod: Reference) -> None:
        """Evict a pod; no error if it is missing. ``EvictionRefused`` if a disruption budget forbids it."""

    def kinds(self) -> Sequence[Kind]:
        """Return every kind that can be listed."""

    def logs(self, pod: Object, *, since: float = 0.0) -> Sequence[LogLine]:
        """Return lines of all containers of a pod, oldest first; ``NotFound`` if the pod is gone."""

    def probe(self, pod: Reference, port: int, path: str = "") -> Probed:
        """Probe a port of a pod by TCP, or with a path by an HTTP GET; ``NotFound`` if the pod does not exist."""


class Series(NamedTuple):
    """A time series: labels and (time, value) pairs, times in seconds since the epoch."""

    labels: Mapping[str, str]
    points: Sequence[tuple[float, float]]


class Metrics(Protocol):
    """A PromQL engine. All methods raise ``MetricsError``; its ``evaluation`` is true for a bad query."""

    def range(self, expr: str, start: float, end: float, step: float) -> Sequence[Series]:
        """Evaluate at start, start + step … up to and including end."""

    def instant(self, expr: str, at: float) -> Sequence[Series]:
        """Evaluate once; each series has one point."""


class Clock(Protocol):
    """The time of one trial. Virtual clocks advance only here; wall clocks advance by themselves."""

    def now(self) -> float:
        """Return seconds since the epoch."""

    def wait(self, until: float) -> float:
        """Advance to ``until`` and settle the cluster; return the time reached, which may be earlier.

        Raises:
            InfrastructureError: the clock's server is gone, or the cluster does not settle.
        """
