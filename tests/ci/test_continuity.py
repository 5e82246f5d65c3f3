"""Which changes of an app leave evidence as it is: only those that no part of the lab acts on."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from scenario_kit.catalog import Catalog
from scenario_kit.load import load_scenario
from scenario_kit.model import Object
from scenario_kit.render import resolve
from scenario_kit.render.scenarios.runbook import render_as_written
from tools.continuity import ScenarioVersion, explain_difference

CART = ("Service", "cart")
SCENARIO = "product-catalog-wrong-target-port"


@pytest.fixture(scope="module")
def version() -> ScenarioVersion:
    catalog = Catalog()
    path = next(path for path in catalog.scenarios() if path.parent.name == SCENARIO)
    spec = load_scenario(path).scenario.spec
    app = catalog.app(spec.app.name, spec.app.version)
    objects = render_as_written(spec, app, catalog.templates(app.name))
    runbook = resolve(load_scenario(path).scenario, catalog, "app", beside=path.parent)
    return ScenarioVersion(spec, app, runbook, objects)


def edit(version: ScenarioVersion, kind: str, name: str, change: Callable[[Object], Any]) -> ScenarioVersion:
    objects = copy.deepcopy(list(version.objects))
    change(next(o for o in objects if (o["kind"], o["metadata"]["name"]) == (kind, name)))
    return version._replace(objects=objects)


def set_data(key: str, text: str) -> Callable[[Object], Any]:
    return lambda obj: obj["data"].update({key: text})


def container(**fields: Any) -> Callable[[Object], Any]:
    return lambda obj: obj["spec"]["template"]["spec"]["containers"][0].update(fields)


@pytest.mark.parametrize(
    ("kind", "name", "change", "reported"),
    [
        ("ConfigMap", "otel-collector-agent", set_data("relay.yaml", "receivers: {}"), ""),
        ("Deployment", "cart", lambda o: o["metadata"].update(annotations={"a": "b"}), ""),
        ("ConfigMap", "flagd-config", set_data("demo.flagd.json", "{}"), "ConfigMap/otel-demo/flagd-config"),
        ("Service", "cart", lambda o: o["spec"]["ports"][0].update(targetPort=1), "Service/otel-demo/cart"),
        ("Deployment", "cart", lambda o: o["spec"].update(replicas=7), "Deployment/otel-demo/cart"),
        ("Deployment", "cart", container(resources={}), "Deployment/otel-demo/cart"),
        ("Deployment", "cart", container(image="cart:9"), "images differ"),
    ],
)
def test_objects(
    version: ScenarioVersion, kind: str, name: str, change: Callable[[Object], Any], reported: str
) -> None:
    found = explain_difference(version, edit(version, kind, name, change))
    assert found == "" if not reported else reported in found


def test_added_or_removed_object_is_a_difference(version: ScenarioVersion) -> None:
    fewer = version._replace(objects=[o for o in version.objects if (o["kind"], o["metadata"]["name"]) != CART])
    assert "Service/otel-demo/cart" in explain_difference(version, fewer)
    assert "Service/otel-demo/cart" in explain_difference(fewer, version)


def test_other_app_changes_are_differences(version: ScenarioVersion) -> None:
    replace = msgspec.structs.replace
    rules = replace(version.runbook, rules=version.runbook.rules[1:])
    assert explain_difference(version, version._replace(runbook=rules)) == "alerts differ"
    faults = replace(version.runbook, faults=())
    assert explain_difference(version, version._replace(runbook=faults)) == "faults differ"
    components = replace(version.app, components=version.app.components[1:])
    assert explain_difference(version, version._replace(app=components)) == "the definition of the app differs"
