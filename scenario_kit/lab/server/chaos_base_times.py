"""Writes the times from which Chaos Mesh's manager counts: the last start of a Schedule, an experiment's creation."""

from __future__ import annotations

import json
from contextlib import suppress

from scenario_kit.errors import NotFound
from scenario_kit.lab.control_plane.etcd import Etcd
from scenario_kit.model import Object, Reference
from scenario_kit.model.chaos.kinds import GROUP, SCHEDULE
from scenario_kit.model.kubernetes.timestamp import format_timestamp
from scenario_kit.ports import Cluster


class BaseWriter:
    """Writes these times. The API server sets creation times itself, so those are written to its store."""

    def __init__(self, cluster: Cluster, etcd: Etcd) -> None:
        self._cluster = cluster
        self._etcd = etcd

    def set_base(self, obj: Object, base: float) -> None:
        """Write the time from which the manager counts; nothing happens if the object is gone."""
        meta, text = obj["metadata"], format_timestamp(base)
        if obj["kind"] == SCHEDULE:
            ref = Reference(SCHEDULE, meta["name"], meta["namespace"], GROUP)
            with suppress(NotFound):
                self._cluster.patch(ref, {"status": {"time": text}})
            return

        def edit(value: bytes) -> bytes:
            document = json.loads(value)
            if document["metadata"]["uid"] == meta["uid"]:
                document["metadata"]["creationTimestamp"] = text
            return json.dumps(document, separators=(",", ":")).encode()

        self._etcd.edit(f"/registry/{GROUP}/{obj['kind'].lower()}/{meta['namespace']}/{meta['name']}".encode(), edit)
