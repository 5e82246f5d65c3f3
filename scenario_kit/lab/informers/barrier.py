"""A barrier that makes the store at least as fresh as the time of the call.

A caller writes to the API server and then checks whether the cluster has settled; informers are a few milliseconds
behind, so the store may still have the settled state from before that write. Waiting a fixed time would prove nothing.
Instead:

1. One small consistent list returns the current revision of etcd. Revisions count every write of every kind, without
   gaps. If each revision since the namespace's last barrier was delivered by an informer, or is known to belong to a
   kind that is not followed (``revisions``), the store is complete. This is the usual case and costs one request.
2. Otherwise (at the start, or after a broken watch), the names and versions of the followed kinds are listed
   consistently, and the store must catch up with each of them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, Protocol

from scenario_kit.errors import LabError
from scenario_kit.lab.informers.store import ObjectStore
from scenario_kit.lab.informers.watched_kinds import EXPERIMENTS, NAMESPACED, Watched

#: How long the store may take to catch up before the API server is listed again.
_PATIENCE_SECONDS = 0.1
#: How long a revision in etcd may be in transit before the kinds are listed. On a busy machine some take half a second;
#: listing every kind would add to the load.
_IN_FLIGHT_SECONDS = 1.0
#: How long the store may take to catch up before the lab counts as broken.
_LIMIT_SECONDS = 10.0


class Listing(NamedTuple):
    """The revisions of one kind's objects by (namespace, name), and the revision of the list."""

    at: int
    revisions: Mapping[tuple[str, str], int]


class Versions(Protocol):
    """Consistent reads of versions, never from a cache."""

    def current(self) -> int:
        """Return etcd's current revision."""

    def listing(self, watched: Watched, namespace: str) -> Listing:
        """List one kind in one namespace, or in all (empty)."""


class Barrier:
    """``wait(namespace)`` returns once the store has every write that was acknowledged before the call."""

    def __init__(self, versions: Versions, store: ObjectStore, kinds: Sequence[Watched] = NAMESPACED) -> None:
        self._versions = versions
        self._store = store
        self._kinds = kinds
        self._lock = threading.Lock()
        self._proven: dict[str, int] = {}
        self._everywhere: int | None = None
        # In parallel: most of the time of a list is spent waiting for the API server's own cache.
        self._pool = ThreadPoolExecutor(len(kinds), thread_name_prefix="barrier")

    def prove(self) -> None:
        """Compare all namespaces once, so that future namespaces need no comparison.

        Raises:
            ClusterError: the API server does not respond.
            LabError: the store does not catch up.
        """
        at = self._compare("")
        with self._lock:
            self._everywhere = at

    def wait(self, namespace: str) -> None:
        """Wait until the store is fresh.

        Raises:
            ClusterError: the API server does not respond.
            LabError: the store does not catch up; an informer is stuck.
        """
        now = self._versions.current()
        with self._lock:
            own = self._proven.get(namespace)
            proven = self._everywhere if own is None else own
        if proven is None or not self._store.wait(lambda: self._store.saw_all(proven, now), _IN_FLIGHT_SECONDS):
            now = self._compare(namespace)
        elif own is None:
            with self._lock:
                self._everywhere = max(now, self._everywhere or 0)
        with self._lock:
            self._proven[namespace] = max(now, self._proven.get(namespace, 0))

    def forget(self, namespace: str) -> None:
        """Drop the state of a namespace."""
        with self._lock:
            self._proven.pop(namespace, None)

    def close(self) -> None:
        """Stop the threads."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _compare(self, namespace: str) -> int:
        pending = list(self._kinds)
        oldest = 0
        rounds = int(_LIMIT_SECONDS / _PATIENCE_SECONDS)
        behind: list[str] = []
        for _ in range(rounds):
            scopes = ["" if watched in EXPERIMENTS else namespace for watched in pending]
            listings = list(self._pool.map(self._versions.listing, pending, scopes))
            oldest = min([listing.at for listing in listings] + ([oldest] if oldest else []))
            behind = []
            late = []
            for watched, scope, listing in zip(pending, scopes, listings, strict=True):
                judge = self._caught_up(watched.kind, scope, listing)
                if not self._store.wait(judge, _PATIENCE_SECONDS):
                    late.append(watched)
                    behind.append(watched.kind)
            if not late:
                return oldest
            pending = late
        raise LabError(
            f"the lab server's copy of {', '.join(behind)} in namespace {namespace} is {_LIMIT_SECONDS:.0f} s behind "
            "the API server",
            fix="check the logs of the lab server and the API server ('scenario-kit lab status')",
        )

    def _caught_up(self, kind: str, scope: str, listing: Listing) -> Callable[[], bool]:
        def judge() -> bool:
            if not self._store.delivered():
                return False
            held = self._store.held(kind, scope)
            if any(held.get(key, 0) < at for key, at in listing.revisions.items()):
                return False
            return all(key in listing.revisions or at > listing.at for key, at in held.items())

        return judge
