"""What packets between two pods meet: policies, chaos on either side, and proxies, as tables of right values."""

from types import SimpleNamespace
from typing import Any

import pytest

from scenario_kit.lab.twin.network.endpoints import Destination, Network, Wire
from scenario_kit.lab.twin.network.http_chaos import HttpRule
from scenario_kit.lab.twin.network.packet_effects import CUT as CUT_SHAPE
from scenario_kit.lab.twin.network.packet_effects import (
    MESSAGE_PACKET,
    PROBE_PACKET,
    QUERY_PACKET,
    TrafficShape,
    combine_effects,
)
from scenario_kit.model import ContainerEffect, NetworkEffect
from tests.lab.twin.dialling import process
from tests.lab.twin.net import endpoint, endpoints, namespace_object, network, pod, policy, service

HERE = pod("here", "10.0.0.1", ports=[{"name": "x", "containerPort": 1}])
THERE = pod("there", "10.0.0.2", ports=[{"name": "web", "containerPort": 8080}, {"containerPort": 9}])
FRONT = (
    service("front", "10.96.0.1", {"name": "p", "port": 80}),
    endpoints("front", endpoint("10.0.0.2"), endpoint("10.0.0.9"), p=8080),
)
OPEN = Wire(cut=False)
CUT = Wire(cut=True)


def effect(uid: str, *peers: str, **fields: Any) -> NetworkEffect:
    return NetworkEffect(pod_uid=uid, peers=peers, **fields)


def between(*effects: NetworkEffect, front: Destination | None = None) -> Wire:
    return network(HERE, THERE, *FRONT, effects=effects).wire(HERE, THERE, 8080, front=front)


#: Where packets to ``front`` are addressed to: kube-proxy translates it on the node, outside of the sender's pod.
SERVICE = Destination("10.96.0.1", 80)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, TrafficShape()),
        ({"delay": 0.1}, TrafficShape(delay=0.1)),
        ({"delay": 0.1, "jitter": 0.02}, TrafficShape(delay=0.1, jitter=0.02)),
        ({"loss": 25.0}, TrafficShape(loss=0.25)),
        ({"corrupt": 40.0}, TrafficShape(loss=0.4)),  # a packet with a wrong checksum is thrown away by whoever gets it
        ({"loss": 50.0, "corrupt": 50.0}, TrafficShape(loss=0.75)),
        ({"loss": 1.0, "corrupt": 0.0}, TrafficShape(loss=0.01)),
        ({"loss": 25.0, "loss_correlation": 50.0}, TrafficShape(loss=0.0694)),
        ({"corrupt": 60.0, "corrupt_correlation": 75.0}, TrafficShape(loss=0.8116)),
        ({"delay": 1.0, "jitter": 5.0}, TrafficShape(delay=1.0, jitter=2.147483647)),  # 32 bits of nanoseconds
        ({"delay": 1.0, "jitter": 1.0, "jitter_correlation": 9.0},
         TrafficShape(delay=1.0, jitter=1.0, jitter_correlation=9.0)),
        ({"delay": 1.0, "reorder": 25.0}, TrafficShape(delay=1.0, prompt=0.25)),
        ({"delay": 1.0, "reorder": 90.0, "gap": 1}, TrafficShape(delay=1.0, prompt=0.9)),
        ({"delay": 1.0, "reorder": 50.0, "gap": 5}, TrafficShape(delay=1.0, prompt=1 / 6)),
        ({"delay": 1.0, "reorder": 100.0, "gap": 1000}, TrafficShape(delay=1.0, prompt=0.001)),
        ({"delay": 1.0, "reorder": 25.0, "reorder_correlation": 50.0}, TrafficShape(delay=1.0, prompt=0.0694)),
        ({"duplicate": 100.0}, TrafficShape()),  # the second copy of a segment changes nothing
        ({"rate": 1000.0}, TrafficShape(rate=1000.0)),
    ],
)  # fmt: skip
def test_egress_traffic_is_shaped(fields: Any, expected: TrafficShape) -> None:
    assert between(effect("here", **fields)) == Wire(False, pytest.approx(expected, abs=1e-4), None)
    assert between(effect("there", **fields)) == Wire(False, None, pytest.approx(expected, abs=1e-4))


@pytest.mark.parametrize("fields", [{"loss": 100.0}, {"corrupt": 100.0}, {"loss": 250.0}, {"corrupt": 101.0}])
def test_full_packet_loss_or_corruption_blocks_all(fields: Any) -> None:
    assert between(effect("here", **fields)) == between(effect("there", **fields)) == CUT


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ({"delay": 0.1, "jitter": 0.01}, {"delay": 0.2, "jitter": 0.05}, TrafficShape(delay=0.3, jitter=0.06)),
        ({"loss": 50.0}, {"loss": 50.0}, TrafficShape(loss=0.75)),
        ({"loss": 20.0}, {"corrupt": 50.0}, TrafficShape(loss=0.6)),
        ({"corrupt": 50.0}, {"corrupt": 20.0}, TrafficShape(loss=0.6)),
        ({"rate": 1000.0}, {"rate": 300.0}, TrafficShape(rate=300.0)),
        ({"rate": 300.0, "burst": 1600.0}, {"rate": 1000.0, "queue": 1800.0}, TrafficShape(rate=300.0, burst=1600.0)),
        ({"rate": 300.0}, {"rate": 200.0, "queue": 1800.0}, TrafficShape(rate=200.0, queue=1800.0)),
        ({"rate": 300.0}, {"delay": 1.0}, TrafficShape(delay=1.0, rate=300.0)),
        ({"delay": 1.0}, {"rate": 300.0}, TrafficShape(delay=1.0, rate=300.0)),
    ],
)
def test_effects_add_up(one: Any, other: Any, expected: TrafficShape) -> None:
    assert between(effect("here", **one), effect("here", **other)).out == pytest.approx(expected)


@pytest.mark.parametrize(
    ("burst", "queue", "packet", "passes"),
    [
        (1600.0, 3000.0, MESSAGE_PACKET, True),
        (1514.0, 1514.0, MESSAGE_PACKET, True),
        (1513.0, 1e6, MESSAGE_PACKET, False),  # larger than the bucket
        (10000.0, 1000.0, MESSAGE_PACKET, False),  # larger than the queue
        (1000.0, 1000.0, PROBE_PACKET, True),
        (200.0, 1e6, PROBE_PACKET, False),
        (200.0, 1e6, QUERY_PACKET, True),
        (1.0, 1.0, QUERY_PACKET, False),
        (0.0, 0.0, MESSAGE_PACKET, True),  # netem's rate has no bucket
    ],
)
def test_packet_has_to_fit_into_bucket_and_queue(burst: float, queue: float, packet: float, passes: bool) -> None:
    found = combine_effects([effect("here", rate=1e6, burst=burst, queue=queue)], packet)
    assert found is not None
    assert found.loss == (0.0 if passes else 1.0)
    assert found is not CUT_SHAPE, "others pass"


def test_each_direction_has_its_sender_effects() -> None:
    found = between(effect("here", delay=0.1), effect("there", delay=0.2), effect("else", delay=0.4))
    assert found == Wire(False, TrafficShape(delay=0.1), TrafficShape(delay=0.2))


@pytest.mark.parametrize("uid", ["here", "there"])
@pytest.mark.parametrize("direction", ["INPUT", "OUTPUT"])
def test_partition_of_either_side_cuts_both_directions(uid: str, direction: str) -> None:
    assert between(effect(uid, direction=direction, drop=True)) == CUT
    assert between(effect("else", direction=direction, drop=True)) == OPEN


def test_ingress_traffic_is_not_shaped() -> None:
    assert between(effect("there", direction="INPUT", delay=1.0)) == OPEN


@pytest.mark.parametrize(
    ("uid", "direction", "peers", "directly", "by_service"),
    [
        ("here", "OUTPUT", ["10.0.0.2/32"], True, False),  # a set of pods has not the address of their Service
        ("here", "OUTPUT", ["10.0.0.2"], True, False),
        ("here", "OUTPUT", ["10.0.0.0/24"], True, False),
        ("here", "OUTPUT", ["10.0.0.3/32"], False, False),
        ("here", "OUTPUT", ["10.0.0.3/32", "10.0.0.2/32"], True, False),
        ("here", "OUTPUT", ["10.96.0.1/32"], False, True),  # they leave its pod for the Service
        ("here", "OUTPUT", ["10.96.0.2/32"], False, False),
        ("here", "INPUT", ["10.0.0.2/32"], True, False),
        ("here", "INPUT", ["10.0.0.1/32"], False, False),
        ("here", "INPUT", ["10.96.0.1/32"], False, True),  # answers come in from the Service
        ("there", "INPUT", ["10.0.0.1/32"], True, True),
        ("there", "INPUT", ["10.0.0.2/32"], False, False),
        ("there", "INPUT", ["10.96.0.1/32"], False, False),
        ("there", "OUTPUT", ["10.0.0.1/32"], True, True),
        ("there", "OUTPUT", ["10.96.0.1/32"], False, False),
        ("there", "OUTPUT", ["10.0.0.3/32"], False, False),
    ],
)
def test_partition_affects_selected_peers(
    uid: str, direction: str, peers: list[str], directly: bool, by_service: bool
) -> None:
    rule = effect(uid, *peers, direction=direction, drop=True)
    assert between(rule).cut is directly
    assert between(rule, front=SERVICE).cut is by_service


def test_effect_on_peers_spares_others() -> None:
    found = between(effect("here", "10.0.0.3/32", delay=1.0), effect("here", "10.0.0.2/32", delay=0.5))
    assert found == Wire(False, TrafficShape(delay=0.5), None)


#: What the manager of Chaos Mesh programs for a selector of ``here`` and a target of ``there``.
TO_PEER = effect("here", "10.0.0.2/32", delay=1.0)
FROM_PEER = effect("there", "10.0.0.1/32", delay=2.0)


@pytest.mark.parametrize(
    ("effects", "directly", "by_service"),
    [
        ((TO_PEER,), (1.0, 0.0), (0.0, 0.0)),
        ((FROM_PEER,), (0.0, 2.0), (0.0, 2.0)),  # answers go to the caller's own address
        ((TO_PEER, FROM_PEER), (1.0, 2.0), (0.0, 2.0)),
    ],
)
def test_direction_of_a_target(
    effects: tuple[NetworkEffect, ...], directly: tuple[float, float], by_service: tuple[float, float]
) -> None:
    for front, expected in ((None, directly), (SERVICE, by_service)):
        found = between(*effects, front=front)
        assert tuple(shape.delay if shape else 0.0 for shape in (found.out, found.back)) == expected


@pytest.mark.parametrize(
    ("effects", "expected"),
    [
        # Every rule without peers delays a packet in turn, but one class of packets has one rule: the last one set.
        ([("", 0.1), ("", 0.2)], 0.3),
        ([("", 0.1), ("10.0.0.2/32", 0.2)], 0.3),
        ([("10.0.0.2/32", 0.2), ("10.0.0.0/24", 0.5)], 0.5),
        ([("10.0.0.0/24", 0.5), ("10.0.0.2/32", 0.2)], 0.2),
        ([("10.0.0.0/24", 0.5), ("10.0.0.3/32", 0.2)], 0.5),
        ([("", 0.1), ("10.0.0.0/24", 0.5), ("10.0.0.2/32", 0.2)], 0.3),
    ],
)
def test_packet_takes_one_of_the_rules_for_peers(effects: list[tuple[str, float]], expected: float) -> None:
    found = between(*(effect("here", *([peer] if peer else []), delay=delay) for peer, delay in effects))
    assert found.out is not None
    assert found.out.delay == pytest.approx(expected)


def test_address_of_a_pod_as_front_is_its_own() -> None:
    """A headless Service resolves to pods; the first of them stands for the name."""
    rule = effect("here", "10.0.0.2/32", delay=1.0)
    net = network(HERE, THERE, pod("first", "10.0.0.7"), effects=(rule,))
    assert net.wire(HERE, THERE, 8080, front=Destination("10.0.0.7", 8080)) == net.wire(HERE, THERE, 8080)


def test_pod_always_reaches_itself() -> None:
    drop = effect("here", direction="OUTPUT", drop=True)
    deny = policy("deny", policyTypes=["Ingress", "Egress"])
    assert network(HERE, deny, effects=(drop,)).wire(HERE, HERE, 80) == OPEN


@pytest.mark.parametrize(
    ("effects", "expected"),
    [
        ([], Wire(False)),
        ([effect("there", delay=0.5)], Wire(False, None, TrafficShape(delay=0.5))),
        ([effect("there", "10.0.0.1/32", delay=0.5)], Wire(False)),
        ([effect("here", delay=0.5)], Wire(False)),
        ([effect("there", drop=True)], CUT),
        ([effect("there", loss=100.0)], CUT),
        ([effect("there", direction="INPUT", drop=True)], CUT),
        ([effect("there", direction="INPUT", delay=1.0)], Wire(False)),
        ([effect("there", "10.0.0.1/32", direction="INPUT", drop=True)], Wire(False)),
    ],
)
def test_node_probes_meet_untargeted_effects_only(effects: list[NetworkEffect], expected: Wire) -> None:
    """The node is no peer, so only chaos without peers affects its probes."""
    assert network(HERE, THERE, effects=tuple(effects)).from_node(THERE) == expected


FROM_HERE = {"from": [{"podSelector": {"matchLabels": {"app": "here"}}}]}
FROM_OTHER = {"from": [{"podSelector": {"matchLabels": {"app": "other"}}}]}
TO_THERE = {"to": [{"podSelector": {"matchLabels": {"app": "there"}}}]}


@pytest.mark.parametrize(
    ("policies", "cut"),
    [
        ([], False),
        ([policy("a", "there", policyTypes=["Ingress"])], True),
        ([policy("a", "there", policyTypes=["Ingress"], ingress=[FROM_HERE])], False),
        ([policy("a", "there", policyTypes=["Ingress"], ingress=[FROM_OTHER])], True),
        (
            [
                policy("a", "there", policyTypes=["Ingress"], ingress=[FROM_OTHER]),
                policy("b", "there", policyTypes=["Ingress"], ingress=[FROM_HERE]),
            ],
            False,
        ),
        ([policy("a", "here", policyTypes=["Ingress"])], False),  # answers belong to the connection
        ([policy("a", "here", policyTypes=["Egress"])], True),
        ([policy("a", "here", policyTypes=["Egress"], egress=[TO_THERE])], False),
        ([policy("a", "there", policyTypes=["Egress"])], False),
        ([policy("a", policyTypes=["Egress"], egress=[{"ports": [{"port": 8080}]}])], False),
        ([policy("a", policyTypes=["Egress"], egress=[{"ports": [{"port": "web"}]}])], False),
        ([policy("a", policyTypes=["Egress"], egress=[{"ports": [{"port": "x"}]}])], True),
        ([policy("a", policyTypes=["Egress"], egress=[{"ports": [{"port": 8080, "protocol": "UDP"}]}])], True),
        ([policy("a", "there", ingress=[{"from": [{"ipBlock": {"cidr": "10.0.0.1/32"}}]}])], False),
        ([policy("a", "there", ingress=[{"from": [{"ipBlock": {"cidr": "10.0.0.2/32"}}]}])], True),
        ([policy("a", "there", "stores", policyTypes=["Ingress"])], False),
    ],
)
def test_policies_cut_disallowed_traffic(policies: list[Any], cut: bool) -> None:
    assert network(HERE, THERE, *policies).wire(HERE, THERE, 8080) == Wire(cut)


def test_policy_distinguishes_protocols() -> None:
    rule = policy("a", "there", policyTypes=["Ingress"], ingress=[{"ports": [{"port": 8080, "protocol": "UDP"}]}])
    net = network(HERE, THERE, rule)
    assert (net.wire(HERE, THERE, 8080, "UDP").cut, net.wire(HERE, THERE, 8080).cut) == (False, True)
    assert net.wire(HERE, THERE, 8080, "TCP").cut, "what is remembered is remembered by protocol"
    assert net.wire(HERE, THERE, 8081, "UDP").cut, "and by port"


@pytest.mark.parametrize(
    ("labels", "cut"),
    [
        ({"kubernetes.io/metadata.name": "stores"}, False),
        ({"team": "data"}, False),
        ({"kubernetes.io/metadata.name": "shop"}, True),
        ({"team": "web"}, True),
    ],
)
def test_policy_selects_namespaces_by_label(labels: dict[str, str], cut: bool) -> None:
    caller = pod("caller", "10.1.0.1", namespace="stores")
    rule = policy(
        "a", "there", policyTypes=["Ingress"], ingress=[{"from": [{"namespaceSelector": {"matchLabels": labels}}]}]
    )
    spaces = (namespace_object("shop", team="web"), namespace_object("stores", team="data"))
    assert network(*spaces, caller, THERE, rule).wire(caller, THERE, 8080).cut is cut


def http(uid: str, container: str, port: int = 8080, **rule: Any) -> ContainerEffect:
    reported = {"proxyPorts": [port], "tls": False, "rules": [rule]}
    return ContainerEffect(pod_uid=uid, container_id=f"containerd://{container}", kind="HTTP", arguments=reported)


def test_http_proxy_applies_at_its_port() -> None:
    running = {"containerStatuses": [{"containerID": "containerd://1", "state": {"running": {}}}]}
    proxied = THERE | {"status": THERE["status"] | running}
    reported = {"target": "Request", "selector": {"port": 8080}, "actions": {"abort": True}}
    other = ContainerEffect(pod_uid="there", container_id="containerd://1", kind="Stress")
    net = network(HERE, proxied, containers=(other, http("there", "1", **reported), http("here", "1", **reported)))
    assert net.wire(HERE, proxied, 8080) == Wire(False, None, None, (HttpRule(False, abort=True),))
    assert net.wire(HERE, proxied, 8081) == OPEN
    assert net.wire(proxied, HERE, 8080) == Wire(False, None, None, (HttpRule(False, abort=True),)), "and out of it"
    assert net.wire(proxied, HERE, 8081) == OPEN
    by_service = net.wire(proxied, HERE, 8081, front=Destination("10.96.0.9", 8080))
    assert by_service.rules, "by the port that is dialled"
    assert not net.wire(proxied, HERE, 8080, front=Destination("10.96.0.9", 80)).rules
    assert net.wire(HERE, pod("else", "10.0.0.4"), 8080) == OPEN, "it has no container that runs"


def test_process_uses_the_network_of_its_pod() -> None:
    net = network(HERE, THERE, effects=(effect("here", delay=1.0),))
    caller = process("here", "10.0.0.1")
    assert net.wire(caller, THERE, 80) == net.wire(HERE, THERE, 80) == Wire(False, TrafficShape(delay=1.0))


def test_pod_at_an_address() -> None:
    waiting = {"kind": "Pod", "metadata": {"name": "w", "uid": "w"}, "spec": {}, "status": {}}
    net: Network = network(HERE, THERE, waiting, {**waiting, "metadata": {"name": "v", "uid": "v"}, "status": None})
    assert net.pod_at("10.0.0.2") == THERE
    assert net.pod_at("10.0.0.3") is None
    assert net.pod_at("") is None


def test_listener_is_found_by_address_and_port() -> None:
    def listening(ip: str, *ports: int) -> Any:
        return SimpleNamespace(ip=ip, listener=lambda port: port in ports or None)

    one, two, three = listening("10.0.0.2", 80), listening("10.0.0.2", 81), listening("10.0.0.3", 82)
    net = network(THERE, processes=(one, two, three))
    assert net.listener(Destination("10.0.0.2", 81)) is two
    assert net.listener(Destination("10.0.0.2", 80)) is one
    assert net.listener(Destination("10.0.0.2", 82)) is None
    assert net.listener(Destination("10.0.0.4", 80)) is None
