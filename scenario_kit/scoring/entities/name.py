"""Names of entities as answers spell them: ``namespace/Kind/name``, or ``Kind/name``."""

from __future__ import annotations

import re
from typing import Final

import msgspec

#: Kinds whose objects belong to no namespace, in lower case.
CLUSTER_SCOPED: Final = frozenset({
    "clusterrole", "clusterrolebinding", "customresourcedefinition", "ingressclass", "mutatingwebhookconfiguration",
    "namespace", "node", "persistentvolume", "priorityclass", "storageclass", "validatingwebhookconfiguration",
})  # fmt: skip
#: Kinds that together are one app: what runs it, its pods, and the name by which it is called; in lower case.
WORKLOAD_KINDS: Final = frozenset({
    "cronjob", "daemonset", "deployment", "job", "pod", "replicaset", "service", "statefulset",
})  # fmt: skip

_UUID: Final = r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"
_UID_BEHIND: Final = re.compile(rf"(?:\s*/\s*{_UUID}|\s*\(\s*(?:uid:?\s*)?{_UUID}\s*\))$")
_UID_SUFFIX: Final = re.compile(rf"-{_UUID}$")
_KIND: Final = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:\.[a-z0-9][-a-z0-9.]*)?$")
#: The letters of which Kubernetes generates names (k8s.io/apimachinery, util/rand).
_SAFE: Final = "[bcdfghjklmnpqrstvwxz2456789]"
_HASH: Final = rf"(?:(?=[a-z]*\d)[a-z0-9]{{3,10}}|{_SAFE}{{8,10}})"
_POD_OF_DEPLOYMENT: Final = re.compile(rf"-{_HASH}-[a-z0-9]{{3,5}}$")
#: By kind, in lower case: the ends of names that Kubernetes generates.
GENERATED_SUFFIXES: Final = {
    "pod": (_POD_OF_DEPLOYMENT, re.compile(r"-\d+$"), re.compile(rf"-{_SAFE}{{5}}$")),
    "replicaset": (re.compile(rf"-{_HASH}$"),),
    "job": (re.compile(r"-\d{6,10}$"),),
}


class EntityName(msgspec.Struct, frozen=True, order=True):
    """An object as an answer names it. An empty namespace says nothing about it, or that the kind has none."""

    kind: str
    name: str
    namespace: str = ""

    def __str__(self) -> str:
        return "/".join(part for part in (self.namespace, self.kind, self.name) if part)

    @property
    def key(self) -> tuple[str, str, str]:
        """What two spellings of one object have in common: the case of a kind means nothing."""
        return self.namespace, self.kind.lower(), self.name


def build_entity_name(kind: str, name: str, namespace: str = "") -> EntityName:
    """Build a name; the API group behind a kind, and the namespace of a kind that has none, are dropped."""
    short = kind.partition(".")[0]
    return EntityName(short, name, "" if short.lower() in CLUSTER_SCOPED else namespace)


def parse_entity_name(text: str) -> EntityName | None:
    """Parse ``[namespace/]Kind[.group]/name``; None for a bare name, which fits too much to be a claim.

    A UID behind the name (``/<uid>`` or ``(<uid>)``) is dropped.
    """
    parts = [part.strip() for part in _UID_BEHIND.sub("", text.strip()).split("/")]
    if not all(parts) or not 2 <= len(parts) <= 3 or not _KIND.match(parts[-2]):
        return None
    namespace = parts[0] if len(parts) == 3 else ""
    return build_entity_name(parts[-2], parts[-1], namespace)


def list_stems(entity: EntityName) -> tuple[str, ...]:
    """List the names that are left when a generated suffix is dropped: hashes of pods and ReplicaSets, ordinals, UIDs.

    Empty where the name has no such suffix.
    """
    name = _UID_SUFFIX.sub("", entity.name)
    found = [name] if name != entity.name else []
    for pattern in GENERATED_SUFFIXES.get(entity.kind.lower(), ()):
        stem = pattern.sub("", name)
        if stem and stem != name:
            found.append(stem)
    return tuple(dict.fromkeys(found))
