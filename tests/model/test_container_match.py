"""Containers are told apart by image, program, arguments and name."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from scenario_kit.model.runtime.container_match import match_components
from scenario_kit.model.twin.component import ComponentModel
from tests.lab.twin import tiny

MODELS = {
    "worker": ComponentModel(image="shop:*", commands=("serve",), arguments=("--role=worker", "--queue=*")),
    "page": ComponentModel(image="shop:*", commands=("serve",)),
    "side": ComponentModel(image="shop:*", container="side*"),
}


@pytest.mark.parametrize(
    ("container", "found"),
    [
        ({"command": ["/bin/serve"], "args": ["--role=worker", "--queue=orders"]}, ["worker", "page"]),
        ({"args": ["serve", "--role=worker", "--queue=orders"]}, ["worker", "page"]),
        ({"command": ["serve"], "args": ["--role=worker"]}, ["page"]),
        ({"command": ["serve"]}, ["page"]),
        ({"command": ["serve"], "name": "sidecar"}, ["page", "side"]),
        ({"name": "sidecar"}, ["side"]),
        ({"command": ["other"]}, []),
        ({"command": ["serve"], "image": "else:1"}, []),
    ],
)
def test_components_of_one_image(container: dict[str, Any], found: list[str]) -> None:
    definition = tiny.app().twin
    assert definition is not None
    twin = msgspec.structs.replace(definition, components=MODELS)
    assert list(match_components(twin, {"name": "main", "image": "shop:1", **container})) == found
