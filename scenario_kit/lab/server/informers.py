"""One thread for each kind keeps the store up to date."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from scenario_kit.errors import LabError
from scenario_kit.lab.server.kinds import PASSED_BY, WATCHED, Watched
from scenario_kit.lab.server.store import Store
from scenario_kit.model.base import Object


class Watcher(Protocol):
    """The part of a cluster's client that informers need; ``clients.kube.KubeCluster`` has it."""

    def watch(
        self, kind: str, *, group: str = "", namespace: str = "", stop: threading.Event
    ) -> Iterator[tuple[str, Object]]:
        """All objects, then ``("SYNCED", {})``, then every change; a reconnect yields the differences only."""


class Informers:
    """Follows kinds into a store.

    Args:
        spawn: starts a named thread; whoever supplies it hears about a thread that ends with an error.
    """

    def __init__(
        self,
        watcher: Watcher,
        store: Store,
        stop: threading.Event,
        spawn: Callable[[str, Callable[[], None]], None],
        kinds: Sequence[Watched] = WATCHED,
        passed_by: Sequence[Watched] = PASSED_BY,
    ) -> None:
        self._watcher = watcher
        self._store = store
        self._stop = stop
        self._spawn = spawn
        self._kinds = kinds
        self._passed_by = passed_by
        self._synced: set[Watched] = set()

    def start(self, seconds: float = 30.0) -> None:
        """Start, and wait until everything that exists is in the store.

        Raises:
            LabError: some kind was not listed in that time.
        """
        for watched in (*self._kinds, *self._passed_by):
            self._spawn(f"informer-{watched.kind}", lambda watched=watched: self._follow(watched))  # type: ignore[misc]
        total = len(self._kinds) + len(self._passed_by)
        if not self._store.wait(lambda: len(self._synced) == total or self._stop.is_set(), seconds):
            missing = sorted(w.kind for w in (*self._kinds, *self._passed_by) if w not in self._synced)
            raise LabError(
                f"the API server did not list {', '.join(missing)} within {seconds:.0f} s",
                fix="look at the logs of the API server ('scenario-kit lab status')",
            )

    def _follow(self, watched: Watched) -> None:
        keep = watched in self._kinds
        for type_, obj in self._watcher.watch(watched.kind, group=watched.group, stop=self._stop):
            if type_ == "SYNCED":
                self._synced.add(watched)
                self._store.wake()
            elif not keep:
                self._store.pass_by(obj)
            elif type_ == "DELETED":
                self._store.drop(watched.kind, obj)
            else:
                self._store.put(watched.kind, obj)
