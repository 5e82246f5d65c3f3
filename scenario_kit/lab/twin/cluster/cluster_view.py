"""The twin's input (objects of namespaces, active chaos) and output (samples, logs, usage, exits)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from scenario_kit.lab.twin.cluster import corefile
from scenario_kit.lab.twin.outcome import ConnectionOutcome
from scenario_kit.model.base import Object
from scenario_kit.model.chaos.effects import Ledger
from scenario_kit.model.runtime.process import Exit, LogRecord, NetworkUsage, SeriesId, Usage


class ClusterDns(NamedTuple):
    """The cluster's DNS server: its configuration, and whether its Service has a running backend."""

    corefile: str
    runs: bool

    def answer(self, name: str) -> tuple[ConnectionOutcome | None, str]:
        """Resolve a fully qualified name: a failed outcome, an address, or neither for the regular answer."""
        return corefile.parse_corefile(self.corefile).answer(name) if self.runs else (ConnectionOutcome.DNS_TIMEOUT, "")


class View(NamedTuple):
    """The namespaces of one app at one instant.

    ``objects[kind][name]`` holds plain Kubernetes objects of the kinds Pod, Service, EndpointSlice, ConfigMap, Secret,
    Deployment, ReplicaSet, StatefulSet, NetworkPolicy, HorizontalPodAutoscaler, ResourceQuota and Namespace (its own);
    a kind without objects may be missing. ``version`` increases with every change of an object or the ledger; results
    derived from a view are cached by it. ``others`` holds further namespaces by name. ``dns`` is None if the DNS server
    is unknown; all Services then resolve.
    """

    namespace: str
    objects: Mapping[str, Mapping[str, Object]]
    ledger: Ledger
    version: int
    others: Mapping[str, Mapping[str, Mapping[str, Object]]] = {}
    dns: ClusterDns | None = None

    def kind(self, kind: str) -> Mapping[str, Object]:
        """Return the objects of a kind in the main namespace by name; empty if there are none."""
        return self.objects.get(kind) or {}

    def list_all(self, kind: str) -> Iterator[Object]:
        """Return the objects of a kind in all namespaces."""
        for objects in (self.objects, *self.others.values()):
            yield from (objects.get(kind) or {}).values()

    def within(self, namespace: str) -> View:
        """Return the view from a pod of that namespace; empty if it is not one of the app's."""
        if namespace == self.namespace:
            return self
        return View(namespace, self.others.get(namespace, {}), self.ledger, self.version)


class Telemetry(NamedTuple):
    """The output of one tick.

    ``samples`` is the complete current set of series; a missing one has ended. ``usage`` is keyed by pod UID and
    container name, ``traffic`` by pod UID. ``exits`` are processes that ended during the tick.
    """

    samples: dict[SeriesId, float]
    logs: Sequence[LogRecord] = ()
    usage: Mapping[tuple[str, str], Usage] = {}
    exits: Sequence[Exit] = ()
    traffic: Mapping[str, NetworkUsage] = {}
