"""Wait until a namespace has settled.

The predicate (``settled``) needs one consistent state, but informers of different kinds are independent. So each state
is checked twice: the predicate is evaluated, then the barrier makes the store catch up with all writes so far. If
nothing changed in between, all kinds had exactly this state at one instant, and every controller was at its fixed
point. No time needs to pass, and inactivity is no evidence: a slow controller leaves a difference that the predicate
detects.

The kubelet is simulated, so it is run instead of awaited: it must have nothing to do.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence

from scenario_kit.lab.informers.barrier import Barrier
from scenario_kit.lab.informers.store import NamespaceVersion, ObjectStore
from scenario_kit.lab.informers.watched_kinds import CLUSTER_REFUSERS
from scenario_kit.lab.settle.requeue import AFTER_SECONDS, Requeuer
from scenario_kit.lab.settle.settled import Due, Facts, Reason, chaos, list_unsettled, pending_scheduling
from scenario_kit.model.base import Object
from scenario_kit.model.kubernetes.status import is_stopping

#: An unsettled state is evaluated again after this long even without a change: some reasons end by age.
_RECHECK_SECONDS = 0.1
#: Due work happens within the scheduler's maximum back-off of 10 s; beyond that the prediction was wrong.
_DUE_SECONDS = 15.0


class Settler:
    """Settles namespaces; calls for different namespaces may overlap."""

    def __init__(self, store: ObjectStore, barrier: Barrier, requeuer: Requeuer) -> None:
        self._store = store
        self._barrier = barrier
        self._requeuer = requeuer
        self._lock = threading.Lock()
        self._settled: dict[str, NamespaceVersion] = {}
        self._due: dict[str, dict[str, float]] = {}

    def is_unchanged(self, namespace: str) -> bool:
        """Return whether nothing has changed since the namespace last settled."""
        with self._lock:
            return self._settled.get(namespace) == self._store.version(namespace)

    def settle(
        self,
        namespace: str,
        run_nodes: Callable[[], int],
        seconds: float,
        overdue: Collection[str] = frozenset(),
        should_continue: Callable[[], bool] = lambda: True,
    ) -> Sequence[Reason]:
        """Wait up to ``seconds`` (wall); return why the namespace is not settled.

        Args:
            namespace: the namespace.
            run_nodes: runs the kubelet's due work and returns the number of writes.
            seconds: the timeout.
            overdue: Deployments whose progress deadline has passed.
            should_continue: polled; False ends the wait.

        Raises:
            ClusterError: the API server fails.
            LabError: the store does not catch up with it.
        """
        started = time.monotonic()
        self._barrier.wait(namespace)
        if run_nodes() == 0 and not overdue and self.is_unchanged(namespace):
            return ()
        while True:
            version = self._store.version(namespace)
            reasons: Sequence[Reason] = list_unsettled(self.collect_facts(namespace, overdue))
            if not reasons:
                self._barrier.wait(namespace)
                if run_nodes() == 0 and self._store.version(namespace) == version:
                    with self._lock:
                        self._settled[namespace] = version
                    return ()
                reasons = (Reason("Moving", "Namespace", namespace, "its objects keep changing"),)
            elif run_nodes() == 0:
                self._store.wait(_differs(self._store, namespace, version), _RECHECK_SECONDS)
            elapsed = time.monotonic() - started
            if elapsed > seconds or not should_continue():
                return reasons
            if elapsed > AFTER_SECONDS:
                self._requeuer.requeue(namespace, reasons)

    def collect_facts(self, namespace: str, overdue: Collection[str] = frozenset()) -> Facts:
        """Return the state of a namespace in the store."""
        kinds = self._store.kinds(namespace)
        return Facts(
            namespace=self._store.get("", "Namespace", namespace),
            kinds=kinds,
            experiments=[e for e in self._store.experiments() if chaos.affects_namespace(e, namespace)],
            quiet=self._store.quiet_seconds,
            stopping={pod["metadata"]["uid"] for pod in kinds.get("Pod", {}).values() if is_stopping(pod)},
            refused=self._requeuer.list_refusals(),
            overdue=overdue,
            due=self._list_due(namespace, kinds),
            refusers=[o for kind in CLUSTER_REFUSERS for o in self._store.names("", kind).values()],
            lifted=max(self._store.removed(namespace), self._store.removed("")),
            wall=time.time(),
        )

    def _list_due(self, namespace: str, kinds: Mapping[str, Mapping[str, Object]]) -> list[Due]:
        """List due work in a namespace, without what has been due for too long."""
        nodes, volumes = self._store.names("", "Node"), self._store.names("", "PersistentVolume")
        cluster = pending_scheduling.ClusterCapacity(nodes, volumes, lambda: self._store.list_all("Pod"))
        found = list(pending_scheduling.list_due(kinds, cluster))
        now = time.monotonic()
        with self._lock:
            before = self._due.get(namespace, {})
            since = self._due[namespace] = {each.uid: before.get(each.uid, now) for each in found}
        return [each for each in found if now - since[each.uid] < _DUE_SECONDS]

    def forget(self, namespace: str) -> None:
        """Drop the state of a namespace."""
        with self._lock:
            self._settled.pop(namespace, None)
            self._due.pop(namespace, None)
        self._barrier.forget(namespace)


def _differs(store: ObjectStore, namespace: str, version: NamespaceVersion) -> Callable[[], bool]:
    return lambda: store.version(namespace) != version
