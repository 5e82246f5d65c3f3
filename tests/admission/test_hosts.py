"""Hosts in texts that programs read: found however they are spelled, and nothing else taken for one."""

from __future__ import annotations

from time import process_time
from typing import Any

import pytest

from scenario_kit.admission import derive_bounds
from scenario_kit.admission.foreign_hosts import is_own_host
from scenario_kit.admission.hosts import LOOPBACK, find_arguments, find_hosts, is_within, parse_registry
from scenario_kit.admission.program_texts import find_sources, list_texts
from scenario_kit.catalog import Catalog


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("http://evil.io/x", ["evil.io"]),
        ("HTTP://EVIL.IO", ["evil.io"]),
        ("postgres://a:b@db.evil.io:5432/x?host=c.evil.io", ["db.evil.io", "c.evil.io"]),
        ("mongodb://a.evil.io:27017,b.evil.io:27017/x", ["a.evil.io", "b.evil.io"]),
        ("http://cart@evil.io/", ["evil.io"]),
        ("http://2852039166/latest", ["169.254.169.254"]),
        ("http://0xA9FEA9FE/", ["169.254.169.254"]),
        ("http://0251.0376.0251.0376/", ["169.254.169.254"]),
        ("http://127.1:6443", ["127.0.0.1"]),
        ("http://[::ffff:a9fe:a9fe]/", ["::ffff:a9fe:a9fe"]),
        ("http://evil%2eio/", ["evil.io"]),
        ("http:\\\\evil.io", ["evil.io"]),
        ("//evil.io/x", ["evil.io"]),
        ("http://evil。io", ["evil.io"]),
        ("http://ｅｖｉｌ.io", ["evil.io"]),
        ("http://exämple.io", ["exämple.io"]),
        ("user:pw@tcp(db.evil.io:3306)/x", ["db.evil.io"]),
        ("see (http://evil.io).", ["evil.io"]),
        ("http:/evil.io/x", ["evil.io"]),
        ("http:///evil.io", ["evil.io"]),
        ("dns:///evil.io:80", ["evil.io"]),
        ("dns:evil.io:443", ["evil.io"]),
        ("dns://8.8.8.8/cart", ["8.8.8.8"]),
        ("ipv4:8.8.8.8:80", ["8.8.8.8"]),
        ("passthrough:///8.8.8.8:80", ["8.8.8.8"]),
        ('{"address": "evil.io:80"}', ["evil.io"]),
        ("brokers: ['evil.io:9092']", ["evil.io"]),
        ("http://cart:8080", []),
        ("dns:///cart:8080", []),
        ("$(HOST):8080", []),
        ("http://${HOST}/x", []),
        ("nginx.conf", []),
        ("/etc/nginx/nginx.conf", []),
        ("com.example.Orders", []),
        ("1.2.3", []),
        ("a // b.c is a comment", []),
        ("  //console.log(order)", []),
        ("GET /api/v1/orders", []),
        ("text/html;q=0.9", []),
        ("http://$ZONE.io/x", ["var-zone.io"]),
        ("http://${ZONE:-evil.io}/x", ["evil.io"]),
        ("http://${HOST:-cart}:8080/x", []),
        ("http://$HOST:$PORT/x", []),
        ("exec 3<>/dev/tcp/evil.io/443", ["evil.io"]),
        ("cat < /dev/tcp/cart/8080", []),
        ("TCP4:evil.io:443", ["evil.io"]),
        ("OPENSSL-CONNECT:evil.io:443,verify=0", ["evil.io"]),
        ("create_connection(('evil.io', 443))", ["evil.io"]),
        ('new Socket("evil.io", 443)', ["evil.io"]),
        ('InetAddress.getByName("evil.io")', ["evil.io"]),
        ('["http.server.duration", 5]', []),
        ('meter.record("http.requests", 1)', []),
        ('new InetSocketAddress("evil.io", 443)', ["evil.io"]),
        ('throw new java.net.ConnectException("refused")', []),
        ("it costs $5.00: pay $1.5:80", []),
    ],
)
def test_hosts_of_a_text(text: str, hosts: list[str]) -> None:
    assert find_hosts(text) == hosts


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("db.evil.io", ["db.evil.io"]),
        ("a.evil.io,b.evil.io:80", ["a.evil.io", "b.evil.io"]),
        ("8.8.8.8", ["8.8.8.8"]),
        ("cart", []),
        ("cart:7070", []),
        (":8080", []),
        ("/var/run/app.sock", []),
        ("xds:db.evil.io", ["db.evil.io"]),
        ("redis:cart:6379", []),
        ("", []),
    ],
)
def test_hosts_of_an_address(text: str, hosts: list[str]) -> None:
    assert find_hosts(text, address=True) == hosts


@pytest.mark.parametrize(
    ("host", "own"),
    [
        ("cart.shop", True),
        ("pod-0.cart.shop.svc.cluster.local", True),
        ("kubernetes.default.svc", True),
        ("kubernetes.kube-system.svc", False),
        ("prometheus.monitoring.svc", False),
        ("missing.example", True),
        ("10.0.0.1", True),
        ("169.254.169.254", False),
        ("8.8.8.8", False),
    ],
)
def test_own_hosts(host: str, own: bool) -> None:
    catalog = Catalog()
    bounds = derive_bounds(catalog.app("otel-demo", catalog.versions("otel-demo")[0]), "shop", ())

    assert is_own_host(host, bounds) is own


@pytest.mark.parametrize("number", ["0", "1", "3", "65535"])
def test_a_number_is_no_foreign_host(number: str) -> None:
    """Variables such as TRUST_PROXY and NUM_BROKERS may hold one."""
    assert all(is_within(host, LOOPBACK) for host in find_hosts(number, address=True))


@pytest.mark.parametrize(
    "text", ["a" * 200_000, "a." * 100_000, "0x" * 100_000, " a:" * 70_000, "http:" + "/" * 200_000]
)
def test_the_time_for_a_long_text_is_linear(text: str) -> None:
    start = process_time()

    find_hosts(text, address=True)
    find_arguments(text)

    assert process_time() - start < 10


@pytest.mark.parametrize(
    ("command", "hosts"),
    [
        ("nc evil.io 443", ["evil.io"]),
        ("nc -zv evil.io 443", ["evil.io"]),
        ("nc 'evil.io' 443", ["evil.io"]),
        ("curl -H 'Host: shop.io' cart:8080", []),
        ("sh -c wget -qO- http://cart/x", []),
        ("wget -O index.html http://cart/x", []),
        ("curl -s --cacert ca.crt cart:8080", []),
        ("nslookup evil.io && echo done.txt", ["evil.io"]),
        ("python app.py --config settings.yaml", []),
    ],
)
def test_hosts_as_words_of_a_command(command: str, hosts: list[str]) -> None:
    assert find_arguments(command) == hosts


@pytest.mark.parametrize(
    ("image", "registry"),
    [
        ("busybox:1.37.0", "docker.io"),
        ("valkey/valkey:9", "docker.io"),
        ("ghcr.io/a/b:1", "ghcr.io"),
        ("localhost:5000/a", "localhost"),
        ("registry.evil.io:5000/a@sha256:0", "registry.evil.io"),
    ],
)
def test_registry_of_an_image(image: str, registry: str) -> None:
    assert parse_registry(image) == registry


def pod(**container: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"containers": [container]}}


def test_references_to_earlier_variables_are_expanded() -> None:
    env = [
        {"name": "ZONE", "value": "evil"},
        {"name": "DB_HOST", "value": "db.$(ZONE).io"},
        {"name": "X", "value": "$(Y)"},
    ]

    assert [read.text for read in list_texts(pod(env=env))] == ["evil", "db.evil.io", "$(Y)"]
    assert [read.hosts for read in list_texts(pod(env=env))] == [[], ["db.evil.io"], []]


@pytest.mark.parametrize(
    ("words", "hosts"),
    [
        (["--upstream=http://db.$(ZONE)/"], ["db.evil.io"]),
        (["wget http://db.${ZONE}/; wget http://$ZONE/"], ["db.evil.io", "evil.io"]),
        (["http://$(HOME_ZONE)/"], []),
    ],
)
def test_variables_in_arguments_are_expanded(words: list[str], hosts: list[str]) -> None:
    found = list_texts(pod(env=[{"name": "ZONE", "value": "evil.io"}], args=words))

    assert [host for read in found for host in read.hosts if read.keys[-2] == "args"] == hosts


SETTINGS = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}, "data": {"zone": "evil.io"}}
CREDENTIALS = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "keys"}, "data": {"zone": "ZXZpbC5pbw=="}}


@pytest.mark.parametrize(
    ("source", "text", "sources"),
    [
        ({"configMapKeyRef": {"name": "settings", "key": "zone"}}, "evil.io", {("ConfigMap", "settings")}),
        ({"secretKeyRef": {"name": "keys", "key": "zone"}}, "evil.io", {("Secret", "keys")}),
        ({"fieldRef": {"fieldPath": "metadata.annotations['zone']"}}, "noted.io", set()),
        ({"fieldRef": {"fieldPath": "metadata.labels['zone']"}}, "labelled.io", set()),
        ({"fieldRef": {"fieldPath": "metadata.namespace"}}, "shop", set()),
    ],
)
def test_variables_from_elsewhere_are_read(source: dict[str, Any], text: str, sources: set[tuple[str, str]]) -> None:
    env = [{"name": "ZONE", "valueFrom": source}, {"name": "DB_HOST", "value": "db.$(ZONE)"}]
    metadata = {
        "name": "a",
        "namespace": "shop",
        "labels": {"zone": "labelled.io"},
        "annotations": {"zone": "noted.io"},
    }
    first, second = list_texts({**pod(env=env), "metadata": metadata}, [SETTINGS, CREDENTIALS])

    assert (first.keys[-1], first.text, first.sources) == ("valueFrom", text, sources)
    assert (second.keys[-1], second.text, second.sources) == ("value", f"db.{text}", sources)


@pytest.mark.parametrize(
    "source",
    [
        {"configMapKeyRef": {"name": "settings", "key": "other"}},
        {"configMapKeyRef": {"name": "other", "key": "zone"}},
        {"fieldRef": {"fieldPath": "status.podIP"}},
        {"fieldRef": "misshapen"},
        {},
        [],
    ],
)
def test_variables_of_unknown_value_are_none(source: Any) -> None:
    assert list(list_texts(pod(env=[{"name": "DB_HOST", "valueFrom": source}]), [SETTINGS])) == []


@pytest.mark.parametrize(("prefix", "address"), [("DB_HOST_", False), ("", False)])
def test_variables_of_a_whole_object_are_read(prefix: str, address: bool) -> None:
    (read,) = list_texts(pod(envFrom=[{"prefix": prefix, "configMapRef": {"name": "settings"}}]), [SETTINGS])

    assert (read.text, read.address, read.sources) == ("evil.io", address, {("ConfigMap", "settings")})


def test_sources_of_variables_are_found() -> None:
    taken = [
        {"name": "A", "valueFrom": {"configMapKeyRef": {"name": "settings", "key": "zone"}}},
        {"name": "B", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
        {"name": "C", "valueFrom": "misshapen"},
    ]
    found = find_sources(pod(env=taken, envFrom=[{"secretRef": {"name": "keys"}}, {"configMapRef": "misshapen"}]))

    assert found == {("ConfigMap", "settings"), ("Secret", "keys")}


def test_labels_in_a_volume_are_read() -> None:
    items = [{"path": "zone", "fieldRef": {"fieldPath": "metadata.labels['zone']"}}]
    spec = {
        "containers": [{"name": "main"}],
        "volumes": [{"name": "info", "projected": {"sources": [{"downwardAPI": {"items": items}}]}}],
    }
    obj = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "labels": {"zone": "http"}}, "spec": spec}

    assert [read.text for read in list_texts(obj)] == ["http"]


def test_variables_that_double_each_other_stay_short() -> None:
    env = [{"name": "A0", "value": "a" * 100}]
    env += [{"name": f"A{i}", "value": f"$(A{i - 1})$(A{i - 1})"} for i in range(1, 60)]

    assert max(len(read.text) for read in list_texts(pod(env=env))) <= 100_000


def test_commands_of_probes_and_hooks_are_read() -> None:
    run = {"exec": {"command": ["wget", "http://evil.io"]}}
    found = list_texts(pod(livenessProbe=run, lifecycle={"preStop": run}))

    assert [read.keys[3:5] for read in found if read.hosts] == [("livenessProbe", "exec"), ("lifecycle", "preStop")]


@pytest.mark.parametrize(("kind", "field"), [("Secret", "data"), ("ConfigMap", "binaryData")])
def test_encoded_files_are_read(kind: str, field: str) -> None:
    obj = {
        "apiVersion": "v1",
        "kind": kind,
        "metadata": {"name": "a"},
        field: {"x": "aHR0cDovL2V2aWwuaW8=", "y": "not base64!"},
    }

    assert next(read.text for read in list_texts(obj)) == "http://evil.io"


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("# see https://nginx.org/en/docs\nlisten 80;", []),
        ('<configuration xmlns="http://www.w3.org/2001/XMLSchema">', []),
        ('{"$schema": "https://json-schema.org/draft/2020-12/schema", "url": "http://evil.io"}', ["evil.io"]),
        ("#!/bin/sh\nwget http://evil.io # now", ["evil.io"]),
        ("a: 1 # http://evil.io", ["evil.io"]),
    ],
)
def test_comments_and_identifiers_of_files_are_no_addresses(text: str, hosts: list[str]) -> None:
    obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"x": text}}

    assert [host for read in list_texts(obj) for host in read.hosts] == hosts
