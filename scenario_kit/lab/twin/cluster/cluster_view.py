"""What the twin sees (objects of a namespace, chaos in force) and what it tells (samples, logs, usage, exits)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from scenario_kit.lab.twin.cluster import corefile
from scenario_kit.lab.twin.outcome import ConnectionOutcome
from scenario_kit.model.base import Object
from scenario_kit.model.chaos.effects import Ledger
from scenario_kit.model.runtime.process import Exit, LogRecord, NetworkUsage, SeriesId, Usage


class ClusterDns(NamedTuple):
    """The name server of the cluster: its configuration, and whether anybody runs it behind its Service."""

    corefile: str
    runs: bool

    def answer(self, name: str) -> tuple[ConnectionOutcome | None, str]:
        """Return what it says to a name with a dot at its end: a failed outcome, an address, or neither:
        what is true.
        """
        return corefile.parse_corefile(self.corefile).answer(name) if self.runs else (ConnectionOutcome.DNS_TIMEOUT, "")


class View(NamedTuple):
    """The namespaces of one app at one instant.

    ``objects[kind][name]`` holds plain Kubernetes objects of the kinds Pod, Service, EndpointSlice, ConfigMap, Secret,
    Deployment, ReplicaSet, StatefulSet, NetworkPolicy, HorizontalPodAutoscaler, ResourceQuota and Namespace (its own
    one); a kind without objects may be missing. ``version`` grows whenever an object or the ledger changed: what is
    derived from a view is cached by it. ``others`` holds the same of further namespaces, by name. ``dns`` is None where
    nothing is known of the cluster's name server, which then knows all Services.
    """

    namespace: str
    objects: Mapping[str, Mapping[str, Object]]
    ledger: Ledger
    version: int
    others: Mapping[str, Mapping[str, Mapping[str, Object]]] = {}
    dns: ClusterDns | None = None

    def kind(self, kind: str) -> Mapping[str, Object]:
        """Return the objects of a kind by name; empty when there are none. Those of further namespaces are not among
        them.
        """
        return self.objects.get(kind) or {}

    def everywhere(self, kind: str) -> Iterator[Object]:
        """Return the objects of a kind in all namespaces."""
        for objects in (self.objects, *self.others.values()):
            yield from (objects.get(kind) or {}).values()

    def within(self, namespace: str) -> View:
        """Return what a pod of that namespace may refer to; nothing where the namespace is not one of the app's."""
        if namespace == self.namespace:
            return self
        return View(namespace, self.others.get(namespace, {}), self.ledger, self.version)


class Telemetry(NamedTuple):
    """What one tick produced.

    ``samples`` is the complete current set of series: one that is missing has ended. ``usage`` is keyed by pod UID and
    container name, ``traffic`` by pod UID. ``exits`` are processes that ended during the tick.
    """

    samples: dict[SeriesId, float]
    logs: Sequence[LogRecord] = ()
    usage: Mapping[tuple[str, str], Usage] = {}
    exits: Sequence[Exit] = ()
    traffic: Mapping[str, NetworkUsage] = {}
