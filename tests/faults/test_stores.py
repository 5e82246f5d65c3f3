"""Faults of stores, rendered for the shop: their commands, objects and refusals."""

import pytest

from scenario_kit.catalog import Catalog
from scenario_kit.errors import AuthoringError
from scenario_kit.model import Reference
from scenario_kit.render.faults.applicability import offer
from scenario_kit.render.faults.first_offer import render_objects_for

CATALOG = Catalog()
DATABASE, CACHE = "Deployment/postgresql", "Deployment/valkey-cart"


def render(name, target, /, app="otel-demo", version="2.2.0", **parameters):
    fault_type = CATALOG.fault(name)
    shop = CATALOG.app(app, version)
    found = offer(fault_type, shop, render_objects_for(fault_type, shop, CATALOG), Reference.parse(target), parameters)
    return found.fault


@pytest.mark.parametrize(
    ("name", "target", "parameters", "does", "undo"),
    [
        ("valkey-password-changed", CACHE, {"password": "pw1"}, "requirepass pw1", "requirepass "),
        ("postgres-login-revoked", DATABASE, {}, "ALTER ROLE otelu NOLOGIN", "ALTER ROLE otelu LOGIN"),
        (
            "postgres-privilege-revoked",
            DATABASE,
            {},
            "REVOKE SELECT ON catalog.products FROM otelu",
            "GRANT SELECT ON catalog.products TO otelu",
        ),
        (
            "postgres-privilege-revoked",
            DATABASE,
            {"table": "reviews.productreviews"},
            "REVOKE SELECT ON reviews.productreviews FROM otelu",
            "GRANT SELECT ON reviews.productreviews TO otelu",
        ),
    ],
)
def test_store_command_has_an_undo(name, target, parameters, does, undo):
    fault = render(name, target, **parameters)
    (change,), (inverse,) = fault.changes, fault.undo
    assert " ".join(change.operation.command).endswith(does)
    assert " ".join(inverse.operation.command).endswith(undo)
    assert fault.causes[0].fix == fault.undo
    assert fault.solutions[0].changes == fault.undo
    assert {s.name for s in fault.solutions} > {fault.solutions[0].name}, "the state goes with the process"
    assert fault.decoys[0].changes[0].target != target


@pytest.mark.parametrize(
    ("name", "target", "parameters", "word"),
    [
        ("postgres-table-locked", DATABASE, {}, "LOCK TABLE catalog.products"),
        ("postgres-table-locked", DATABASE, {"table": "accounting.orderitem"}, "LOCK TABLE accounting.orderitem"),
        ("postgres-connections-exhausted", DATABASE, {"connections": 200}, "-lt 200"),
        ("valkey-memory-flood", CACHE, {"bytes": 5000}, "head -c 5000"),
    ],
)
def test_long_running_clients_are_created(name, target, parameters, word):
    fault = render(name, target, **parameters)
    (change,) = fault.changes
    shop = CATALOG.app("otel-demo", "2.2.0")
    container = change.operation.manifest["spec"]["template"]["spec"]["containers"][0]
    assert word in container["command"][-1]
    client = next(c for c in shop.clients if c.image == container["image"])
    entry, _ = client.matched(container["command"])
    assert entry.does.lasts, "a simulated store knows what it does"
    assert fault.causes[0].generated
    assert fault.causes[0].ref == f"Deployment/{change.operation.manifest['metadata']['name']}"
    objects = render_objects_for(CATALOG.fault(name), shop, CATALOG)
    broken = change.operation.simulate(objects, shop, "otel-demo")
    assert fault.solutions[0].changes[0].operation.simulate(broken, shop, "otel-demo") == objects


@pytest.mark.parametrize(
    ("name", "target", "word"),
    [
        ("valkey-password-changed", CACHE, "requirepass"),
        ("postgres-login-revoked", "Deployment/astronomy-db", "ALTER ROLE astronomy_user NOLOGIN"),
        ("postgres-privilege-revoked", "Deployment/astronomy-db", "ON catalog.products FROM astronomy_user"),
    ],
)
def test_newer_version_has_the_same_clients(name, target, word):
    fault = render(name, target, version="3.0.0")
    assert word in " ".join(fault.changes[0].operation.command)


@pytest.mark.parametrize(
    ("name", "target", "app", "version", "text"),
    [
        ("valkey-password-changed", DATABASE, "otel-demo", "2.2.0", "no client 'valkey-cli' that talks to postgresql"),
        ("postgres-login-revoked", CACHE, "otel-demo", "2.2.0", "no client 'psql' that talks to valkey-cart"),
        ("postgres-table-locked", "Deployment/cart", "otel-demo", "2.2.0", "no client 'psql' that talks to cart"),
        ("postgres-privilege-revoked", "Deployment/mongodb-geo", "hotel-reservation", "6ecb097", "no client 'psql'"),
    ],
)
def test_stores_without_such_a_client_are_refused(name, target, app, version, text):
    with pytest.raises(AuthoringError, match=text):
        render(name, target, app=app, version=version)


@pytest.mark.parametrize("parameters", [{"user": "somebody"}, {"table": "accounting.shipping"}])
def test_unsupported_store_commands_are_refused(parameters):
    with pytest.raises(AuthoringError, match="does not list this command of client 'psql'"):
        render("postgres-privilege-revoked", DATABASE, **parameters)


@pytest.mark.parametrize(
    ("target", "app", "version", "args"),
    [
        (CACHE, "otel-demo", "2.2.0", ("--requirepass", "h7wzkq2x")),
        (CACHE, "otel-demo", "3.0.0", ("--requirepass", "h7wzkq2x")),
        ("Deployment/mongodb-rate", "hotel-reservation", "6ecb097", ("--auth",)),
    ],
)
def test_login_fault_changes_store_arguments(target, app, version, args):
    fault = render("store-login-required", target, app=app, version=version)
    (change,), (fix,) = fault.changes, fault.causes[0].fix
    (container,) = change.operation.patch["spec"]["template"]["spec"]["containers"]
    assert tuple(container["args"]) == args
    assert fix.operation.patch["spec"]["template"]["spec"]["containers"][0]["args"] is None, "it had none"
    assert fault.rollout.drop_old, "the old pod would go on to take everybody"
    assert fault.decoys[0].changes[0].operation.target == target


@pytest.mark.parametrize("target", [DATABASE, "Deployment/cart"])
def test_stores_without_a_known_argument_are_refused(target):
    with pytest.raises(AuthoringError, match="its image is none of MongoDB, Valkey and Redis"):
        render("store-login-required", target)
