"""Places in a file, and references of the objects that it is about."""

from __future__ import annotations

from scenario_kit.model import Object, Reference
from scenario_kit.model.kubernetes.reference import symbolise_namespace

#: Steps from the root of a document to a part of it.
Place = tuple[str | int, ...]


def make_reference(obj: Object, namespace: str) -> Reference:
    """Make the reference of an object; ``namespace`` is the one that is spelled ``app``."""
    group = str(obj.get("apiVersion", "")).rpartition("/")[0]
    own = obj["metadata"].get("namespace", namespace)
    return Reference(obj["kind"], obj["metadata"]["name"], symbolise_namespace(own, namespace) if own else "app", group)


def is_same(one: str, other: str) -> bool:
    """Check whether two references name the same object, whether or not they spell the group out."""
    a, b = Reference.parse(one), Reference.parse(other)
    return (a.kind, a.name, a.namespace) == (b.kind, b.name, b.namespace)
