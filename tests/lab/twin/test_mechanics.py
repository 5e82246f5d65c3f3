"""Caches, registries, files and programs of the twin, as tables."""

import base64
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from scenario_kit.catalog import Catalog
from scenario_kit.lab.twin import View
from scenario_kit.lab.twin.client_errors.by_language import describe_cause
from scenario_kit.lab.twin.cluster.files import parse_configuration, read_mounted
from scenario_kit.lab.twin.network.connections import find_timeout
from scenario_kit.lab.twin.network.endpoints import Destination
from scenario_kit.lab.twin.network.registry import ServiceRegistries
from scenario_kit.lab.twin.numeric.batches import Batch
from scenario_kit.lab.twin.outcome import ConnectionOutcome
from scenario_kit.lab.twin.process.process import Crash, ProcessKey, holds, identify
from scenario_kit.lab.twin.requests.caches import misses
from scenario_kit.lab.twin.runtime import process_faults
from scenario_kit.model import Ledger
from scenario_kit.model.twin.decode import decode
from scenario_kit.model.twin.definition import TwinDefinition


@pytest.fixture(scope="module")
def hotel() -> TwinDefinition:
    app = Catalog().app("hotel-reservation", "6ecb097")
    assert app.twin is not None
    return app.twin


@pytest.mark.parametrize(
    ("held", "requests", "least", "most", "after"),
    [
        (0.0, 1.0, 60, 100, 80.0),  # about as many misses as there are keys
        (0.0, 27.0, 3, 40, 80.0),  # each answer brings many
        (80.0, 5.0, 0, 0, 80.0),
        (79.9999, 5.0, 0, 0, 80.0),
        (0.0, 0.0, 0, 0, 0.0),  # nobody asks for anything
    ],
)
def test_cache_hit_rate_grows_with_requests(held: float, requests: float, least: int, most: int, after: float) -> None:
    n = 2000
    at = np.linspace(15.0, 0.0, n)  # the last of the batch comes first
    draws = np.random.default_rng(1).random(n)
    missed, full = misses(held, 80.0, np.full(n, requests), at, draws)
    assert least <= missed.sum() <= most
    assert full == pytest.approx(after, abs=0.01)
    if missed.any():
        assert at[missed].mean() < at.mean(), "early calls miss"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": "b", "n": 5, "d": {}, "yes": true, "none": null, "l": ["x"]}', {"a": "b", "n": "5"}),
        ('{"d": {"a": "b", "e": {"n": 1.5}}}', {"d.a": "b", "d.e.n": "1.5"}),
        ('{"a":' * 5000, {}),
        ("[1]", {}),
        ("{", {}),
        ("", {}),
    ],
)
def test_configuration(text: str, expected: dict[str, str]) -> None:
    assert parse_configuration(text) == expected


def _pod(volume: dict[str, Any], **mount: Any) -> tuple[View, dict[str, Any], dict[str, Any]]:
    container = {"name": "c", "volumeMounts": [{"name": "v", **mount}]}
    pod = {"spec": {"volumes": [{"name": "v", **volume}], "containers": [container]}}
    objects = {
        "ConfigMap": {"m": {"data": {"x.json": "config"}}},
        "Secret": {"s": {"data": {"x.json": base64.b64encode(b"secret").decode()}}},
    }
    return View("shop", objects, Ledger(), 1), pod, container


@pytest.mark.parametrize(
    ("volume", "mount", "expected"),
    [
        ({"configMap": {"name": "m"}}, {"mountPath": "/etc/x.json", "subPath": "x.json"}, "config"),
        ({"configMap": {"name": "m"}}, {"mountPath": "/etc"}, "config"),
        ({"configMap": {"name": "m"}}, {"mountPath": "/etc/x.json", "subPath": "y.json"}, None),
        ({"configMap": {"name": "m"}}, {"mountPath": "/opt"}, None),
        ({"configMap": {"name": "gone"}}, {"mountPath": "/etc"}, None),
        ({"configMap": {"name": "m", "items": [{"key": "x.json", "path": "z.json"}]}}, {"mountPath": "/etc"}, None),
        ({"configMap": {"name": "m", "items": [{"key": "x.json", "path": "x.json"}]}}, {"mountPath": "/etc"}, "config"),
        ({"secret": {"secretName": "s"}}, {"mountPath": "/etc"}, "secret"),
        ({"emptyDir": {}}, {"mountPath": "/etc"}, None),
    ],
)
def test_mounted_files(volume: dict[str, Any], mount: dict[str, Any], expected: str | None) -> None:
    assert read_mounted(*_pod(volume, **mount), "/etc/x.json") == expected


_GO = "deathstarbench/hotel-reservation:latest"


@pytest.mark.parametrize(
    ("spec", "component"),
    [
        ({"name": "hotel-reserv-geo", "image": _GO, "command": ["geo"]}, "geo"),
        ({"name": "hotel-reserv-geo", "image": _GO, "command": ["/go/bin/user"]}, "user"),
        ({"name": "hotel-reserv-geo", "image": _GO, "args": ["rate"]}, "rate"),
        ({"name": "hotel-reserv-geo", "image": _GO}, ""),
        ({"name": "hotel-reserv-rate-mongo", "image": "mongo:4.4.6"}, "mongodb-rate"),
        ({"name": "another", "image": "mongo:4.4.6"}, ""),
    ],
)
def test_component_is_identified_by_its_command(hotel: TwinDefinition, spec: dict[str, Any], component: str) -> None:
    assert identify(hotel, spec).component == component


@pytest.mark.parametrize(
    ("image", "program", "expected"),
    [
        (_GO, "geo", True),
        (_GO, "/go/bin/geo", True),
        (_GO, "./geo", False),
        (_GO, "sh", False),
        ("x/y:1", "geo", False),
    ],
)
def test_programs_of_an_image(hotel: TwinDefinition, image: str, program: str, expected: bool) -> None:
    assert holds(hotel, image, program) == expected


def _process(name: str, **fields: Any) -> Any:
    return SimpleNamespace(key=ProcessKey(name, name, "1"), **fields)


def test_registry_watchers_keep_their_last_instances(hotel: TwinDefinition) -> None:
    registries = ServiceRegistries(hotel)
    first, second, client = _process("first"), _process("second"), _process("client")
    service = _process("service", ip="10.0.0.1", listeners=[SimpleNamespace(number=80)])
    place = (Destination("10.0.0.1", 80),)
    assert registries.watch(client, "consul", "srv", None, 0.0) == ()
    registries.announce(first, "srv", service)
    registries.announce(first, "srv", service)
    assert registries.watch(client, "consul", "srv", first, 15.0) == place
    assert registries.watch(client, "consul", "srv", None, 30.0) == place, "unreachable: the old answer stays"
    assert registries.watch(client, "consul", "srv", second, 45.0) == place, "not read yet"
    assert registries.watch(client, "consul", "srv", second, 54.0) == place
    assert registries.watch(client, "consul", "srv", second, 55.0) == ()
    registries.announce(second, "srv", service)
    assert registries.watch(client, "consul", "srv", second, 60.0) == place
    assert registries.watch(_process("new"), "consul", "srv", second, 60.0) == place


@pytest.mark.parametrize(
    ("env", "expected"),
    [({}, 2.0), ({"T": "5"}, 5.0), ({"T": "1.5"}, 0.5), ({"T": "0"}, 0.5), ({"T": ""}, 0.5), ({"T": "x"}, 0.5)],
)
def test_timeouts_from_the_environment(env: dict[str, str], expected: float) -> None:
    edge: dict[str, Any] = {"caller": "a", "callee": "b", "protocol": "memcached", "address": {}}
    document = {
        "components": {"a": {"image": "a"}, "b": {"image": "b", "program": "p"}},
        "load": {"component": "a", "entry": "b/x", "users": {}, "routes": {}},
        "edges": [edge | {"timeoutSeconds": 2, "timeoutEnv": "T", "timeoutFallbackSeconds": 0.5}],
    }
    found = decode(document).edges[0]
    assert find_timeout(found, SimpleNamespace(env=env)) == expected  # type: ignore[arg-type]


def test_process_exit_aborts_running_requests() -> None:
    at, took = np.array([0.0, 1.0, 2.0, 9.0]), np.array([0.5, 5.0, 0.1, 1.0])
    failed = np.zeros(4, dtype=bool)
    batch = Batch(0, at, took, failed, {})
    process_faults.cut_short(SimpleNamespace(crash=Crash(3.0, 0, 2), crash_at=3.0), batch)  # type: ignore[arg-type]
    assert failed.tolist() == [False, True, False, True]
    assert took.tolist() == [0.5, 2.0, 0.1, 0.0]


def test_words_of_the_driver_of_mongodb_and_of_empty_registries() -> None:
    words = describe_cause(
        "go", ConnectionOutcome.CONNECTION_REFUSED, "mongodb", host="mongodb-geo", port=27017, ip="10.96.0.7"
    )
    assert words.startswith("server selection error: server selection timeout")
    assert "Addr: mongodb-geo:27017" in words
    assert "dial tcp 10.96.0.7:27017: connect: connection refused" in words
    assert "zero addresses" in describe_cause("go", ConnectionOutcome.NO_ADDRESSES, "grpc", host="consul", port=8500)
