"""Reflectors: one thread per kind updates the store from a watch."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Protocol

from scenario_kit.errors import LabError, NotFound
from scenario_kit.lab.informers.store import ObjectStore
from scenario_kit.lab.informers.watched_kinds import Watched
from scenario_kit.model.base import Object

_SERVED_SECONDS = 20.0
_POLL_SECONDS = 0.2


class Watcher(Protocol):
    """The client that informers need; ``clients.kube.KubeCluster`` implements it."""

    def watch(
        self, kind: str, *, group: str = "", namespace: str = "", stop: threading.Event
    ) -> Iterator[tuple[str, Object]]:
        """Yield all objects, then ``("SYNCED", {})``, then every change; a reconnect yields only the differences."""


class Informers:
    """Follow kinds with a store.

    Args:
        watcher: the source.
        store: the destination.
        stop: ends all threads.
        spawn: starts a named thread, and handles one that ends with an error.
    """

    def __init__(
        self,
        watcher: Watcher,
        store: ObjectStore,
        stop: threading.Event,
        spawn: Callable[[str, Callable[[], None]], None],
    ) -> None:
        self._watcher = watcher
        self._store = store
        self._stop = stop
        self._spawn = spawn
        self._synced: set[Watched] = set()

    def follow(self, kinds: Sequence[Watched], *, keep: bool = True, seconds: float = 30.0) -> None:
        """Start, and wait until all existing objects are in the store; without ``keep``, they only pass by.

        Raises:
            LabError: a kind was not listed in time, or ``stop`` was set.
        """
        for watched in kinds:
            self._spawn(f"informer-{watched.kind}", partial(self._follow, watched, keep))
        self._store.wait(lambda: self._synced.issuperset(kinds) or self._stop.is_set(), seconds)
        if not self._synced.issuperset(kinds):
            missing = sorted(watched.kind for watched in kinds if watched not in self._synced)
            raise LabError(
                f"the API server has not listed {', '.join(missing)} after {seconds:.0f} s or until it was stopped",
                fix="check the logs of the API server ('scenario-kit lab status')",
            )

    def _watch(self, watched: Watched) -> Iterator[tuple[str, Object]]:
        """Watch a kind; discovery lists a new one shortly after its definition was accepted."""
        deadline = time.monotonic() + _SERVED_SECONDS
        while True:
            try:
                return self._watcher.watch(watched.kind, group=watched.group, stop=self._stop)
            except NotFound:
                if time.monotonic() > deadline or self._stop.wait(_POLL_SECONDS):
                    raise

    def _follow(self, watched: Watched, keep: bool) -> None:
        for type_, obj in self._watch(watched):
            if type_ == "SYNCED":
                self._synced.add(watched)
                self._store.wake()
            elif not keep:
                self._store.pass_by(watched.kind, obj)
            elif type_ == "DELETED":
                self._store.drop(watched.kind, obj)
            else:
                self._store.put(watched.kind, obj)
