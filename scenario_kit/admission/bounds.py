"""Bounds of a scenario: the namespaces, objects and permissions of its app, and what its faults declare."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from scenario_kit.admission.program_texts import collect_hosts, collect_registries
from scenario_kit.model import APP_NAMESPACE, App, Fault, Object
from scenario_kit.model.identity_cache import cache_by_identity
from scenario_kit.model.json_document import Place
from scenario_kit.model.kubernetes.reference import resolve_homes, resolve_namespace
from scenario_kit.schema.writable import CLUSTER

RBAC: Final = "rbac.authorization.k8s.io"
_ROLES: Final = ("Role", "ClusterRole")


@dataclass(frozen=True)
class AdmissionBounds:
    """The bounds that changes are judged by.

    Attributes:
        app: the app.
        namespace: the real namespace of the app.
        before: the objects before any change.
        objects: ``before``, and all objects that the changes create.
        ready: ``before``, and objects that are created before the judged change; the source of permissions and
            namespaces.
        declared: capabilities, exceptions and scope that the faults declare.
        of_app: whether the app itself is judged; its roles bound all others.
        state: the objects after the judged change, if known; the source of what variables show.
    """

    app: App
    namespace: str
    before: tuple[Object, ...]
    objects: tuple[Object, ...]
    declared: frozenset[str] = frozenset()
    of_app: bool = False
    ready: tuple[Object, ...] = ()
    state: tuple[Object, ...] = ()

    @cached_property
    def homes(self) -> frozenset[str]:
        """Return the real names of the app's own namespaces."""
        return resolve_homes(self.namespace, self.app.namespaces)

    @cached_property
    def namespaces(self) -> frozenset[str]:
        """Return ``homes``, and the namespaces that earlier changes create."""
        made = {o["metadata"]["name"] for o in self.ready if o["kind"] == "Namespace"}
        return self.homes | made

    def resolve_namespace(self, symbol: str) -> str:
        """Return the real name of a namespace, given the symbol of one of the app's, or the name of another."""
        known = (APP_NAMESPACE, *self.app.namespaces)
        return resolve_namespace(self.namespace, symbol) if symbol in known else symbol

    @cached_property
    def known(self) -> Mapping[tuple[str, str], Object]:
        """Return all objects of the app and its changes, by kind and name."""
        return {(o["kind"], o["metadata"]["name"]): o for o in self.objects}

    @cached_property
    def keys(self) -> frozenset[str]:
        """Return the keys of labels and annotations that the app uses itself."""
        return _collect_mark_keys(self.before)

    @cached_property
    def hosts(self) -> frozenset[str]:
        """Return the hosts that the app's own containers and files name."""
        return collect_hosts(self.before)

    @cached_property
    def registries(self) -> frozenset[str]:
        """Return the hosts of public registries, and of those from which the app's own images come."""
        return collect_registries(self.before)

    @cached_property
    def rules(self) -> tuple[Mapping[str, Any], ...]:
        """Return the rules of the app's own roles."""
        roles = (o for o in self.before if o["kind"] in _ROLES)
        return tuple(rule for role in roles for rule in role.get("rules") or ())


@cache_by_identity(maxsize=16)
def _collect_mark_keys(objects: tuple[Object, ...]) -> frozenset[str]:
    return frozenset(key for o in objects for _, marks in find_marks(o) for key in marks)


def collect_declared(faults: Iterable[Fault]) -> frozenset[str]:
    """Collect the capabilities, exceptions and scopes that rendered faults declare."""
    found: set[str] = set()
    for fault in faults:
        found |= {*fault.requires, *(each.allow for each in fault.exceptions)}
        found |= {CLUSTER} if fault.scope == CLUSTER else set()
    return frozenset(found)


def derive_bounds(
    app: App,
    namespace: str,
    before: Sequence[Object],
    made: Iterable[Object] = (),
    allowed: frozenset[str] = frozenset(),
    *,
    of_app: bool = False,
    ready: Iterable[Object] = (),
) -> AdmissionBounds:
    """Derive the bounds of a change on top of an app.

    ``made`` are the objects that all changes create, ``ready`` those that exist when this change is made.
    """
    return AdmissionBounds(app, namespace, tuple(before), (*before, *made), allowed, of_app, (*before, *ready))


@cache_by_identity(maxsize=64)
def find_metadata(obj: Object) -> tuple[tuple[Place, Mapping[str, Any]], ...]:
    """Find the metadata of an object and of every template in it, each with its place."""
    return tuple(_walk_metadata(obj, ()))


def _walk_metadata(value: Any, keys: Place) -> Iterator[tuple[Place, Mapping[str, Any]]]:
    if isinstance(value, Mapping):
        metadata = value.get("metadata")
        if isinstance(metadata, Mapping):
            yield (*keys, "metadata"), metadata
        for name, part in value.items():
            if name not in ("metadata", "data", "stringData"):
                yield from _walk_metadata(part, (*keys, name))
    elif isinstance(value, list | tuple):
        for i, part in enumerate(value):
            yield from _walk_metadata(part, (*keys, i))


def find_marks(obj: Object) -> Iterator[tuple[Place, Mapping[str, Any]]]:
    """Find the labels and annotations of an object and of every template in it, each with its place."""
    for keys, metadata in find_metadata(obj):
        for field in ("labels", "annotations"):
            if isinstance(metadata.get(field), Mapping):
                yield (*keys, field), metadata[field]
