"""The pure parts of the twin, as tables."""

import base64
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenario_kit.lab.twin import View
from scenario_kit.lab.twin.address import Address, parse
from scenario_kit.lab.twin.call_tree.spans import SpanMetrics, SpanName
from scenario_kit.lab.twin.cluster.environment import build_environment
from scenario_kit.lab.twin.cluster.network_policy import Party, is_allowed, matches
from scenario_kit.lab.twin.engine import Twin
from scenario_kit.lab.twin.network.packet_effects import TrafficShape
from scenario_kit.lab.twin.network.traffic_shaping import compute_delays
from scenario_kit.lab.twin.numeric.random_streams import Streams
from scenario_kit.lab.twin.runtime.flags import read_values
from scenario_kit.lab.twin.runtime.resources import compute_slowdown
from scenario_kit.lab.twin.startup.init_wait import Script, waits
from scenario_kit.model import Ledger
from scenario_kit.model.kubernetes.image import normalize_image
from scenario_kit.model.kubernetes.quantity import parse_quantity
from scenario_kit.model.twin import decode
from scenario_kit.model.twin.definition import TwinConstants
from tests.lab.twin import tiny


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cart:8080", Address("cart", 8080)),
        ("http://quote:8080", Address("quote", 8080)),
        ("http://quote", Address("quote", 80)),
        ("https://quote/x", Address("quote", 443, tls=True)),
        ("http://quote:none", Address("", 0)),
        ("postgres://u:p%40@db/otel?sslmode=disable", Address("db", 5432, "u", "p@", "otel")),
        ("Host=db;Username=u;Password=p;Database=otel", Address("db", 9, "u", "p", "otel")),
        ("host=db port=5433 user=u password=p dbname=otel", Address("db", 5433, "u", "p", "otel")),
        ("postgres://db/otel?sslmode=require", Address("db", 5432, database="otel", tls=True)),
        ("postgres://db/otel?sslmode=prefer", Address("db", 5432, database="otel")),
        ("Host=db;SSL Mode=VerifyFull", Address("db", 9, tls=True)),
        ("rediss://cart:6379", Address("cart", 6379, tls=True)),
        ("mongodb://u:p@db/x", Address("db", 27017, "u", "p")),
        ("mongodb://u:p@db-0:1,db-1:2/x?replicaSet=rs0", Address("db-0", 1, "u", "p")),
        ("kafka-0:9092,kafka-1:9092", Address("kafka-0", 9092)),
        ("amqp://guest:guest@rabbit/orders", Address("rabbit", 5672, "guest", "guest")),
        ("jdbc:postgresql://db/shop?user=u&password=p", Address("db", 5432, "u", "p", "shop")),
        ("jdbc:mysql://db:3307/shop?sslMode=REQUIRED", Address("db", 3307, database="shop", tls=True)),
        ("jdbc:sqlserver://db:1433;databaseName=shop;user=sa;password=p", Address("db", 1433, "sa", "p", "shop")),
        ("mysql+pymysql://u:p@db/shop", Address("db", 3306, "u", "p", "shop")),
        ("u:p@tcp(db:3307)/shop?parseTime=true", Address("db", 3307, "u", "p", "shop")),
        ("u@tcp(db)/shop", Address("db", 3306, "u", "", "shop")),
        ("Server=tcp:db,1433;Initial Catalog=shop;User Id=sa;Pwd=p", Address("db", 1433, "sa", "p", "shop")),
        ("Server=db;Port=3306;Database=shop;Uid=u;Pwd=p", Address("db", 3306, "u", "p", "shop")),
        ("Addr=db:6379;User=u", Address("db", 6379, "u")),
        ("u:p@db-0:27018,db-1", Address("db-0", 27018, "u", "p")),
        ("u:p@db", Address("db", 9, "u", "p")),
        ("dns:///cart:8080", Address("cart", 8080)),
        ("passthrough:///cart", Address("cart", 9)),
        ("dns://10.96.0.10/cart:8080", Address("cart", 8080)),
        ("[::1]:80", Address("::1", 80)),
        ("http://[::1]:81/x", Address("::1", 81)),
        ("", Address("", 9)),
        ("valkey-cart", Address("valkey-cart", 9)),
    ],
)
def test_addresses(text: str, expected: Address) -> None:
    assert parse(text, 9) == expected


@given(st.text(alphabet="ab:/@[]()?=;,.#%0+ \n\u0660\u00b2", max_size=24))
def test_no_value_of_a_variable_is_too_odd(text: str) -> None:
    for odd in (text, f"http://{text}", f"jdbc:mysql://{text}", f"Host={text};Port={text}"):
        assert parse(odd, 9).port >= 0


@pytest.mark.parametrize(
    ("quantity", "expected"),
    [
        ("150m", 0.15),
        ("64Mi", 64 * 2.0**20),
        ("2", 2.0),
        (1, 1.0),
        ("1k", 1000.0),
        ("1e3", 1000.0),
        ("0.1m", 0.0001),
        ("3m", 0.003),
    ],
)
def test_quantities(quantity: Any, expected: float) -> None:
    assert parse_quantity(quantity) == expected


def _view(**kinds: Any) -> View:
    return View("shop", kinds, Ledger(), 1)


def test_environment_of_a_container() -> None:
    view = _view(
        ConfigMap={"c": {"data": {"KEY": "from-map", "OTHER": "other"}}},
        Secret={
            "s": {
                "data": {"PASSWORD": base64.b64encode(b"hush").decode(), "BINARY": base64.b64encode(b"\xff").decode()}
            }
        },
    )
    pod = {
        "metadata": {"name": "p", "labels": {"a/b": "label"}},
        "spec": {"nodeName": "n"},
        "status": {"podIP": "10.0.0.9"},
    }
    container = {
        "resources": {"limits": {"memory": "64Mi"}},
        "envFrom": [{"configMapRef": {"name": "c"}, "prefix": "MAP_"}, {"secretRef": {"name": "s"}}],
        "env": [
            {"name": "HOST", "value": "db"},
            {"name": "URL", "value": "http://$(HOST):$(NOT_YET)/$$(HOST)"},
            {"name": "NOT_YET", "value": "1"},
            {"name": "TWICE", "value": "first"},
            {"name": "TWICE", "value": "second"},
            {"name": "FROM_MAP", "valueFrom": {"configMapKeyRef": {"name": "c", "key": "KEY"}}},
            {"name": "FROM_SECRET", "valueFrom": {"secretKeyRef": {"name": "s", "key": "PASSWORD"}}},
            {"name": "GONE", "valueFrom": {"configMapKeyRef": {"name": "c", "key": "absent", "optional": True}}},
            {"name": "IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
            {"name": "LABEL", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['a/b']"}}},
            {"name": "LIMIT", "valueFrom": {"resourceFieldRef": {"resource": "limits.memory"}}},
        ],
    }
    found = build_environment(view, pod, container)
    assert {name: value for name, value in found.items() if not name.startswith("KUBERNETES_")} == {
        "MAP_KEY": "from-map", "MAP_OTHER": "other", "PASSWORD": "hush", "HOST": "db",
        "URL": "http://db:$(NOT_YET)/$(HOST)", "NOT_YET": "1", "TWICE": "second", "FROM_MAP": "from-map",
        "FROM_SECRET": "hush",
        "IP": "10.0.0.9", "LABEL": "label", "LIMIT": "64Mi",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ({}, True),
        (None, False),
        ({"matchLabels": {"a": "1"}}, True),
        ({"matchLabels": {"a": "2"}}, False),
        ({"matchExpressions": [{"key": "a", "operator": "In", "values": ["1", "2"]}]}, True),
        ({"matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["1"]}]}, False),
        ({"matchExpressions": [{"key": "b", "operator": "NotIn", "values": ["1"]}]}, True),
        ({"matchExpressions": [{"key": "a", "operator": "Exists"}]}, True),
        ({"matchExpressions": [{"key": "b", "operator": "DoesNotExist"}]}, True),
        ({"matchLabels": {"a": "1"}, "matchExpressions": [{"key": "a", "operator": "DoesNotExist"}]}, False),
    ],
)
def test_label_selectors(selector: Any, expected: bool) -> None:
    assert matches(selector, {"a": "1"}) is expected


HERE = {"kubernetes.io/metadata.name": "shop"}
SOURCE = Party({"app": "a"}, HERE, "10.0.0.1")
TARGET = Party({"app": "b"}, HERE, "10.0.0.2", {"web": 80})


EXCEPT_US = {"cidr": "10.0.0.0/8", "except": ["10.0.0.0/9"]}
A, B = {"matchLabels": {"app": "a"}}, {"matchLabels": {"app": "b"}}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"podSelector": {"matchLabels": {"app": "c"}}}, True),
        ({"podSelector": {}}, False),
        ({"podSelector": {}, "policyTypes": ["Egress"]}, False),
        ({"podSelector": {}, "policyTypes": ["Egress"], "egress": [{}]}, True),
        ({"podSelector": B, "ingress": [{}]}, True),
        ({"podSelector": B, "ingress": [{"from": []}]}, True),
        ({"podSelector": B, "ingress": [{"from": [{"podSelector": A}]}]}, True),
        ({"podSelector": B, "ingress": [{"from": [{"podSelector": {"matchLabels": {"app": "x"}}}]}]}, False),
        ({"podSelector": B, "ingress": [{"from": [{"namespaceSelector": {}}]}]}, True),
        ({"podSelector": B, "ingress": [{"from": [{"namespaceSelector": {"matchLabels": {"x": "y"}}}]}]}, False),
        ({"podSelector": B, "ingress": [{"ports": [{"port": 80}]}]}, True),
        ({"podSelector": B, "ingress": [{"ports": [{"port": "web"}]}]}, True),
        ({"podSelector": B, "ingress": [{"ports": [{"port": 70, "endPort": 90}]}]}, True),
        ({"podSelector": B, "ingress": [{"ports": [{"port": 81}]}]}, False),
        ({"podSelector": B, "ingress": [{"ports": [{"port": 80, "protocol": "UDP"}]}]}, False),
        ({"podSelector": B, "ingress": [{"from": [{"ipBlock": {"cidr": "10.0.0.0/8"}}]}]}, True),
        ({"podSelector": B, "ingress": [{"from": [{"ipBlock": EXCEPT_US}]}]}, False),
    ],
)  # fmt: skip
def test_network_policies(spec: Any, expected: bool) -> None:
    assert is_allowed([{"spec": spec}], SOURCE, TARGET, 80) is expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("until nc -z -v -w30 kafka 9092; do echo waiting for kafka; sleep 2; done;", [("kafka", 9092)]),
        ("until nc -z -w 30 kafka 9092; do sleep 2; done", [("kafka", 9092)]),
        ("while ! nc -z db:5432; do sleep 1; done", [("db", 5432)]),
        ("until nslookup db; do sleep 1; done", [("db", 0)]),
        ("until curl -s http://web:8080/health; do sleep 1; done", [("web", 8080)]),
        ("cp /a /b && cat /b", []),
    ],
)
def test_init_container_waits_are_parsed(command: str, expected: list[tuple[str, int]]) -> None:
    assert [(w.host, w.port) for w in waits(Script(command, "i"))] == expected


def test_init_commands_may_hang_fail_or_sleep() -> None:
    assert waits(Script("sleep infinity", "i"))[0].forever
    assert waits(Script("tail -f /dev/null", "i"))[0].forever
    assert waits(Script("sh -c exit 3", "i"))[0].code == 3
    assert waits(Script("sleep 20", "i"))[0].seconds == 20


def test_lossy_law() -> None:
    """Of many messages at 20 % loss the share p^k·(1-p) is 0.2·(2^k-1) s late (docs/fidelity.md)."""
    draws = np.random.default_rng(1).random((2, 200_000))
    late = compute_delays(TrafficShape(loss=0.2), draws, TwinConstants())
    for k in range(4):
        share = float(np.mean(np.isclose(late, 0.2 * (2**k - 1))))
        assert share == pytest.approx(0.2**k * 0.8, abs=0.004)


def test_retransmission_delay_is_bounded_as_in_linux() -> None:
    """Waits double up to 120 s (TCP_RTO_MAX), and after 15 (tcp_retries2) the connection is given up."""
    draws = np.array([[0.5, 0.5], [1.0 - 0.9**10.5, 1.0 - 1e-16]])
    late = compute_delays(TrafficShape(loss=0.9), draws, TwinConstants())
    assert late == pytest.approx([0.2 * (2**10 - 1), 0.2 * (2**10 - 1) + 5 * 120.0])


def test_jittered_delay_stays_within_bounds() -> None:
    draws = np.random.default_rng(1).random((2, 1000))
    late = compute_delays(TrafficShape(delay=0.1, jitter=0.02), draws, TwinConstants())
    assert late.min() >= 0.08
    assert late.max() <= 0.12
    assert compute_delays(TrafficShape(rate=1024.0), draws, TwinConstants())[0] == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("delay", "jitter", "prompt", "share", "least", "most"),
    [
        (0.01, 0.0, 0.0, 0.0, 0.01, 0.01),
        (60.0, 0.0, 0.0, 0.0, 60.0, 60.0),
        (0.1, 0.3, 0.0, 0.348, 0.0, 0.4),  # what would be earlier than now is sent now
        (2.0, 0.0, 0.25, 0.25, 0.0, 2.0),
        (2.0, 0.1, 0.9, 0.9, 0.0, 2.1),
    ],
)
def test_delay_at_extremes(delay: float, jitter: float, prompt: float, share: float, least: float, most: float) -> None:
    draws = np.random.default_rng(1).random((2, 20000))
    late = compute_delays(TrafficShape(delay=delay, jitter=jitter, prompt=prompt), draws, TwinConstants())
    assert float((late == 0.0).mean()) == pytest.approx(share, abs=0.01)
    assert (late.min(), late.max()) == pytest.approx((least, most), abs=0.01)
    if prompt:
        assert late[late > 0].mean() == pytest.approx(delay, rel=0.02), "those with a delay are as late as without it"


@pytest.mark.parametrize(
    ("load", "expected"), [(0.0, 1.0), (0.7, 1.0), (0.8, 5.0), (0.9, 10.0), (1.0, 50.0), (7.0, 50.0)]
)
def test_queueing(load: float, expected: float) -> None:
    assert compute_slowdown(load) == pytest.approx(expected)


def test_random_streams_depend_on_their_key_only() -> None:
    one, other = Streams(5), Streams(5)
    for streams in (one, other):
        streams.at(3)
    other.uniform(99, 10)  # another draw in between
    assert np.array_equal(one.uniform(1, 8), other.uniform(1, 8))
    assert not np.array_equal(one.uniform(1, 8), one.uniform(1, 8, ordinal=1))
    first = one.uniform(1, 8)
    one.at(4)
    assert not np.array_equal(first, one.uniform(1, 8))
    assert not np.array_equal(first, Streams(6).uniform(1, 8))
    fixed = one.anytime(1)
    one.at(9)
    assert one.anytime(1) == fixed


def test_spans_are_counted_at_their_end_by_bucket() -> None:
    metrics = SpanMetrics()
    name = SpanName("a", "s", "SERVER")
    metrics.record(name, np.array([10.0, 20.0, 40.0]), np.array([0.002, 0.009, 12.0]), np.array([False, True, False]))
    metrics.flush(30.0)
    samples = {
        (metric, dict(labels).get("le"), dict(labels)["status_code"]): v
        for (metric, labels), v in metrics.samples("n").items()
    }
    bucket, calls = "traces_span_metrics_duration_milliseconds_bucket", "traces_span_metrics_calls_total"
    assert samples[calls, None, "STATUS_CODE_UNSET"] == 1
    assert samples[bucket, "2", "STATUS_CODE_UNSET"] == 1, "bounds are inclusive"
    assert samples[bucket, "8", "STATUS_CODE_ERROR"] == 0
    assert samples[bucket, "10", "STATUS_CODE_ERROR"] == samples[bucket, "+Inf", "STATUS_CODE_ERROR"] == 1
    metrics.flush(45.0)
    assert sum(v for (metric, _), v in metrics.samples("n").items() if metric == calls) == 3
    _, labels = next(iter(metrics.samples("n")))
    assert list(labels) == sorted(labels)
    assert ("namespace", "n") in labels


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        ("busybox", "docker.io/library/busybox:latest"),
        ("postgres:17.6", "docker.io/library/postgres:17.6"),
        ("valkey/valkey:9", "docker.io/valkey/valkey:9"),
        ("ghcr.io/a/b:1", "ghcr.io/a/b:1"),
        ("localhost:5000/a", "localhost:5000/a:latest"),
    ],
)
def test_image_names(image: str, expected: str) -> None:
    assert normalize_image(image) == expected


def test_flag_documents() -> None:
    document = """{"flags": {
        "a": {"state": "ENABLED", "variants": {"on": true, "off": false}, "defaultVariant": "on"},
        "b": {"state": "ENABLED", "variants": {"half": 0.5}, "defaultVariant": "half"},
        "c": {"state": "DISABLED", "variants": {"on": true}, "defaultVariant": "on"},
        "d": {"state": "ENABLED", "variants": {"on": "text"}, "defaultVariant": "on"}}}"""
    assert read_values(document) == {"a": 1.0, "b": 0.5}
    assert read_values("{") == read_values("[]") == read_values("") == {}


def test_assumptions_are_replaced_by_name() -> None:
    assert tiny.DEFINITION.edges[2].timeout_seconds == 2.0
    assert tiny.DEFINITION.with_assumptions({"boxSeconds": 4.0}).edges[2].timeout_seconds == 4.0
    with pytest.raises(ValueError, match="boxSecond"):
        Twin(tiny.app(), 1, {"boxSecond": 4.0})
    with pytest.raises(ValueError, match="there is no assumption"):
        decode({**tiny.TWIN, "assumptions": {}})


def test_inconsistent_definition_is_refused() -> None:
    with pytest.raises(ValueError, match="no edge"):
        Twin(tiny.app(edges=[]), 1)
    components = {**tiny.TWIN["components"], "api": {"image": "x"}}
    with pytest.raises(ValueError, match="'api/Read' is called but not defined"):
        Twin(tiny.app(components=components), 1)
