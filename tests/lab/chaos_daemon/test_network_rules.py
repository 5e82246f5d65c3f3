"""Network calls of Chaos Mesh, as tables over messages of the same shape."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scenario_kit.lab.chaos_daemon.network import (
    AddressSet,
    Failed,
    NetworkRule,
    NotSimulated,
    list_members,
    parse_address_set,
    parse_filter_rule,
    parse_traffic_rule,
    resolve_peers,
)
from scenario_kit.lab.chaos_daemon.protocol import build_messages
from scenario_kit.model import NetworkEffect
from tools.chaos.proto_reader import describe

#: Names and types of the fields that matter (docs/fidelity.md); the numbers are nobody's concern here.
MESSAGES = """
syntax = "proto3";
message Netem {
  string time = 1; string jitter = 2; float delay_corr = 3; uint32 limit = 4; float loss = 5; float loss_corr = 6;
  uint32 gap = 7; float duplicate = 8; float duplicate_corr = 9; float reorder = 10; float reorder_corr = 11;
  float corrupt = 12; float corrupt_corr = 13; string rate = 16;
}
message Tbf { string rate = 1; uint32 limit = 2; uint32 buffer = 3; }
message Tc {
  enum Type { NETEM = 0; BANDWIDTH = 1; }
  Type type = 1; Netem netem = 2; Tbf tbf = 3; string ipset = 4; string protocol = 5; string source_port = 6;
  string egress_port = 7; string device = 9;
}
message CidrAndPort { string cidr = 1; uint32 port = 2; }
message IPSet {
  string name = 1; repeated string cidrs = 2; repeated CidrAndPort cidr_and_ports = 3; repeated string set_names = 4;
  string type = 5;
}
message Chain {
  string name = 1;
  enum Direction { INPUT = 0; OUTPUT = 1; }
  Direction direction = 2; repeated string ipsets = 3; string target = 4; string protocol = 5;
  string source_ports = 6; string destination_ports = 7; string tcp_flags = 8; string device = 9;
}
message All { Tc tc = 1; IPSet ipset = 2; Chain chain = 3; }
service ChaosDaemon { rpc Say (All) returns (All) {} }
"""


def build_constructor(folder: Path, text: str) -> Any:
    """A constructor of those messages, by the name of their field in ``All``."""
    make = build_messages(describe(text, "chaosdaemon.proto"), "ChaosDaemon").calls["Say"].request
    return lambda kind, **fields: getattr(make(**{kind: fields}), kind)


@pytest.fixture(scope="module")
def message(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return build_constructor(tmp_path_factory.mktemp("proto"), MESSAGES)


def test_newer_messages_have_no_ports(tmp_path: Path) -> None:
    newer = MESSAGES.replace("string source_port = 6;", "").replace("string egress_port = 7;", "reserved 6, 7;")
    rule = parse_traffic_rule("pod-1", build_constructor(tmp_path, newer)("tc", netem={"time": "1s"}))
    assert rule.effect.delay == 1.0


@pytest.mark.parametrize(
    ("netem", "expected"),
    [
        ({"time": "250ms"}, {"delay": 0.25}),
        ({"time": "250ms", "jitter": "10ms"}, {"delay": 0.25, "jitter": 0.01}),
        ({"time": "1.5s", "jitter": "0ms"}, {"delay": 1.5}),
        ({"time": "2SEC", "jitter": "500usecs"}, {"delay": 2.0, "jitter": 0.0005}),
        ({"time": "274s"}, {"delay": 274.0}),
        # The daemon compares times as words: these are no more than "0ms".
        ({"time": "0.5s", "loss": 1}, {"loss": 1.0}),
        ({"time": "0ms", "jitter": "10ms", "loss": 1}, {"loss": 1.0}),
        ({"time": "1s", "jitter": "0.5s"}, {"delay": 1.0}),
        ({"jitter": "10ms", "loss": 1}, {"loss": 1.0}),  # tc takes a jitter only after a delay
        ({"time": "0s", "jitter": "10ms"}, {"jitter": 0.01}),
        ({"loss": 25}, {"loss": 25.0}),
        ({"loss": 12.3}, {"loss": 12.3}),  # and not what is left of it in 32 bits
        ({"loss": 0.00011}, {"loss": 0.0001}),
        ({"loss": 25, "loss_corr": 50}, {"loss": 25.0, "loss_correlation": 50.0}),
        ({"duplicate": 33.3}, {"duplicate": 33.3}),
        ({"corrupt": 66.6, "corrupt_corr": 1}, {"corrupt": 66.6, "corrupt_correlation": 1.0}),
        ({"rate": "8kbit"}, {"rate": 1000.0}),
        ({"rate": "1mbps"}, {"rate": 1e6}),
        ({"time": "1s", "delay_corr": 50, "limit": 5}, {"delay": 1.0}),
        ({"time": "1s", "jitter": "1s", "delay_corr": 50}, {"delay": 1.0, "jitter": 1.0, "jitter_correlation": 50.0}),
        ({"time": "1s", "reorder": 25}, {"delay": 1.0, "reorder": 25.0}),
        ({"time": "1s", "reorder": 90, "reorder_corr": 5, "gap": 1},
         {"delay": 1.0, "reorder": 90.0, "reorder_correlation": 5.0, "gap": 1}),
        ({"reorder": 25, "gap": 5, "loss": 1}, {"loss": 1.0}),  # tc reorders only what a delay holds back
        ({"limit": 5}, {}),
    ],
)  # fmt: skip
def test_netem_shapes_egress_traffic(message: Any, netem: Any, expected: Any) -> None:
    effect = NetworkEffect(pod_uid="pod-1", direction="OUTPUT", device="eth0", **expected)
    assert parse_traffic_rule("pod-1", message("tc", type="NETEM", netem=netem)) == NetworkRule(effect, ())


@pytest.mark.parametrize(("rate", "expected"), [("1mbps", 1e6), ("1mbit", 125_000.0), ("100", 12.5), ("", 0.0)])
def test_bucket_limits_the_rate(message: Any, rate: str, expected: float) -> None:
    tc = message("tc", type="BANDWIDTH", tbf={"rate": rate, "limit": 100, "buffer": 100}, netem={"time": "1s"})
    effect = NetworkEffect(pod_uid="pod-1", device="eth0", rate=expected, burst=100.0, queue=100.0)
    assert parse_traffic_rule("pod-1", tc) == NetworkRule(effect, ())


def test_traffic_control_has_device_and_targets(message: Any) -> None:
    rule = parse_traffic_rule("pod-1", message("tc", netem={"time": "1s"}, device="eth1", ipset="targets"))
    assert rule == NetworkRule(NetworkEffect(pod_uid="pod-1", device="eth1", delay=1.0), ("targets",))


@pytest.mark.parametrize(
    ("fields", "error", "words"),
    [
        ({"type": "NETEM"}, ValueError, "type NETEM requires netem"),
        ({"type": "NETEM", "tbf": {"rate": "1mbps"}}, ValueError, "type NETEM requires netem"),
        ({"type": "BANDWIDTH"}, ValueError, "type BANDWIDTH requires tbf"),
        ({"type": "BANDWIDTH", "netem": {"time": "1s"}}, ValueError, "type BANDWIDTH requires tbf"),
        ({"netem": {"time": "fast"}}, Failed, 'error code: exit status 1, msg: Illegal "latency"'),
        ({"netem": {"time": "1m"}}, Failed, 'Illegal "latency"'),  # tc knows no minutes
        ({"netem": {"time": "1m30s"}}, Failed, 'Illegal "latency"'),
        ({"netem": {"time": "1500ns"}}, Failed, 'Illegal "latency"'),
        ({"netem": {"time": "275s"}}, Failed, r"Illegal 275000000 time \(too large\)"),
        ({"netem": {"time": "1s", "jitter": "some"}}, Failed, 'Illegal "latency"'),  # and calls a jitter that, too
        ({"netem": {}}, Failed, 'What is ""?'),
        ({"netem": {"time": "0.5s"}}, Failed, 'What is ""?'),
        ({"netem": {"jitter": "10ms", "reorder": 25}}, Failed, 'What is ""?'),
        ({"netem": {"rate": "quick"}}, ValueError, "'quick' is not a rate"),
        ({"netem": {"time": "1s"}, "protocol": "tcp"}, NotSimulated, r"found \['tcp'\]"),
        ({"netem": {"time": "1s"}, "source_port": "80"}, NotSimulated, r"found \['80'\]"),
        ({"netem": {"time": "1s"}, "egress_port": "81"}, NotSimulated, r"found \['81'\]"),
    ],
)
def test_invalid_traffic_control_is_refused(message: Any, fields: Any, error: type[ValueError], words: str) -> None:
    with pytest.raises(error, match=words) as caught:
        parse_traffic_rule("pod-1", message("tc", **fields))
    assert type(caught.value) is error or error is ValueError


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"direction": "INPUT"}, {"direction": "INPUT"}),
        ({"direction": "OUTPUT"}, {"direction": "OUTPUT"}),
        ({}, {"direction": "INPUT"}),
        ({"direction": "OUTPUT", "device": "eth1"}, {"direction": "OUTPUT", "device": "eth1"}),
    ],
)
def test_chain_drops_packets_in_its_direction(message: Any, fields: Any, expected: Any) -> None:
    rule = parse_filter_rule("pod-1", message("chain", name="x", target="DROP", ipsets=["a", "b"], **fields))
    assert rule == NetworkRule(
        NetworkEffect(**{"pod_uid": "pod-1", "drop": True, "device": "eth0"} | expected), ("a", "b")
    )


@pytest.mark.parametrize(
    ("fields", "error", "words"),
    [
        ({"target": "ACCEPT"}, ValueError, "chain x: target 'ACCEPT', expected DROP"),
        ({}, ValueError, "chain x: target '', expected DROP"),
        ({"target": "DROP", "direction": 7}, ValueError, "chain x: unknown direction 7"),
        ({"target": "DROP", "protocol": "tcp"}, NotSimulated, "'tcp'"),
        ({"target": "DROP", "source_ports": "80"}, NotSimulated, "'80'"),
        ({"target": "DROP", "destination_ports": "81"}, NotSimulated, "'81'"),
        ({"target": "DROP", "tcp_flags": "SYN"}, NotSimulated, "'SYN'"),
    ],
)
def test_invalid_chain_is_refused(message: Any, fields: Any, error: type[ValueError], words: str) -> None:
    with pytest.raises(error, match=words):
        parse_filter_rule("pod-1", message("chain", name="x", **fields))


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"type": "hash:net"}, AddressSet()),
        ({"type": "hash:net", "cidrs": ["10.0.0.9/32", "10.1.2.3/16", "10.0.0.7"]},
         AddressSet(("10.0.0.9/32", "10.1.0.0/16", "10.0.0.7/32"))),
        ({"type": "list:set", "set_names": ["b", "a"]}, AddressSet(sets=("b", "a"))),
        ({"type": "list:set"}, AddressSet()),
        ({"type": "hash:net,port"}, AddressSet()),
    ],
)  # fmt: skip
def test_address_sets(message: Any, fields: Any, expected: AddressSet) -> None:
    assert parse_address_set(message("ipset", name="x", **fields)) == expected


@pytest.mark.parametrize(
    ("fields", "error", "words"),
    [
        ({"type": "hash:ip"}, ValueError, "ipset x: unexpected type 'hash:ip'"),
        ({"type": "hash:net", "cidrs": ["here"]}, ValueError, "here"),
        ({"type": "hash:net,port", "cidr_and_ports": [{"cidr": "10.0.0.1/32"}]}, NotSimulated,
         "ipset x: targets with a port are not simulated"),
    ],
)  # fmt: skip
def test_invalid_ipset_is_refused(message: Any, fields: Any, error: type[ValueError], words: str) -> None:
    with pytest.raises(error, match=words):
        parse_address_set(message("ipset", name="x", **fields))


EFFECT = NetworkEffect(pod_uid="pod-1", delay=1.0)
SETS = {
    "all": AddressSet(sets=("net", "port", "more")),
    "net": AddressSet(("10.0.0.9/32", "10.0.0.7/32")),
    "more": AddressSet(("10.0.0.7/32",), ("last",)),
    "last": AddressSet(("10.0.0.8/32",), ("all",)),
    "port": AddressSet(),
    "list": AddressSet(sets=("port", "gone")),
    "self": AddressSet(sets=("self",)),
}


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ((), None),
        (("net",), ("10.0.0.7/32", "10.0.0.9/32")),
        (("net", "last"), ("10.0.0.7/32", "10.0.0.8/32", "10.0.0.9/32")),
        (("all",), ("10.0.0.7/32", "10.0.0.8/32", "10.0.0.9/32")),
        (("port",), "nobody"),
        (("list",), "nobody"),
        (("gone",), "nobody"),
        (("self",), "nobody"),
        (("port", "net"), ("10.0.0.7/32", "10.0.0.9/32")),
    ],
)
def test_rule_applies_to_members_of_its_ipsets(names: tuple[str, ...], expected: Any) -> None:
    """A rule without a set applies to every peer, one with empty sets to none."""
    found = resolve_peers(NetworkRule(EFFECT, names), SETS)
    if expected == "nobody":
        assert found is None
    else:
        assert found == NetworkEffect(pod_uid="pod-1", delay=1.0, peers=expected or ())
        assert list_members(names, SETS) == (expected or ())
