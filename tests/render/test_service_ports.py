"""The called port of a Service follows from the addresses in the app's settings."""

from typing import Any

import pytest

from scenario_kit.catalog import Catalog
from scenario_kit.render.apps.app import render_app
from scenario_kit.render.objects.service_ports import find_called_port

_SERVICE = {"kind": "Service", "metadata": {"name": "db"}, "spec": {"ports": [{"port": 9090}, {"port": 5432}]}}


def _workload(*values: str) -> dict[str, Any]:
    env = [{"name": f"V{i}", "value": value} for i, value in enumerate(values)]
    return {"kind": "Deployment", "metadata": {"name": "web"}, "spec": {"template": {"spec": {"c": [{"env": env}]}}}}


@pytest.mark.parametrize(
    ("values", "port"),
    [
        (["db:5432"], 5432),
        (["postgres://u:p@db.shop.svc.cluster.local:5432/x"], 5432),
        (["db:9090", "db:5432", "http://db:5432"], 5432),
        (["db:5433"], 9090),  # nobody listens there: not a port of this Service
        (["mydb:5432", "db-replica:5432", "x.db:5432"], 9090),  # other names
        (["db"], 9090),
        ([], 9090),
    ],
)
def test_most_referenced_port_is_the_called_port(values: list[str], port: int) -> None:
    assert find_called_port([_workload(*values), _SERVICE], _SERVICE) == port


def test_settings_in_a_config_map_count() -> None:
    config = {"kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"config.json": '{"store": "db:5432"}'}}
    assert find_called_port([config, _SERVICE], _SERVICE) == 5432


@pytest.mark.parametrize(
    ("app", "version", "service", "port"),
    [("hotel-reservation", "6ecb097", "consul", 8500), ("otel-demo", "2.2.0", "cart", 8080)],
)
def test_called_ports_of_shipped_apps_are_listened_on(app: str, version: str, service: str, port: int) -> None:
    found = Catalog().app(app, version)
    objects = render_app(found, {}, 5, app)
    desired = next(o for o in objects if o["kind"] == "Service" and o["metadata"]["name"] == service)
    assert find_called_port(objects, desired) == port
