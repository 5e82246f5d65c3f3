"""Objects are checked for their shape before they are read."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from scenario_kit.catalog import Catalog
from scenario_kit.render import render_app
from scenario_kit.render.objects.object_shape import find_misshapen

DEPLOYMENT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web", "labels": {"app": "web"}},
    "spec": {
        "selector": {"matchLabels": {"app": "web"}},
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "web", "image": "web:1", "env": [{"name": "A", "value": "b"}]}]},
        },
    },
}


def put(path: tuple[str | int, ...], value: Any) -> dict[str, Any]:
    document: Any = copy.deepcopy(DEPLOYMENT)
    around = document
    for key in path[:-1]:
        around = around[key]
    around[path[-1]] = value
    return dict(document)


@pytest.mark.parametrize(
    ("path", "value", "wrong"),
    [
        (("spec", "replicas"), "any", ""),
        (("metadata", "labels"), None, ""),
        (("metadata", "labels"), 1, "metadata.labels must be a mapping"),
        (("apiVersion",), {"v": 1}, "apiVersion must be a string"),
        (("spec",), ["x"], "spec must be a mapping"),
        (("spec", "template"), [], "spec.template must be a mapping"),
        (("spec", "template", "spec", "containers"), {}, "spec.template.spec.containers must be a list"),
        (("spec", "template", "spec", "containers", 0), "web", "spec.template.spec.containers[0] must be a mapping"),
        (("spec", "template", "spec", "containers", 0), None, "spec.template.spec.containers[0] is missing"),
        (
            ("spec", "template", "spec", "containers", 0, "env", 0, "name"),
            5,
            "spec.template.spec.containers[0].env[0].name must be a string, not 5: put its text in quotes",
        ),
        (
            ("spec", "template", "spec", "containers", 0, "env", 0, "value"),
            True,
            "spec.template.spec.containers[0].env[0].value must be a string, not true: put its text in quotes",
        ),
        (
            ("metadata", "annotations"),
            {"a": "b", "c": 1},
            "metadata.annotations.c must be a string, not 1: put its text in quotes",
        ),
        (("metadata", "annotations"), {"a": []}, "metadata.annotations.a must be a string"),
        (("metadata", "annotations"), {"a": None}, ""),
    ],
)
def test_first_misshapen_position_is_reported(path: tuple[str | int, ...], value: Any, wrong: str) -> None:
    assert find_misshapen(put(path, value)) == wrong


@pytest.mark.parametrize("name", ["otel-demo", "hotel-reservation"])
def test_app_objects_are_well_formed(name: str) -> None:
    catalog = Catalog()
    for version in catalog.versions(name):
        app = catalog.app(name, version)
        objects = render_app(app, {"autoscaling": True}, 50, "shop", templates=catalog.templates(name))
        assert [find_misshapen(obj) for obj in objects if find_misshapen(obj)] == []
