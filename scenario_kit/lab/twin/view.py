"""What the twin sees (objects of a namespace, chaos in force) and what it tells (samples, logs, usage, exits)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from scenario_kit.model.base import Object
from scenario_kit.model.effect import Ledger
from scenario_kit.model.process import Exit, LogRecord, SeriesId, Usage


class View(NamedTuple):
    """One namespace at one instant.

    ``objects[kind][name]`` holds plain Kubernetes objects of the kinds Pod, Service, EndpointSlice, ConfigMap, Secret,
    Deployment, ReplicaSet, StatefulSet, NetworkPolicy, HorizontalPodAutoscaler, ResourceQuota and Namespace (its own
    one); a kind without objects may be missing. ``version`` grows whenever an object or the ledger changed: what is
    derived from a view is cached by it.
    """

    namespace: str
    objects: Mapping[str, Mapping[str, Object]]
    ledger: Ledger
    version: int

    def kind(self, kind: str) -> Mapping[str, Object]:
        """The objects of a kind by name; empty when there are none."""
        return self.objects.get(kind) or {}


class Telemetry(NamedTuple):
    """What one tick produced.

    ``samples`` is the complete current set of series: one that is missing has ended. ``usage`` is keyed by pod UID and
    container name. ``exits`` are processes that ended during the tick.
    """

    samples: dict[SeriesId, float]
    logs: Sequence[LogRecord] = ()
    usage: Mapping[tuple[str, str], Usage] = {}
    exits: Sequence[Exit] = ()
