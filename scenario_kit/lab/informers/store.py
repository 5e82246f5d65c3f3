"""What the API server holds, in memory: kept by informers, read without copying.

Maps are copied on write and never changed afterwards, so a reader may keep what it was given. Objects are shared:
nobody may modify them. Names are kept in order, so that what iterates over them does not depend on arrival.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from scenario_kit.lab.informers.watched_kinds import CLUSTER_REFUSERS, EXPERIMENT_KINDS, REFUSERS, VIEW_KINDS
from scenario_kit.model.base import Object

Names = Mapping[str, Object]
_NONE: Names = {}
#: What every namespace depends on, whatever changes of it; nodes only in part.
_PLACES = frozenset({"PersistentVolume", *CLUSTER_REFUSERS})
_REFUSERS = frozenset({*REFUSERS, *CLUSTER_REFUSERS})
#: Revisions of the cluster's store that are remembered as seen.
_REVISIONS = 200_000


class NamespaceVersion(NamedTuple):
    """What a decision about a namespace rests on; differs whenever any of it changed."""

    namespace: int
    chaos: int
    places: int


class ObjectStore:
    """Objects by namespace, kind and name; cluster-scoped ones are in the namespace ``""``. Safe to share."""

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
        """Store an object that is there, or has changed. An older version than the one held is ignored."""
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
        """Drop an object that is gone; one of the same name that is not the same object stays."""
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
        """Pass an object by that was written and is not stored; listeners hear of it as PASSED."""
        with self._changed:
            self._delivering += 1
        self._tell("PASSED", kind, obj)
        self._mark_delivered(obj)

    def pass_revision(self, number: int) -> None:
        """Pass a revision by that concerns nothing in here."""
        with self._changed:
            self._seen.add(number)
            self._changed.notify_all()

    def kinds(self, namespace: str) -> Mapping[str, Names]:
        """Return everything in a namespace, by kind and name."""
        with self._changed:
            return self._namespaces.get(namespace, {})

    def names(self, namespace: str, kind: str) -> Names:
        """Return the objects of one kind in a namespace, by name."""
        return self.kinds(namespace).get(kind, _NONE)

    def get(self, namespace: str, kind: str, name: str) -> Object | None:
        """Get one object, or None."""
        return self.names(namespace, kind).get(name)

    def held(self, kind: str, namespace: str) -> dict[tuple[str, str], int]:
        """Return revisions of the objects of a kind by (namespace, name), in one namespace or (empty) in all."""
        with self._changed:
            scopes = [namespace] if namespace else list(self._namespaces)
            return {
                (scope, name): read_revision(obj)
                for scope in scopes
                for name, obj in self._namespaces.get(scope, {}).get(kind, _NONE).items()
            }

    def everywhere(self, kind: str) -> list[Object]:
        """Return the objects of a kind in all namespaces."""
        with self._changed:
            scopes = list(self._namespaces.values())
        return [obj for kinds in scopes for obj in kinds.get(kind, _NONE).values()]

    def removed(self, namespace: str) -> int:
        """Return the revision at which something that may have refused pods was last removed there; 0 if never."""
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
        """Return how many changes there have been, anywhere."""
        with self._changed:
            return self._total

    def version(self, namespace: str) -> NamespaceVersion:
        """Return the version of a namespace; its Namespace object, all chaos, nodes, volumes and admission included."""
        with self._changed:
            return NamespaceVersion(self._versions.get(namespace, 0), self._chaos, self._places)

    def view(self, namespace: str) -> tuple[Mapping[str, Names], int]:
        """Return what the twin may see of a namespace, and a number that grows whenever that changes."""
        with self._changed:
            kinds = self._namespaces.get(namespace, {})
            own = self._namespaces.get("", {}).get("Namespace", _NONE).get(namespace)
            version = self._view_versions.get(namespace, 0)
        visible: dict[str, Names] = {kind: kinds[kind] for kind in sorted(VIEW_KINDS & kinds.keys())}
        if own is not None:
            visible["Namespace"] = {namespace: own}
        return visible, version

    def quiet_seconds(self, obj: Object) -> float:
        """Return for how long (wall clock) this very version of an object has been the latest one known."""
        with self._changed:
            version, since = self._touched.get(obj["metadata"]["uid"], ("", time.monotonic()))
        return time.monotonic() - since if version == obj["metadata"]["resourceVersion"] else 0.0

    def wait(self, condition: Callable[[], bool], seconds: float) -> bool:
        """Wait until ``condition`` holds, judged after every change; False when time is up. It must not block."""
        with self._changed:
            return self._changed.wait_for(condition, seconds)

    def wake(self) -> None:
        """Let everybody who waits judge again."""
        with self._changed:
            self._changed.notify_all()

    def delivered(self) -> bool:
        """Check whether every listener has heard of everything that the store shows."""
        with self._changed:
            return self._delivering == 0

    def namespaces(self) -> tuple[str, ...]:
        """Return namespaces that hold something, in order."""
        with self._changed:
            return tuple(sorted(name for name, kinds in self._namespaces.items() if name and kinds))

    def saw_all(self, after: int, upto: int) -> bool:
        """Check whether every single revision in (after, upto] was delivered, to this store and its listeners."""
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
    """Extract what the scheduler looks at: heartbeats are not among it."""
    if node is None:
        return None
    return node.get("spec"), node["metadata"].get("labels"), (node.get("status") or {}).get("allocatable")


def read_revision(obj: Object) -> int:
    """Read the revision of the cluster's store that wrote this version of an object: one sequence for all kinds."""
    return int(obj["metadata"]["resourceVersion"])


def _strip_object(obj: Object) -> Object:
    meta = obj["metadata"]
    if "managedFields" not in meta:
        return obj
    return {**obj, "metadata": {k: v for k, v in meta.items() if k != "managedFields"}}
