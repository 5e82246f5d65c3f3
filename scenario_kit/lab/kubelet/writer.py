"""The kubelet's writes to the API server, as a Protocol and on the ``Cluster`` port."""

from __future__ import annotations

import contextlib
from typing import Protocol

from scenario_kit.errors import AlreadyExists, Forbidden, NotFound
from scenario_kit.model import Object, Reference
from scenario_kit.ports import Cluster


class KubeletWriter(Protocol):
    """The kubelet's writes; called from several threads. All methods raise ``ClusterError`` and its subclasses."""

    def write_status(self, pod: Object, status: Object) -> Object:
        """Merge ``status`` into the pod's status; return the stored pod.

        Raises:
            NotFound, Conflict: the pod with this UID is gone.
        """

    def emit_event(self, event: Object) -> None:
        """Create the Event, or update the one of that name."""

    def delete_pod(self, pod: Object) -> None:
        """Delete the pod with this UID immediately: its containers have exited. No error if it is gone."""


class ClusterWriter:
    """A ``KubeletWriter`` for a cluster; use the field manager ``kubelet``."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def write_status(self, pod: Object, status: Object) -> Object:
        """See ``KubeletWriter``."""
        patch = {"metadata": {"uid": pod["metadata"]["uid"]}, "status": status}
        return self._cluster.patch(_make_reference(pod), patch, "Merge", subresource="status")

    def emit_event(self, event: Object) -> None:
        """See ``KubeletWriter``. Skipped in a terminating namespace, where nothing can be created."""
        meta = event["metadata"]
        ref = Reference("Event", meta["name"], meta["namespace"])
        counted = {key: event[key] for key in ("count", "lastTimestamp", "message")}
        with contextlib.suppress(Forbidden, NotFound):
            if event["count"] > 1:
                try:
                    self._cluster.patch(ref, counted)
                except NotFound:  # expired
                    self._cluster.create(event)
                return
            try:
                self._cluster.create(event)
            except AlreadyExists:  # from before a restart
                self._cluster.patch(ref, counted)

    def delete_pod(self, pod: Object) -> None:
        """See ``KubeletWriter``."""
        self._cluster.delete(_make_reference(pod), uid=pod["metadata"]["uid"], grace_seconds=0)


def _make_reference(pod: Object) -> Reference:
    return Reference("Pod", pod["metadata"]["name"], pod["metadata"]["namespace"])
