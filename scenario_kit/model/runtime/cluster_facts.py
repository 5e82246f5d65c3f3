"""Facts of a cluster on which it depends whether scenarios can run there."""

from __future__ import annotations

from scenario_kit.model.base import Value


class MetricsFacts(Value, frozen=True, kw_only=True):
    """Facts about a Prometheus. ``interval`` is that of most targets in seconds, None where no target is old enough.

    ``kube_state``, ``spans`` and ``namespaced`` are whether it has series of kube-state-metrics, span metrics, and
    targets with the label ``namespace``.
    """

    interval: float | None = None
    kube_state: bool = False
    spans: bool = False
    namespaced: bool = False


class ChaosFacts(Value, frozen=True, kw_only=True):
    """Facts about Chaos Mesh: the manager's image (empty where it is not installed), the daemon's runtime, and the
    runtimes of the nodes.
    """

    image: str = ""
    daemon_runtime: str = ""
    runtimes: frozenset[str] = frozenset()
