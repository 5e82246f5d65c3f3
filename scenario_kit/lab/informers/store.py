"""The object store: API server objects in memory, updated by informers, read without copies.

Maps are copied on write and never modified, so a reader may keep them. Objects are shared and must not be modified.
Names are sorted, so that iteration does not depend on the order of arrival.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from scenario_kit.lab.informers.watched_kinds import CLUSTER_REFUSERS, EXPERIMENT_KINDS, REFUSERS, VIEW_KINDS
from scenario_kit.model.base import Object
from scenario_kit.model.kubernetes.status import read_revision

Names = Mapping[str, Object]
_NONE: Names = {}
#: Cluster-scoped kinds that affect every namespace; nodes only in part.
_PLACES = frozenset({"PersistentVolume", *CLUSTER_REFUSERS})
_REFUSERS = frozenset({*REFUSERS, *CLUSTER_REFUSERS})
#: The number of remembered revisions.
_REVISIONS = 200_000


class NamespaceVersion(NamedTuple):
    """The inputs of a decision about a namespace; differs after any change."""

    namespace: int
    chaos: int
    places: int


class ObjectStore:
    """Objects by namespace, kind and name; cluster-scoped ones have the namespace ``""``. Thread-safe."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._namespaces: dict[str, dict[str, Names]] = {}
        self._versions: dict[str, int] = {}
        self._view_versions: dict[str, int] = {}
        self._chaos = 0
        self._places = 0
        self._removed: dict[str, int] = {}
        self._touched: dict[str, tuple[str, float]] = {}
        self._seen: set[int] = set()
        self._total = 0
        self._delivering = 0
        self._listeners: list[Callable[[str, str, Object], None]] = []

    def listen(self, listener: Callable[[str, str, Object], None]) -> None:
        """Call ``listener(type, kind, object)`` after every change, in the informer's thread; it must be quick."""
        self._listeners.append(listener)

    def put(self, kind: str, obj: Object) -> None:
        """Store an added or changed object. A version older than the stored one is ignored."""
        obj = _strip_object(obj)
        meta = obj["metadata"]
        namespace, name = meta.get("namespace", ""), meta["name"]
        with self._changed:
            held = self._namespaces.get(namespace, {}).get(kind, _NONE)
            before = held.get(name)
            if (
                before is not None
                and before["metadata"]["uid"] == meta["uid"]
                and read_revision(before) >= read_revision(obj)
            ):
                self._saw(obj)
                return
            self._delivering += 1
            names = {**held, name: obj} if before is not None else dict(sorted([*held.items(), (name, obj)]))
            self._replace(namespace, kind, name, names)
            self._touched[meta["uid"]] = (meta["resourceVersion"], time.monotonic())
        replaced = before is not None and before["metadata"]["uid"] != meta["uid"]
        if replaced and before is not None:
            self._tell("DELETED", kind, before)
        self._tell("ADDED" if before is None or replaced else "MODIFIED", kind, obj)
        self._mark_delivered(obj)

    def drop(self, kind: str, obj: Object) -> None:
        """Remove a deleted object; another object of the same name stays."""
        meta = obj["metadata"]
        namespace, name = meta.get("namespace", ""), meta["name"]
        with self._changed:
            held = self._namespaces.get(namespace, {}).get(kind, _NONE)
            before = held.get(name)
            self._touched.pop(meta["uid"], None)
            if before is None or before["metadata"]["uid"] != meta["uid"]:
                self._saw(obj)
                return
            self._delivering += 1
            if kind in _REFUSERS:
                self._removed[namespace] = max(read_revision(obj), self._removed.get(namespace, 0))
            self._replace(namespace, kind, name, {n: o for n, o in held.items() if n != name})
        self._tell("DELETED", kind, obj)
        self._mark_delivered(obj)

    def pass_by(self, kind: str, obj: Object) -> None:
        """Pass an object to listeners as PASSED, without storing it."""
        with self._changed:
            self._delivering += 1
        self._tell("PASSED", kind, obj)
        self._mark_delivered(obj)

    def pass_revision(self, number: int) -> None:
        """Mark a revision as seen that concerns no followed kind."""
        with self._changed:
            self._seen.add(number)
            self._changed.notify_all()

    def kinds(self, namespace: str) -> Mapping[str, Names]:
        """Return all objects in a namespace, by kind and name."""
        with self._changed:
            return self._namespaces.get(namespace, {})

    def names(self, namespace: str, kind: str) -> Names:
        """Return the objects of one kind in a namespace, by name."""
        return self.kinds(namespace).get(kind, _NONE)

    def get(self, namespace: str, kind: str, name: str) -> Object | None:
        """Return one object, or None."""
        return self.names(namespace, kind).get(name)

    def held(self, kind: str, namespace: str) -> dict[tuple[str, str], int]:
        """Return the revisions of a kind's objects by (namespace, name), in one namespace or (empty) in all."""
        with self._changed:
            scopes = [namespace] if namespace else list(self._namespaces)
            return {
                (scope, name): read_revision(obj)
                for scope in scopes
                for name, obj in self._namespaces.get(scope, {}).get(kind, _NONE).items()
            }

    def list_all(self, kind: str) -> list[Object]:
        """Return the objects of a kind in all namespaces."""
        with self._changed:
            scopes = list(self._namespaces.values())
        return [obj for kinds in scopes for obj in kinds.get(kind, _NONE).values()]

    def removed(self, namespace: str) -> int:
        """Return the revision at which an object that may refuse pods was last removed there; 0 if never."""
        with self._changed:
            return self._removed.get(namespace, 0)

    def experiments(self) -> Iterator[Object]:
        """Return the chaos experiments of all namespaces."""
        with self._changed:
            namespaces = list(self._namespaces.items())
        for _, kinds in sorted(namespaces):
            for kind in sorted(EXPERIMENT_KINDS & kinds.keys()):
                yield from kinds[kind].values()

    def changes(self) -> int:
        """Return the total number of changes."""
        with self._changed:
            return self._total

    def version(self, namespace: str) -> NamespaceVersion:
        """Return the version of a namespace, including its Namespace object, chaos, nodes, volumes and admission."""
        with self._changed:
            return NamespaceVersion(self._versions.get(namespace, 0), self._chaos, self._places)

    def view(self, namespace: str) -> tuple[Mapping[str, Names], int]:
        """Return the objects of a namespace for the twin, and a number that increases with their changes."""
        with self._changed:
            kinds = self._namespaces.get(namespace, {})
            own = self._namespaces.get("", {}).get("Namespace", _NONE).get(namespace)
            version = self._view_versions.get(namespace, 0)
        visible: dict[str, Names] = {kind: kinds[kind] for kind in sorted(VIEW_KINDS & kinds.keys())}
        if own is not None:
            visible["Namespace"] = {namespace: own}
        return visible, version

    def quiet_seconds(self, obj: Object) -> float:
        """Return the wall seconds since this version of an object arrived."""
        with self._changed:
            version, since = self._touched.get(obj["metadata"]["uid"], ("", time.monotonic()))
        return time.monotonic() - since if version == obj["metadata"]["resourceVersion"] else 0.0

    def wait(self, condition: Callable[[], bool], seconds: float) -> bool:
        """Wait until ``condition`` holds, evaluated after every change; False on timeout. It must not block."""
        with self._changed:
            return self._changed.wait_for(condition, seconds)

    def wake(self) -> None:
        """Re-evaluate all waits."""
        with self._changed:
            self._changed.notify_all()

    def delivered(self) -> bool:
        """Return whether all listeners have processed all changes."""
        with self._changed:
            return self._delivering == 0

    def namespaces(self) -> tuple[str, ...]:
        """Return the namespaces with objects, sorted."""
        with self._changed:
            return tuple(sorted(name for name, kinds in self._namespaces.items() if name and kinds))

    def saw_all(self, after: int, upto: int) -> bool:
        """Return whether every revision in (after, upto] was delivered to this store and its listeners."""
        with self._changed:
            return all(number in self._seen for number in range(after + 1, upto + 1))

    def _mark_delivered(self, obj: Object) -> None:
        with self._changed:
            self._delivering -= 1
            self._saw(obj)
            self._changed.notify_all()

    def _saw(self, obj: Object) -> None:
        self._seen.add(read_revision(obj))
        if len(self._seen) > _REVISIONS:
            newest = max(self._seen)
            self._seen = {number for number in self._seen if number > newest - _REVISIONS // 2}

    def _replace(self, namespace: str, kind: str, name: str, names: Names) -> None:
        before = self._namespaces.get(namespace, {}).get(kind, _NONE)
        kinds = {**self._namespaces.get(namespace, {}), kind: names}
        if not names:
            del kinds[kind]
        self._namespaces[namespace] = kinds
        self._total += 1
        if kind in EXPERIMENT_KINDS:
            self._chaos += 1
        if kind in _PLACES or (kind == "Node" and _extract_room(before.get(name)) != _extract_room(names.get(name))):
            self._places += 1
        for counted in (namespace, name) if kind == "Namespace" else (namespace,):
            self._versions[counted] = self._versions.get(counted, 0) + 1
            if kind in VIEW_KINDS:
                self._view_versions[counted] = self._view_versions.get(counted, 0) + 1

    def _tell(self, type_: str, kind: str, obj: Object) -> None:
        for listener in self._listeners:
            listener(type_, kind, obj)


def _extract_room(node: Object | None) -> object:
    """Return the fields of a node that the scheduler uses, without heartbeats."""
    if node is None:
        return None
    return node.get("spec"), node["metadata"].get("labels"), (node.get("status") or {}).get("allocatable")


def _strip_object(obj: Object) -> Object:
    meta = obj["metadata"]
    if "managedFields" not in meta:
        return obj
    return {**obj, "metadata": {k: v for k, v in meta.items() if k != "managedFields"}}
