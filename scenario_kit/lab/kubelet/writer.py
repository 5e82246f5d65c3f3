"""The kubelet's writes to the API server, as a Protocol and on the ``Cluster`` port."""

from __future__ import annotations

import contextlib
from typing import Protocol

from scenario_kit.errors import AlreadyExists, Forbidden, NotFound
from scenario_kit.model import Object, Reference
from scenario_kit.ports import Cluster

_LOGS_GROUP = "kwok.x-k8s.io"


class KubeletWriter(Protocol):
    """What the kubelet writes. Called from several threads. Raises, all methods: ``ClusterError`` and its kinds."""

    def write_status(self, pod: Object, status: Object) -> Object:
        """Merge ``status`` into the pod's status; returns the pod as it is stored then.

        Raises:
            NotFound, Conflict: this very pod (UID) is gone.
        """

    def emit_event(self, event: Object) -> None:
        """Create the Event, or bring the one of that name up to date."""

    def delete_pod(self, pod: Object) -> None:
        """Remove this very pod (UID) at once: its containers have ended. Gone already is fine."""

    def publish_logs(self, logs: Object) -> None:
        """Create or replace a ClusterLogs object."""

    def withdraw_logs(self, name: str) -> None:
        """Delete a ClusterLogs object; missing is fine."""


class ClusterWriter:
    """A ``KubeletWriter`` on a cluster, which should write under the field manager ``kubelet``."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def write_status(self, pod: Object, status: Object) -> Object:
        """See ``KubeletWriter``."""
        patch = {"metadata": {"uid": pod["metadata"]["uid"]}, "status": status}
        return self._cluster.patch(_make_reference(pod), patch, "Merge", subresource="status")

    def emit_event(self, event: Object) -> None:
        """See ``KubeletWriter``. In a namespace that is being deleted nothing can be created, and nobody reads it
        either.
        """
        meta = event["metadata"]
        ref = Reference("Event", meta["name"], meta["namespace"])
        counted = {key: event[key] for key in ("count", "lastTimestamp", "message")}
        with contextlib.suppress(Forbidden, NotFound):
            if event["count"] > 1:
                try:
                    self._cluster.patch(ref, counted)
                except NotFound:  # expired in the API server
                    self._cluster.create(event)
                return
            try:
                self._cluster.create(event)
            except AlreadyExists:  # from before a restart of ours
                self._cluster.patch(ref, counted)

    def delete_pod(self, pod: Object) -> None:
        """See ``KubeletWriter``."""
        self._cluster.delete(_make_reference(pod), uid=pod["metadata"]["uid"], grace_seconds=0)

    def publish_logs(self, logs: Object) -> None:
        """See ``KubeletWriter``. To apply takes the API server thrice as long as to create."""
        try:
            self._cluster.create(logs)
        except AlreadyExists:  # from before a restart of ours
            self._cluster.apply(logs)

    def withdraw_logs(self, name: str) -> None:
        """See ``KubeletWriter``."""
        self._cluster.delete(Reference("ClusterLogs", name, "", _LOGS_GROUP))


def _make_reference(pod: Object) -> Reference:
    return Reference("Pod", pod["metadata"]["name"], pod["metadata"]["namespace"])
