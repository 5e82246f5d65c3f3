"""Waits until a namespace has settled.

The predicate (``settled``) needs one consistent state, and informers of different kinds run independently. So states
are collected twice: the predicate is judged on a state, then the barrier makes sure that the store shows every write so
far; if nothing changed in between, all kinds had exactly this state at one instant, and at that instant every
controller had come to its fixed point. No time has to pass for that, and none is taken for evidence: a controller that
is slow to begin leaves a difference that the predicate sees.

The kubelet is ours, so it is run, not waited for: it must find nothing to do.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence

from scenario_kit.lab.informers.barrier import Barrier
from scenario_kit.lab.informers.store import NamespaceVersion, ObjectStore
from scenario_kit.lab.informers.watched_kinds import CLUSTER_REFUSERS
from scenario_kit.lab.settle.requeue import AFTER_SECONDS, Nudger
from scenario_kit.lab.settle.settled import Due, Facts, Reason, chaos, list_unsettled, pending_scheduling
from scenario_kit.model.base import Object

#: An unsettled state is judged again this often even if nothing changed: some reasons end by age.
_RECHECK_SECONDS = 0.1
#: What is due happens within the scheduler's longest back-off, 10 s; what does not was not as certain as it looked.
_DUE_SECONDS = 15.0


class Settler:
    """Settles namespaces; calls for different namespaces may overlap."""

    def __init__(self, store: ObjectStore, barrier: Barrier, nudger: Nudger) -> None:
        self._store = store
        self._barrier = barrier
        self._nudger = nudger
        self._lock = threading.Lock()
        self._settled: dict[str, NamespaceVersion] = {}
        self._due: dict[str, dict[str, float]] = {}

    def still(self, namespace: str) -> bool:
        """Check whether nothing was seen to change since the namespace was last found settled."""
        with self._lock:
            return self._settled.get(namespace) == self._store.version(namespace)

    def settle(
        self,
        namespace: str,
        run_nodes: Callable[[], int],
        seconds: float,
        overdue: Collection[str] = frozenset(),
        go_on: Callable[[], bool] = lambda: True,
    ) -> Sequence[Reason]:
        """Wait up to ``seconds`` (wall); why the namespace is not settled, or nothing.

        Args:
            namespace: which one.
            run_nodes: lets the kubelet do what is due now, and returns how many writes that took.
            seconds: after which to give up.
            overdue: Deployments whose progress deadline has passed.
            go_on: asked now and then; False gives up.

        Raises:
            ClusterError: the API server fails.
            LabError: the store does not follow it.
        """
        started = time.monotonic()
        self._barrier.pass_(namespace)
        if run_nodes() == 0 and not overdue and self.still(namespace):
            return ()
        while True:
            version = self._store.version(namespace)
            reasons: Sequence[Reason] = list_unsettled(self.facts(namespace, overdue))
            if not reasons:
                self._barrier.pass_(namespace)
                if run_nodes() == 0 and self._store.version(namespace) == version:
                    with self._lock:
                        self._settled[namespace] = version
                    return ()
                reasons = (Reason("Moving", "Namespace", namespace, "its objects keep changing"),)
            elif run_nodes() == 0:
                self._store.wait(_differs(self._store, namespace, version), _RECHECK_SECONDS)
            elapsed = time.monotonic() - started
            if elapsed > seconds or not go_on():
                return reasons
            if elapsed > AFTER_SECONDS:
                self._nudger.nudge(namespace, reasons)

    def facts(self, namespace: str, overdue: Collection[str] = frozenset()) -> Facts:
        """Return the state of a namespace as the store shows it."""
        kinds = self._store.kinds(namespace)
        return Facts(
            namespace=self._store.get("", "Namespace", namespace),
            kinds=kinds,
            experiments=[e for e in self._store.experiments() if chaos.selects(e, namespace)],
            quiet=self._store.quiet_seconds,
            stopping={
                pod["metadata"]["uid"]
                for pod in kinds.get("Pod", {}).values()
                if pod["spec"].get("nodeName") and pod["metadata"].get("deletionGracePeriodSeconds", 0) > 0
            },
            refused=self._nudger.refused(),
            overdue=overdue,
            due=self._list_overdue(namespace, kinds),
            refusers=[o for kind in CLUSTER_REFUSERS for o in self._store.names("", kind).values()],
            lifted=max(self._store.removed(namespace), self._store.removed("")),
        )

    def _list_overdue(self, namespace: str, kinds: Mapping[str, Mapping[str, Object]]) -> list[Due]:
        """List what is due in a namespace, and has not been for too long."""
        nodes, volumes = self._store.names("", "Node"), self._store.names("", "PersistentVolume")
        cluster = pending_scheduling.ClusterCapacity(nodes, volumes, lambda: self._store.everywhere("Pod"))
        found = list(pending_scheduling.list_due(kinds, cluster))
        now = time.monotonic()
        with self._lock:
            before = self._due.get(namespace, {})
            since = self._due[namespace] = {each.uid: before.get(each.uid, now) for each in found}
        return [each for each in found if now - since[each.uid] < _DUE_SECONDS]

    def forget(self, namespace: str) -> None:
        """Forget a namespace that is of no interest any more."""
        with self._lock:
            self._settled.pop(namespace, None)
            self._due.pop(namespace, None)
        self._barrier.forget(namespace)


def _differs(store: ObjectStore, namespace: str, version: NamespaceVersion) -> Callable[[], bool]:
    return lambda: store.version(namespace) != version
