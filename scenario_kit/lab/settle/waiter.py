"""Wait until a namespace has settled.

The predicate (``settled``) needs one consistent state, but informers of different kinds are independent. So each state
is checked twice: the predicate is evaluated, then the barrier makes the store catch up with all writes so far. If
nothing changed in between, all kinds had exactly this state at one instant, and every controller was at its fixed
point. No time needs to pass, and inactivity is no evidence: a slow controller leaves a difference that the predicate
detects.

The kubelet is simulated, so it is run instead of awaited: it must have nothing to do. It runs only where the
controllers have no work left. Otherwise it would depend on their pace whether a pod that is made and deleted at one
instant of the trial's clock has started, and has to be stopped over its grace period.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence

from scenario_kit.lab.informers.barrier import Barrier
from scenario_kit.lab.informers.store import NamespaceVersion, ObjectStore
from scenario_kit.lab.informers.watched_kinds import CLUSTER_REFUSERS
from scenario_kit.lab.settle.checks import Due, Facts, Reason, chaos, list_unsettled, pending_scheduling, pods
from scenario_kit.lab.settle.requeue import AFTER_SECONDS, Requeuer
from scenario_kit.model.base import Object
from scenario_kit.model.kubernetes.status import is_stopping

_LOG = logging.getLogger(__name__)
#: An unsettled state is evaluated again after this long even without a change: some reasons end by age.
_RECHECK_SECONDS = 0.1
#: After this long (wall) without a change, controllers may be waiting for the kubelet after all: no such case is known.
_STALLED_SECONDS = 3.0
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
        namespaces: Sequence[str],
        run_nodes: Callable[[], int],
        seconds: float,
        overdue: Collection[str] = frozenset(),
        should_continue: Callable[[], bool] = lambda: True,
    ) -> Sequence[Reason]:
        """Wait up to ``seconds`` (wall) until all of the namespaces are settled; return why they are not.

        Args:
            namespaces: the namespaces of one app.
            run_nodes: runs the kubelet's due work in all of them and returns the number of writes.
            seconds: the timeout.
            overdue: Deployments whose progress deadline has passed.
            should_continue: polled; False ends the wait.

        Raises:
            ClusterError: the API server fails.
            LabError: the store does not catch up with it.
        """
        started = changed = time.monotonic()
        versions: Mapping[str, NamespaceVersion] = {}
        self._catch_up(namespaces)
        if not overdue and all(map(self.is_unchanged, namespaces)) and run_nodes() == 0:
            return ()
        while True:
            if (found := self._read_versions(namespaces)) != versions:
                versions, changed = found, time.monotonic()
            unsettled = self._list_unsettled(namespaces, overdue)
            reasons: Sequence[Reason] = [reason for each in unsettled.values() for reason in each]
            if not reasons:
                self._catch_up(namespaces)
                if not self._differ_from(versions)() and run_nodes() == 0:
                    with self._lock:
                        self._settled.update(versions)
                    return ()
                reasons = [Reason("Moving", "Namespace", name, "its objects keep changing") for name in namespaces[:1]]
            elif time.monotonic() - changed < _STALLED_SECONDS or self._run_stalled(run_nodes, reasons) == 0:
                self._store.wait(self._differ_from(versions), _RECHECK_SECONDS)
            elapsed = time.monotonic() - started
            if elapsed > seconds or not should_continue():
                return reasons
            if elapsed > AFTER_SECONDS:
                for namespace, each in unsettled.items():
                    self._requeuer.requeue(namespace, each)

    @staticmethod
    def _run_stalled(run_nodes: Callable[[], int], reasons: Sequence[Reason]) -> int:
        """Run the kubelet in an unsettled state, unless only the scheduler's back-off is awaited."""
        if all(reason.code == pods.DUE for reason in reasons):
            return 0
        if writes := run_nodes():
            _LOG.info("the kubelet ran although controllers had work: %s", reasons[0])
        return writes

    def _catch_up(self, namespaces: Sequence[str]) -> None:
        for namespace in namespaces:
            self._barrier.wait(namespace)

    def _read_versions(self, namespaces: Sequence[str]) -> Mapping[str, NamespaceVersion]:
        return {namespace: self._store.version(namespace) for namespace in namespaces}

    def _differ_from(self, versions: Mapping[str, NamespaceVersion]) -> Callable[[], bool]:
        return lambda: any(self._store.version(namespace) != version for namespace, version in versions.items())

    def _list_unsettled(self, namespaces: Sequence[str], overdue: Collection[str]) -> Mapping[str, Sequence[Reason]]:
        return {namespace: list_unsettled(self.collect_facts(namespace, overdue)) for namespace in namespaces}

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
