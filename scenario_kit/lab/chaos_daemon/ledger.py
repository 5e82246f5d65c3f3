"""The ledger: which chaos effects are in force, per pod and per container.

How long an effect lives follows where it sits in a real node: network rules in the pod's network namespace, which
survives its containers; everything else in processes and files of one container, which dies with it. Nothing comes back
by itself: Chaos Mesh does not re-apply.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from scenario_kit.lab.chaos_daemon.network import AddressSet, Failed, NetworkRule, resolve_peers
from scenario_kit.model import ContainerEffect, Ledger


class EffectKey(NamedTuple):
    """Identifies a container effect: its kind, and what the call that removes it will know of it."""

    kind: str
    instance: str


class _Network:
    """The rules of one pod's network namespace."""

    def __init__(self) -> None:
        self.sets: dict[str, AddressSet] = {}
        self.filters: tuple[NetworkRule, ...] = ()
        self.traffic: tuple[NetworkRule, ...] = ()


class LedgerBook:
    """All effects of a lab. Safe to use from several threads.

    ``on_change`` is called with the pod's UID after every change of what is in force, in the thread that changed it and
    outside the lock.
    """

    def __init__(self, on_change: Callable[[str], None] | None = None) -> None:
        self._lock = threading.Lock()
        self._on_change = on_change
        self._version = 0
        self._networks: dict[str, _Network] = {}
        self._effects: dict[EffectKey, ContainerEffect] = {}

    def snapshot(self, pod_uids: Iterable[str]) -> Ledger:
        """Return what is in force on these pods, in an order that does not depend on who came first."""
        with self._lock:
            desired = sorted(set(pod_uids))
            network = []
            for uid in desired:
                if (found := self._networks.get(uid)) is not None:
                    effects = (resolve_peers(rule, found.sets) for rule in (*found.filters, *found.traffic))
                    network += [effect for effect in effects if effect is not None]
            pods = set(desired)
            containers = sorted(
                (e.pod_uid, e.container_id, *key, e) for key, e in self._effects.items() if e.pod_uid in pods
            )
            return Ledger(version=self._version, network=tuple(network), containers=tuple(c[-1] for c in containers))

    def set_address_sets(self, pod_uid: str, sets: Mapping[str, AddressSet]) -> None:
        """Replace the pod's sets. Sets that rules in force still name stay until those rules are replaced, too."""
        with self._change(pod_uid):
            network = self._network(pod_uid)
            in_use = network.filters or network.traffic
            network.sets = {**network.sets, **sets} if in_use else dict(sets)

    def set_filters(self, pod_uid: str, rules: Sequence[NetworkRule]) -> None:
        """Replace the pod's packet filters.

        Raises:
            Failed: a rule names a set that the pod does not have.
        """
        with self._change(pod_uid):
            network = self._network(pod_uid)
            _demand_sets(rules, network.sets)
            network.filters = tuple(rules)

    def set_traffic(self, pod_uid: str, rules: Sequence[NetworkRule]) -> None:
        """Replace the pod's traffic control.

        Raises:
            Failed: a rule names a set that the pod does not have.
        """
        with self._change(pod_uid):
            network = self._network(pod_uid)
            _demand_sets(rules, network.sets)
            network.traffic = tuple(rules)

    def rule_counts(self, pod_uid: str) -> tuple[int, int]:
        """Return how many packet filters and how many traffic rules the pod has."""
        with self._lock:
            network = self._networks.get(pod_uid)
            return (len(network.filters), len(network.traffic)) if network else (0, 0)

    def put(self, key: EffectKey, effect: ContainerEffect) -> None:
        """Put an effect into force, in place of the one with the same key."""
        with self._change(effect.pod_uid):
            self._effects[key] = effect

    def remove(self, key: EffectKey) -> None:
        """Take an effect out of force; one that is gone already is fine."""
        with self._lock:
            effect = self._effects.get(key)
        if effect is not None:
            with self._change(effect.pod_uid):
                self._effects.pop(key, None)

    def forget_container(self, pod_uid: str, container_id: str) -> None:
        """Forget a container that ended: its effects end with it, the pod's network rules stay.

        ``container_id`` as in ``status.containerStatuses[].containerID``, with or without the scheme.
        """
        gone = strip_scheme(container_id)
        with self._change(pod_uid):
            self._drop(lambda e: e.pod_uid == pod_uid and strip_scheme(e.container_id) == gone)

    def forget_pod(self, pod_uid: str) -> None:
        """Forget a pod that is gone, and everything with it."""
        with self._change(pod_uid):
            self._networks.pop(pod_uid, None)
            self._drop(lambda e: e.pod_uid == pod_uid)

    def _drop(self, doomed: Callable[[ContainerEffect], bool]) -> None:
        self._effects = {key: effect for key, effect in self._effects.items() if not doomed(effect)}

    def _network(self, pod_uid: str) -> _Network:
        return self._networks.setdefault(pod_uid, _Network())

    def _change(self, pod_uid: str) -> _Change:
        return _Change(self, pod_uid)

    def _in_force(self, pod_uid: str) -> object:
        network = self._networks.get(pod_uid)
        rules = (*network.filters, *network.traffic) if network else ()
        effects = {key: effect for key, effect in self._effects.items() if effect.pod_uid == pod_uid}
        return [resolve_peers(rule, network.sets) for rule in rules] if network else [], effects


class _Change:
    """Holds the lock, and raises the version if what is in force on the pod is not what it was."""

    def __init__(self, book: LedgerBook, pod_uid: str) -> None:
        self._book = book
        self._pod_uid = pod_uid

    def __enter__(self) -> None:
        self._book._lock.acquire()
        self._before = self._book._in_force(self._pod_uid)

    def __exit__(self, *_: object) -> None:
        changed = self._book._in_force(self._pod_uid) != self._before
        if changed:
            self._book._version += 1
        self._book._lock.release()
        if changed and self._book._on_change is not None:
            self._book._on_change(self._pod_uid)


def strip_scheme(container_id: str) -> str:
    """Return a container id without its scheme (``containerd://``)."""
    return container_id.rpartition("://")[2]


def _demand_sets(rules: Sequence[NetworkRule], sets: Mapping[str, AddressSet]) -> None:
    missing = sorted({name for rule in rules for name in rule.sets if name not in sets})
    if missing:
        raise Failed(f"no ipset {', '.join(missing)} in this pod; FlushIPSets comes first")
