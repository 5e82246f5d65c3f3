from __future__ import annotations

import pytest

from scenario_kit.lab.chaos_daemon.endpoints import build_endpoint_slice
from scenario_kit.lab.chaos_daemon.ledger import EffectKey, EffectStore
from scenario_kit.lab.chaos_daemon.network import AddressSet, NetworkRule, list_members, parse_rate
from scenario_kit.model import ContainerEffect, NetworkEffect


def delay(pod: str, amount: float = 1.0) -> NetworkRule:
    return NetworkRule(NetworkEffect(pod_uid=pod, delay=amount))


def effect(pod: str, container: str, kind: str = "Stress") -> ContainerEffect:
    return ContainerEffect(pod_uid=pod, container_id=container, kind=kind)


def build_store() -> EffectStore:
    effect_store = EffectStore()
    effect_store.set_traffic("p1", [delay("p1")])
    effect_store.put(EffectKey("Stress", "1"), effect("p1", "containerd://a"))
    effect_store.put(EffectKey("DNS", "b"), effect("p1", "containerd://b", "DNS"))
    effect_store.put(EffectKey("Stress", "2"), effect("p2", "containerd://c"))
    return effect_store


def test_snapshot_is_limited_to_requested_pods() -> None:
    effect_store = build_store()
    assert [e.container_id for e in effect_store.snapshot(["p2"]).containers] == ["containerd://c"]
    assert effect_store.snapshot(["p2"]).network == ()
    assert len(effect_store.snapshot(["p2", "p1"]).containers) == 3


@pytest.mark.parametrize("name", ["a", "containerd://a"])
def test_restarted_container_loses_effects_but_keeps_network(name: str) -> None:
    effect_store = build_store()
    effect_store.forget_container("p1", name)
    ledger = effect_store.snapshot(["p1"])
    assert [e.kind for e in ledger.containers] == ["DNS"]
    assert len(ledger.network) == 1


def test_removed_pod_loses_all_effects() -> None:
    effect_store = build_store()
    effect_store.forget_pod("p1")
    ledger = effect_store.snapshot(["p1", "p2"])
    assert ledger.network == ()
    assert [e.pod_uid for e in ledger.containers] == ["p2"]


def test_ledger_version_grows_with_active_effects_only() -> None:
    changed: list[str] = []
    effect_store = EffectStore(changed.append)
    steps = [
        (lambda: effect_store.set_address_sets("p", {"s": AddressSet(("10.0.0.1/32",))}), 0),
        (lambda: effect_store.set_traffic("p", []), 0),
        (lambda: effect_store.set_traffic("p", [delay("p")._replace(sets=("s",))]), 1),
        (lambda: effect_store.set_traffic("p", [delay("p")._replace(sets=("s",))]), 1),
        (lambda: effect_store.set_address_sets("p", {"s": AddressSet(("10.0.0.2/32",))}), 2),
        (lambda: effect_store.put(EffectKey("IO", "c"), effect("p", "c", "IO")), 3),
        (lambda: effect_store.remove(EffectKey("IO", "unknown")), 3),
        (lambda: effect_store.remove(EffectKey("IO", "c")), 4),
        (lambda: effect_store.forget_container("p", "c"), 4),
        (lambda: effect_store.forget_pod("p"), 5),
    ]
    for number, (step, expected) in enumerate(steps):
        step()
        assert effect_store.snapshot([]).version == expected, number
    assert changed == ["p"] * 5


def test_snapshot_is_independent_of_insertion_order() -> None:
    one, two = EffectStore(), EffectStore()
    for effect_store, order in ((one, ["a", "b"]), (two, ["b", "a"])):
        for name in order:
            effect_store.put(EffectKey("Stress", name), effect("p", name))
    assert one.snapshot(["p"]) == two.snapshot(["p"])


def test_ipsets_are_kept_while_referenced() -> None:
    effect_store = EffectStore()
    effect_store.set_address_sets("p", {"s": AddressSet(("10.0.0.1/32",))})
    effect_store.set_filters("p", [NetworkRule(NetworkEffect(pod_uid="p", drop=True), ("s",))])
    effect_store.set_address_sets("p", {})
    assert effect_store.snapshot(["p"]).network[0].peers == ("10.0.0.1/32",)
    effect_store.set_filters("p", [])
    effect_store.set_address_sets("p", {})
    with pytest.raises(ValueError, match="no ipset s"):
        effect_store.set_filters("p", [NetworkRule(NetworkEffect(pod_uid="p", drop=True), ("s",))])


def test_circular_ipsets_resolve_to_their_members() -> None:
    sets = {"a": AddressSet(("10.0.0.2/32",), ("b",)), "b": AddressSet(("10.0.0.1/32",), ("a", "missing"))}
    assert list_members(("a",), sets) == ("10.0.0.1/32", "10.0.0.2/32")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", 0),
        ("8bit", 1),
        ("1kbit", 125),
        ("1mbps", 1e6),
        ("2Gbit", 2.5e8),
        ("1tbps", 1e12),
        ("1kibit", 128),
        ("1.5kbps", 1500),
        ("80", 10),
    ],
)
def test_rates(text: str, value: float) -> None:
    assert parse_rate(text) == value


@pytest.mark.parametrize("text", ["fast", "1mb", "1k", "-1mbit", "mbit", "1ibit x"])
def test_no_rates(text: str) -> None:
    with pytest.raises(ValueError, match="is not a rate"):
        parse_rate(text)


def test_endpoint_slice_has_every_node_except_excluded_ones() -> None:
    slice_ = build_endpoint_slice(["n2", "n1", "n3"], "192.0.2.7", 31767, without=["n3"])
    assert slice_["metadata"]["name"].startswith("chaos-daemon-")
    assert slice_["metadata"]["namespace"] == "chaos-mesh"
    assert [(e["nodeName"], e["addresses"]) for e in slice_["endpoints"]] == [
        ("n1", ["192.0.2.7"]),
        ("n2", ["192.0.2.7"]),
    ]
    assert slice_["ports"][0]["port"] == 31767
