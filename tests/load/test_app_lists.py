"""SK104: entries of an app's lists that mean nothing."""

from __future__ import annotations

from typing import Any

import pytest

from scenario_kit.load.app_lists import find_list_mistakes
from scenario_kit.load.yaml.document import Positions


def find(calls: tuple[dict[str, Any], ...] = (), images: tuple[str, ...] = ()) -> list[str]:
    data = {"images": list(images), "versions": {"1.0": {"calls": list(calls)}, "2.0": {}}}
    return [finding.message for finding in find_list_mistakes(data, Positions("app.yaml"))]


def call(caller: str, callee: str, **fields: Any) -> dict[str, Any]:
    return {"caller": caller, "callee": callee, **fields}


@pytest.mark.parametrize(
    ("calls", "messages"),
    [
        ((call("web", "store"), call("api", "store")), []),
        # A worker that also publishes, and an address that is read in two places.
        ((call("web", "queue"), call("web", "queue", mode="Async")), []),
        ((call("web", "store", config="a.addr"), call("web", "store", config="b.addr")), []),
        (
            (call("web", "store"), call("web", "store", mode="Sync", env=["STORE"])),
            ["the call from web to store is declared already, as entry 0"],
        ),
        ((call("web", "web"),), ["web calls itself, but all pods of a component are one in the call graph"]),
    ],
)
def test_calls_are_declared_once_and_lead_elsewhere(calls: tuple[dict[str, Any], ...], messages: list[str]) -> None:
    assert find(calls) == messages


@pytest.mark.parametrize(
    ("image", "valid"),
    [
        ("docker.io/library/nginx:1.29.3", True),
        ("registry.example:5000/shop/cart:v1@sha256:" + "0" * 64, True),
        ("nginx", True),
        ("registry.example/Cart:1", False),
        ("registry.example/cart: 1", False),
        ("https://registry.example/cart:1", False),
    ],
)
def test_images_have_valid_names(image: str, valid: bool) -> None:
    expected = [] if valid else [f"'{image}' is not the name of an image, so no container can have it"]
    assert find(images=(image,)) == expected
