"""Consistent reads of names and versions, in the smallest form of the API."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec

from scenario_kit.clients.discovery import Discovery
from scenario_kit.clients.transport import Transport
from scenario_kit.errors import Unreachable
from scenario_kit.lab.informers.barrier import Listing
from scenario_kit.lab.informers.watched_kinds import Watched

_METADATA_ONLY = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"


class _Meta(msgspec.Struct, rename="camel"):
    name: str = ""
    namespace: str = ""
    resource_version: str = "0"


class _Item(msgspec.Struct):
    metadata: _Meta


class _List(msgspec.Struct):
    metadata: _Meta
    items: list[_Item] | None = None


_DECODER = msgspec.json.Decoder(_List)


class ApiVersions:
    """``barrier.Versions`` on a real API server. All methods raise ``ClusterError``."""

    def __init__(self, kubeconfig: Path) -> None:
        self._transport = Transport(kubeconfig)
        self._discovery = Discovery(self._transport)

    def current(self) -> int:
        """Return etcd's current revision, from a consistent list without items.

        Events are the only core kind without a cache in the API server. A consistent list of any other kind waits until
        that kind's cache has reached the latest revision, which takes up to 100 ms after writes of other kinds.
        """
        return int(self._list("/api/v1/namespaces/kube-node-lease/events", {"limit": "1"}).metadata.resource_version)

    def listing(self, watched: Watched, namespace: str) -> Listing:
        """List one kind in one namespace, or in all (empty)."""
        served = self._discovery.find(watched.kind, watched.group)
        root = f"/apis/{served.group}/{served.version}" if served.group else f"/api/{served.version}"
        inside = f"/namespaces/{quote(namespace)}" if namespace else ""
        answer = self._list(f"{root}{inside}/{served.plural}", {})
        found = {
            (item.metadata.namespace, item.metadata.name): int(item.metadata.resource_version)
            for item in answer.items or ()
        }
        return Listing(int(answer.metadata.resource_version), found)

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()

    def _list(self, path: str, query: dict[str, str]) -> Any:
        data = self._transport.raw("GET", path, query, accept=_METADATA_ONLY)
        try:
            return _DECODER.decode(data)
        except msgspec.MsgspecError as error:
            raise Unreachable(f"GET {path}: the response is not a list of metadata: {error}") from error
