"""Aggregated discovery of an API server's kinds and paths, cached and refreshed on a miss."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

from scenario_kit.clients.transport import Transport
from scenario_kit.errors import NotFound
from scenario_kit.ports import Kind

_ACCEPT = ",".join(
    f"application/json;g=apidiscovery.k8s.io;v={version};as=APIGroupDiscoveryList" for version in ("v2", "v2beta1")
)


class ServedKind(NamedTuple):
    """A kind, and whether it can be listed."""

    kind: Kind
    listable: bool


def parse(*documents: Any) -> list[ServedKind]:
    """Parse ``APIGroupDiscoveryList`` documents, with the preferred version of each group; core first."""
    found: dict[tuple[str, str], ServedKind] = {}
    for document in documents:
        for group in document["items"]:
            name = group["metadata"].get("name", "")
            for version in group.get("versions", ()):  # in order of preference
                for resource in version.get("resources", ()):
                    kind = resource["responseKind"]["kind"]
                    if (name, kind) in found:
                        continue
                    namespaced = resource["scope"] == "Namespaced"
                    entry = Kind(name, version["version"], kind, resource["resource"], namespaced)
                    found[name, kind] = ServedKind(entry, "list" in resource["verbs"])
    return list(found.values())


class Discovery:
    """The kinds of one API server. An unknown kind triggers a refresh before it is reported as missing."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._lock = threading.Lock()
        self._served: list[ServedKind] | None = None

    def kinds(self) -> Sequence[Kind]:
        """Return every listable kind, freshly discovered."""
        return [s.kind for s in self._refresh() if s.listable]

    def find(self, kind: str, group: str = "", *, core: bool = False) -> Kind:
        """Return a kind; with an empty group the core one, or else the first group's. ``core``: only core.

        Raises:
            NotFound: the group, or any group, does not serve the kind.
        """
        served = self._served if self._served is not None else self._refresh()
        match = pick(served, kind, group, core=core) or pick(self._refresh(), kind, group, core=core)
        if match is None:
            name = f"{kind}.{group}" if group else kind
            near = sorted({f"{s.kind.kind}.{s.kind.group}" for s in self._refresh() if s.kind.kind == kind})
            raise NotFound(
                f"{self._transport.url} serves no kind {name}{'; it serves ' + ', '.join(near) if near else ''}",
                status=404,
                fix="check the spelling, or install the CustomResourceDefinition of that kind",
            )
        return match

    def _refresh(self) -> list[ServedKind]:
        with self._lock:
            core = self._transport.json("GET", "/api", accept=_ACCEPT)
            groups = self._transport.json("GET", "/apis", accept=_ACCEPT)
            self._served = parse(core, groups)
            return self._served


def pick(served: Sequence[ServedKind], kind: str, group: str, *, core: bool = False) -> Kind | None:
    """Pick a kind; core comes first, so an ambiguous kind without a group (Event) is the core one."""
    exact = bool(group) or core
    return next((s.kind for s in served if s.kind.kind == kind and (not exact or s.kind.group == group)), None)
