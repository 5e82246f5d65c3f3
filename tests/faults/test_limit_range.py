"""limit-range-too-low: the limit has to be below what containers are limited to or, without limits, request."""

from __future__ import annotations

import copy

import pytest

from scenario_kit.catalog import Catalog
from scenario_kit.errors import AuthoringError
from scenario_kit.model import Reference
from scenario_kit.model.authored.scenario import FaultUse
from scenario_kit.render import render_app, render_fault

CATALOG = Catalog()
HOTEL = CATALOG.app("hotel-reservation", CATALOG.versions("hotel-reservation")[0])


def render(resources: dict[str, dict[str, str]], limit: int) -> None:
    objects = copy.deepcopy(render_app(HOTEL, {}, 50, HOTEL.namespace))
    geo = next(o for o in objects if (o["kind"], o["metadata"]["name"]) == ("Deployment", "geo"))
    geo["spec"]["template"]["spec"]["containers"][0]["resources"] = resources
    target, parameters = Reference("Deployment", "geo"), {"memoryMebibytes": limit}
    use = FaultUse(name="main", type="limit-range-too-low", target=target, parameters=parameters)
    render_fault(CATALOG.fault(use.type), use, HOTEL, objects, HOTEL.namespace, "scenario")


@pytest.mark.parametrize(
    ("resources", "limit", "message"),
    [
        ({"requests": {"memory": "128Mi"}}, 127, ""),
        ({"requests": {"memory": "128Mi"}}, 128, "its containers request 128 MiB at most, which is no more than 128"),
        ({"requests": {"memory": "128Mi"}}, 65536, "which is no more than 65536"),
        ({"limits": {"memory": "256Mi"}, "requests": {"memory": "128Mi"}}, 200, ""),
        ({"limits": {"memory": "256Mi"}}, 256, "its containers may use 256 MiB at most"),
        ({}, 512, ""),
    ],
)
def test_limit_is_lower_than_what_is_requested(resources: dict[str, dict[str, str]], limit: int, message: str) -> None:
    if not message:
        render(resources, limit)
        return
    with pytest.raises(AuthoringError, match=message):
        render(resources, limit)
