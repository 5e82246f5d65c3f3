"""Makes sure that the store is at least as fresh as the moment of asking.

A caller writes to the API server and then asks whether the cluster has settled; informers are a few milliseconds
behind, so the store may still show the settled state from before that write. Waiting "long enough" would be a silence
taken for an answer. Instead:

1. One small consistent list tells the current revision of the cluster's store. Revisions count every write of every
   kind, without gaps. If each revision since the last barrier of this namespace was delivered by some informer, or is
   known to concern nothing that is followed (``revisions``), nothing is missing. This is the usual case and costs one
   request.
2. Otherwise (at the start, or after a watch broke off) the names and versions of the followed kinds are listed,
   consistently, and the store must have caught up with each of them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, Protocol

from scenario_kit.errors import LabError
from scenario_kit.lab.informers.store import ObjectStore
from scenario_kit.lab.informers.watched_kinds import EXPERIMENTS, NAMESPACED, Watched

#: How long the store may take to catch up before the API server is listed again, and before the lab is called broken.
_PATIENCE_SECONDS = 0.1
#: How long a revision that etcd has may be on its way here before that is looked into. On a busy machine some take half
#: a second; to list every kind instead would make it busier still.
_IN_FLIGHT_SECONDS = 1.0
_LIMIT_SECONDS = 10.0


class Listing(NamedTuple):
    """Revisions of the objects of one kind by (namespace, name), and the revision at which that was true."""

    at: int
    revisions: Mapping[tuple[str, str], int]


class Versions(Protocol):
    """Consistent reads of versions, never from a cache that may be behind."""

    def current(self) -> int:
        """Return the revision of the cluster's store."""

    def listing(self, watched: Watched, namespace: str) -> Listing:
        """Return one kind in one namespace, or in all (empty)."""


class Barrier:
    """``pass_(namespace)`` returns once the store shows every write that was acknowledged before the call."""

    def __init__(self, versions: Versions, store: ObjectStore, kinds: Sequence[Watched] = NAMESPACED) -> None:
        self._versions = versions
        self._store = store
        self._kinds = kinds
        self._lock = threading.Lock()
        self._proven: dict[str, int] = {}
        self._everywhere: int | None = None
        # All at once: most of the time of a list is spent waiting for the API server's own cache.
        self._pool = ThreadPoolExecutor(len(kinds), thread_name_prefix="barrier")

    def prove(self) -> None:
        """Compare everything once, so that namespaces to come need not be compared one by one.

        Raises:
            ClusterError: the API server does not answer.
            LabError: the store does not catch up.
        """
        at = self._compare("")
        with self._lock:
            self._everywhere = at

    def pass_(self, namespace: str) -> None:
        """Wait until the store is fresh.

        Raises:
            ClusterError: the API server does not answer.
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
        """Forget a namespace that is of no interest any more."""
        with self._lock:
            self._proven.pop(namespace, None)

    def close(self) -> None:
        """End the threads that list."""
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
            fix="look at the logs of the lab server and the API server ('scenario-kit lab status')",
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
