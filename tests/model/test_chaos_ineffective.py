"""Fields of experiments by which Chaos Mesh finds nothing, and unusual ones that have an effect."""

from typing import Any

import pytest

from scenario_kit.lab.twin.numeric.correlated_draws import compute_share
from scenario_kit.model.chaos.ineffective import estimate_share, find_ineffective_fields

Spec = dict[str, Any]


def files(path: str, volume: str = "/data") -> Spec:
    return {"volumePath": volume, "path": path}


def reorder(percent: str, correlation: str) -> Spec:
    return {"delay": {"latency": "2s", "jitter": "0ms", "reorder": {"reorder": percent, "correlation": correlation}}}


def loss(percent: str, correlation: str) -> Spec:
    return {"loss": {"loss": percent, "correlation": correlation}}


INEFFECTIVE: list[tuple[str, Spec, tuple[str | int, ...], str]] = [
    ("HTTPChaos", {"path": "api/*"}, ("path",), "begin with /"),
    ("HTTPChaos", {"path": " /api"}, ("path",), "begin with /"),
    ("HTTPChaos", {"path": "/a b"}, ("path",), "white space"),
    ("IOChaos", files("data/*"), ("path",), "the volume at /data"),
    ("IOChaos", files("/other/*"), ("path",), "the volume at /data"),
    ("IOChaos", files("/datafile"), ("path",), "the volume at /data"),
    ("IOChaos", files("/data"), ("path",), "the volume at /data"),
    ("IOChaos", files("/database/**/*", "/data/"), ("path",), "the volume at /data"),
    ("DNSChaos", {"patterns": ["a", "*.local"]}, ("patterns", 1), "not its last letter"),
    ("DNSChaos", {"patterns": ["a b"]}, ("patterns", 0), "no name has such letters"),
    ("DNSChaos", {"patterns": [""]}, ("patterns", 0), "no name has such letters"),
    ("DNSChaos", {"patterns": ["a", "b", "a"]}, ("patterns", 2), "there already"),
    ("DNSChaos", {"patterns": ["a", "a."]}, ("patterns", 1), "there already"),
    ("DNSChaos", {"patterns": ["a*", "a*"]}, ("patterns", 1), "there already"),
    ("JVMChaos", {"class": "com.example Cart", "method": "add"}, ("class",), "no class of such a name"),
    ("JVMChaos", {"class": "Cart", "method": "add("}, ("method",), "no method of such a name"),
    ("JVMChaos", {"class": "Cart", "method": "add-item"}, ("method",), "no method of such a name"),
    ("NetworkChaos", loss("40", "100"), ("loss", "correlation"), "chance decides"),
    ("NetworkChaos", loss("40", "99"), ("loss", "correlation"), "leaves 0.0 %"),
    ("NetworkChaos", loss("20", "75"), ("loss", "correlation"), "of the 20 %"),
    ("NetworkChaos", {"corrupt": {"corrupt": "15", "correlation": "60"}}, ("corrupt", "correlation"), "of the 15 %"),
    (
        "NetworkChaos",
        {"delay": {"latency": "2s", "jitter": "1s", "correlation": "100"}},
        ("delay", "correlation"),
        "how late all packets are",
    ),
    ("NetworkChaos", reorder("25", "100"), ("delay", "reorder", "correlation"), "all packets overtake or none"),
]
EFFECTIVE: list[tuple[str, Spec]] = [
    ("HTTPChaos", {"path": "*"}),
    ("HTTPChaos", {"path": "?api/*"}),
    ("HTTPChaos", {"path": "/api/[id]%20x"}),
    ("HTTPChaos", {}),
    ("IOChaos", files("")),
    ("IOChaos", files("**")),
    ("IOChaos", files("/*/log")),
    ("IOChaos", files("/da?a/log")),
    ("IOChaos", files("/data/**/*", "/data/")),
    ("IOChaos", files("/etc/passwd", "/")),
    ("DNSChaos", {"patterns": []}),
    ("DNSChaos", {"patterns": ["*"]}),
    ("DNSChaos", {"patterns": ["a*", "a", "b.local.", "b?", "c_d"]}),
    ("JVMChaos", {"class": "com.example.Cart$Item", "method": "<init>"}),
    ("JVMChaos", {"class": "^com.example.Ünit", "method": "int add (String, int)"}),
    ("JVMChaos", {}),
    ("NetworkChaos", loss("40", "0")),
    ("NetworkChaos", loss("40", "90")),
    ("NetworkChaos", loss("60", "99")),
    ("NetworkChaos", loss("100", "100")),
    ("NetworkChaos", loss("0.5", "0")),
    ("NetworkChaos", {"delay": {"latency": "2s", "correlation": "100"}}),
    ("NetworkChaos", {"delay": {"latency": "2s", "jitter": "0ms", "correlation": "100"}}),
    ("NetworkChaos", {"delay": {"latency": "2s", "jitter": "1s", "correlation": "99"}}),
    ("NetworkChaos", {"delay": {"latency": "2s", "jitter": "?", "correlation": "100"}}),
    ("NetworkChaos", reorder("25", "99")),
    ("NetworkChaos", reorder("100", "100")),
    ("PodChaos", {"action": "pod-kill"}),
]


@pytest.mark.parametrize(("kind", "spec", "keys", "reason"), INEFFECTIVE)
def test_field_without_a_certain_effect_is_found(
    kind: str, spec: Spec, keys: tuple[str | int, ...], reason: str
) -> None:
    (found,) = find_ineffective_fields({"kind": kind, "metadata": {"name": "x"}, "spec": spec})

    assert found.keys == keys
    assert reason in found.reason


@pytest.mark.parametrize(("kind", "spec"), EFFECTIVE)
def test_unusual_field_with_an_effect_is_not_reported(kind: str, spec: Spec) -> None:
    assert list(find_ineffective_fields({"kind": kind, "metadata": {"name": "x"}, "spec": spec})) == []


@pytest.mark.parametrize("percent", [5, 15, 25, 40, 45, 60, 80])
@pytest.mark.parametrize("correlation", [10, 25, 50, 75, 90, 99])
def test_estimated_share_is_low_where_the_network_of_the_lab_hits_hardly_a_packet(
    percent: float, correlation: float
) -> None:
    hit = 100 * compute_share(percent, correlation)

    assert estimate_share(percent, correlation) == pytest.approx(hit, abs=6)
    assert estimate_share(percent, correlation) >= 1 or hit < 1
