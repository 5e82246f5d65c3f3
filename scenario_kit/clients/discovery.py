"""Which kinds an API server serves and under which paths: aggregated discovery, cached, refreshed on a miss."""

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
    """A kind and whether it can be listed."""

    kind: Kind
    listable: bool


def parse(*documents: Any) -> list[ServedKind]:
    """Parse the kinds in ``APIGroupDiscoveryList`` documents, each in the version that its group prefers;
    core first.
    """
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
    """The kinds of one API server. A kind that is not known is looked up once more before it is called missing."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._lock = threading.Lock()
        self._served: list[ServedKind] | None = None

    def kinds(self) -> Sequence[Kind]:
        """Return every kind that can be listed, as the server says now."""
        return [s.kind for s in self._refresh() if s.listable]

    def find(self, kind: str, group: str = "", *, core: bool = False) -> Kind:
        """Find the kind; with an empty group the core one, else the first group that serves it. ``core``: only core.

        Raises:
            NotFound: no group, or not the one asked for, serves the kind.
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
    """Pick the kind; core is listed first, so an ambiguous kind without a group (Event) is the core one."""
    exact = bool(group) or core
    return next((s.kind for s in served if s.kind.kind == kind and (not exact or s.kind.group == group)), None)
