"""The ledger of active chaos effects, per pod and per container.

The lifetime of an effect is that of its location in a real node: network rules belong to the pod's network namespace,
which survives its containers; everything else belongs to one container and ends with it. Effects never reappear by
themselves: Chaos Mesh does not re-apply.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from scenario_kit.lab.chaos_daemon.network import AddressSet, Failed, NetworkRule, resolve_peers
from scenario_kit.model import ContainerEffect, Ledger


class EffectKey(NamedTuple):
    """Identifies a container effect: its kind, and the properties known to the call that removes it."""

    kind: str
    instance: str


class _Network:
    """The rules of one pod's network namespace."""

    def __init__(self) -> None:
        self.sets: dict[str, AddressSet] = {}
        self.filters: tuple[NetworkRule, ...] = ()
        self.traffic: tuple[NetworkRule, ...] = ()


class EffectStore:
    """All effects of a lab; thread-safe.

    ``on_change`` is called with the pod's UID after every change of active effects, in the thread that made it and
    outside of the lock.
    """

    def __init__(self, on_change: Callable[[str], None] | None = None) -> None:
        self._lock = threading.Lock()
        self._on_change = on_change
        self._version = 0
        self._networks: dict[str, _Network] = {}
        self._effects: dict[EffectKey, ContainerEffect] = {}

    def snapshot(self, pod_uids: Iterable[str]) -> Ledger:
        """Return the active effects on these pods, in an order that does not depend on the history."""
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
        """Replace the pod's sets. Sets used by active rules stay until those rules are replaced."""
        with self._change(pod_uid):
            network = self._network(pod_uid)
            in_use = network.filters or network.traffic
            network.sets = {**network.sets, **sets} if in_use else dict(sets)

    def set_filters(self, pod_uid: str, rules: Sequence[NetworkRule]) -> None:
        """Replace the pod's packet filters.

        Raises:
            Failed: a rule uses a set that the pod does not have.
        """
        with self._change(pod_uid):
            network = self._network(pod_uid)
            _require_sets(rules, network.sets)
            network.filters = tuple(rules)

    def set_traffic(self, pod_uid: str, rules: Sequence[NetworkRule]) -> None:
        """Replace the pod's traffic control rules.

        Raises:
            Failed: a rule uses a set that the pod does not have.
        """
        with self._change(pod_uid):
            network = self._network(pod_uid)
            _require_sets(rules, network.sets)
            network.traffic = tuple(rules)

    def put(self, key: EffectKey, effect: ContainerEffect) -> None:
        """Activate an effect; replace the one with the same key."""
        with self._change(effect.pod_uid):
            self._effects[key] = effect

    def remove(self, key: EffectKey) -> None:
        """Deactivate an effect; no error if there is none."""
        with self._lock:
            effect = self._effects.get(key)
        if effect is not None:
            with self._change(effect.pod_uid):
                self._effects.pop(key, None)

    def forget_container(self, pod_uid: str, container_id: str) -> None:
        """Remove the effects of a container that has ended; the pod's network rules stay.

        ``container_id`` as in ``status.containerStatuses[].containerID``, with or without the scheme.
        """
        gone = strip_scheme(container_id)
        with self._change(pod_uid):
            self._drop(lambda e: e.pod_uid == pod_uid and strip_scheme(e.container_id) == gone)

    def forget_pod(self, pod_uid: str) -> None:
        """Remove all effects of a deleted pod."""
        with self._change(pod_uid):
            self._networks.pop(pod_uid, None)
            self._drop(lambda e: e.pod_uid == pod_uid)

    def _drop(self, doomed: Callable[[ContainerEffect], bool]) -> None:
        self._effects = {key: effect for key, effect in self._effects.items() if not doomed(effect)}

    def _network(self, pod_uid: str) -> _Network:
        return self._networks.setdefault(pod_uid, _Network())

    def _change(self, pod_uid: str) -> _Change:
        return _Change(self, pod_uid)

    def _list_active(self, pod_uid: str) -> object:
        network = self._networks.get(pod_uid)
        rules = (*network.filters, *network.traffic) if network else ()
        effects = {key: effect for key, effect in self._effects.items() if effect.pod_uid == pod_uid}
        return [resolve_peers(rule, network.sets) for rule in rules] if network else [], effects


class _Change:
    """Hold the lock; increment the version and notify if the pod's active effects have changed."""

    def __init__(self, effect_store: EffectStore, pod_uid: str) -> None:
        self._effect_store = effect_store
        self._pod_uid = pod_uid

    def __enter__(self) -> None:
        self._effect_store._lock.acquire()
        self._before = self._effect_store._list_active(self._pod_uid)

    def __exit__(self, *_: object) -> None:
        changed = self._effect_store._list_active(self._pod_uid) != self._before
        if changed:
            self._effect_store._version += 1
        self._effect_store._lock.release()
        if changed and self._effect_store._on_change is not None:
            self._effect_store._on_change(self._pod_uid)


def strip_scheme(container_id: str) -> str:
    """Return a container ID without its scheme (``containerd://``)."""
    return container_id.rpartition("://")[2]


def _require_sets(rules: Sequence[NetworkRule], sets: Mapping[str, AddressSet]) -> None:
    missing = sorted({name for rule in rules for name in rule.sets if name not in sets})
    if missing:
        raise Failed(f"no ipset {', '.join(missing)} in this pod; call FlushIPSets first")
