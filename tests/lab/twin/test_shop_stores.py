"""Faults inside the shop's stores, as they are rendered: what their commands do to those who use the store."""

from collections.abc import Callable

import pytest

from scenario_kit.catalog import Catalog
from scenario_kit.model import Reference
from scenario_kit.model.authored.scenario import FaultUse
from scenario_kit.render import render_fault
from tests.lab.twin.twin_cluster import TwinCluster, stamp

# abortConnect=false: the client throws nothing, so cart cannot say why (ValkeyCartStore.EnsureRedisConnected).
LOST = "Wasn't able to connect to redis"
BARRED = 'pq: role "otelu" is not permitted to log in'
DENIED = "pq: permission denied for table products"
FULL = "pq: sorry, too many clients already"


def container(little, spec, name):
    """A pod of this one container runs from now on."""
    entry = {"name": spec["name"], "containerID": f"containerd://{name}", "restartCount": 0}
    metadata = {"name": name, "uid": f"u-{name}", "labels": {}, "annotations": {"workload": name}}
    metadata["creationTimestamp"] = stamp(little.now)
    status = {"phase": "Running", "podIP": "10.99.0.1", "containerStatuses": [entry]}
    pod = {"kind": "Pod", "metadata": metadata, "spec": {"containers": [spec], "nodeName": "n"}, "status": status}
    little.kinds["Pod"][name] = pod
    start = little.twin.start(pod, spec["name"], little.now)
    entry["state"] = {"terminated": {}} if start.exit else {"running": {"startedAt": stamp(little.now)}}
    little.version += 1
    return start


def make(little, shop, changes):
    for change in changes:
        if change.operation.runs_command:
            client = shop.client(change.operation.client)
            spec = {"name": "c", "image": client.image, "command": change.operation.command, "env": list(client.env)}
            assert container(little, spec, f"task-{little.now}").exit.code == 0
        else:
            spec = change.operation.manifest["spec"]["template"]["spec"]["containers"][0]
            assert container(little, spec, "holder").exit is None
        little.run(15)


@pytest.mark.parametrize(
    ("who", "edit", "words"),
    [
        ("product-catalog", ("/otel?", "/otel2?"), 'pq: database "otel2" does not exist'),
        ("product-catalog", ("/otel?", "?"), 'pq: database "otelu" does not exist'),
        ("product-catalog", ("/otel?", "/postgres?"), ""),
        ("product-reviews", ("dbname=otel", "dbname=otel-v1"), 'FATAL:  database "otel-v1" does not exist'),
        ("product-catalog", ("sslmode=disable", "sslmode=require"), "pq: SSL is not enabled on the server"),
        ("product-reviews", ("dbname=otel", "dbname=otel sslmode=require"), "server does not support SSL, but"),
        ("accounting", ("Database=otel", "Database=Otel"), '3D000: database "Otel" does not exist'),
    ],
)
def test_missing_database_or_tls_is_logged(cluster: Callable[..., TwinCluster], who, edit, words) -> None:
    little = cluster(warm=60.0)
    (container,) = little.get("Deployment", who)["spec"]["template"]["spec"]["containers"]
    url = next(e["value"] for e in container["env"] if e["name"] == "DB_CONNECTION_STRING")
    little.env(who, "DB_CONNECTION_STRING", url.replace(*edit))
    little.run(240)
    reported = "\n".join(line.text for line in little.logs)
    assert words in reported
    assert ("does not exist" in reported) == ("does not exist" in words)


def test_store_with_another_database_is_logged(cluster: Callable[..., TwinCluster]) -> None:
    little = cluster(warm=60.0)
    little.env("postgresql", "POSTGRES_DB", "shop")
    little.run(120)
    assert 'pq: database "otel" does not exist' in "\n".join(line.text for line in little.logs)


@pytest.mark.parametrize(
    ("args", "address", "opens"),
    [
        (["--requirepass", "$(WORD)"], "valkey-cart:6379", False),
        (["--requirepass", "$(WORD)"], "redis://:other@valkey-cart:6379", False),
        (["--requirepass", "$(WORD)"], "redis://:word@valkey-cart:6379", True),
        (["--maxclients", "500"], "valkey-cart:6379", True),
    ],
)
def test_store_password_must_match_the_client(cluster: Callable[..., TwinCluster], args, address, opens) -> None:
    little = cluster(warm=60.0)
    container = little.get("Deployment", "valkey-cart")["spec"]["template"]["spec"]["containers"][0]
    container["args"], container["env"] = args, [{"name": "WORD", "value": "word"}]
    little.restart("valkey-cart")
    little.run(30)
    seen = len(little.logs)
    little.env("cart", "VALKEY_ADDR", address)
    little.run(120)
    assert (LOST in "\n".join(line.text for line in little.logs[seen:])) != opens
    assert little.run(60).silent("cart") != opens


@pytest.mark.parametrize(
    ("name", "target", "who", "silent", "words"),
    [
        ("valkey-password-changed", "valkey-cart", "cart", True, LOST),
        ("postgres-login-revoked", "postgresql", "product-catalog", True, BARRED),
        ("postgres-privilege-revoked", "postgresql", "product-catalog", False, DENIED),
        ("postgres-table-locked", "postgresql", "product-catalog", True, ""),
        ("postgres-connections-exhausted", "postgresql", "product-catalog", True, FULL),
        ("valkey-memory-flood", "valkey-cart", "cart", False, ""),
    ],
)
def test_fault_inside_a_store(
    cluster: Callable[..., TwinCluster], shop, shop_objects, name, target, who, silent, words
):
    little = cluster(warm=60.0)
    use = FaultUse(name="it", type=name, target=Reference("Deployment", target))
    made = render_fault(Catalog().fault(name), use, shop, shop_objects, "shop", "scenario")
    make(little, shop, made.changes)
    for workload in made.callers if made.rollout.reconnect == "Callers" else ():
        little.restart(workload.partition("/")[2])
    little.run(120)
    broken = little.run(60)
    assert broken.silent(who)
    assert (broken.calls(who) == 0) == silent
    assert broken.share("frontend-proxy", kind="SERVER") > 0.2
    assert words in "\n".join(line.text for line in little.logs)
    for change in made.solutions[0].changes:
        if change.operation.runs_command:
            make(little, shop, [change])
        else:
            little.kinds["Pod"].pop("holder")
            little.version += 1
            if name == "valkey-memory-flood":
                little.restart(target)  # what was killed is started again
            little.run(30)
    for workload in made.callers:
        little.restart(workload.partition("/")[2])
    little.run(150)
    assert little.run(60).share("frontend-proxy", kind="SERVER") < 0.01


def test_tls_request_to_plain_service_fails(cluster: Callable[..., TwinCluster]) -> None:
    little = cluster(warm=60.0)
    little.env("shipping", "QUOTE_ADDR", "https://quote:8080")
    little.run(60)
    broken = little.run(120)
    assert broken.share("shipping", kind="SERVER") > 0.2
    assert broken.silent("quote")
