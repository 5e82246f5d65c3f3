"""The definition of a twin travels as JSON with a Trial, and varies there without the file that it came from."""

from __future__ import annotations

import msgspec
import pytest

from scenario_kit.catalog import Catalog
from scenario_kit.model.twin import TwinDefinition, decode

CATALOG = Catalog()
TWINS = [(name, version) for name in CATALOG.apps() for version in CATALOG.versions(name)]
SMALL = {
    "assumptions": {name: {"value": 1, "low": 1, "high": 9} for name in ("times", "own", "sigma", "idle")},
    "constants": {"retransmissions": "$times", "sigma": "$sigma"},
    "components": {
        "web": {
            "image": "web",
            "operations": {
                "get": {"ownMs": "$own", "steps": [{"call": "web/x", "times": "$times"}, {"call": "web/y"}]}
            },
            "java": {"heapUsedMib": "$idle"},
        }
    },
    "load": {
        "component": "web",
        "entry": "web/get",
        "users": {},
        "thinkSeconds": ["$own", 20],
        "routes": {"r": {"perIteration": 1, "draws": {"n": {"1": "$own"}}}},
    },
}


@pytest.mark.parametrize(("name", "version"), TWINS)
def test_definition_survives_being_sent(name: str, version: str) -> None:
    twin = CATALOG.app(name, version).twin
    assert twin is not None
    received = TwinDefinition.from_json(msgspec.json.decode(msgspec.json.encode(twin)))
    assert received == twin
    assert set(twin.uses) == set(twin.assumptions), "an assumption that nothing uses"
    high = {assumption: body.high for assumption, body in twin.assumptions.items()}
    assert received.with_assumptions(high) == twin.with_assumptions(high) != twin
    assert twin.with_assumptions(high).with_assumptions({a: b.value for a, b in twin.assumptions.items()}) == twin


def test_assumption_value_is_applied_everywhere() -> None:
    twin = decode(SMALL).with_assumptions({"times": 4.0, "own": 5.0})
    operation = twin.components["web"].operations["get"]
    assert (twin.constants.retransmissions, type(twin.constants.retransmissions)) == (4, int)
    assert (operation.own_ms, [step.times for step in operation.steps]) == (5.0, [4.0, 1.0])
    assert (twin.load.think_seconds, twin.load.routes["r"].draws) == ((5.0, 20.0), {"n": {"1": 5.0}})
    assert (twin.constants.sigma, twin.components["web"].java.heap_used_mib) == (1.0, 1.0)
    assert {name: body.value for name, body in twin.assumptions.items()} == {
        "times": 4.0, "own": 5.0, "sigma": 1.0, "idle": 1.0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"time": 1.0}, "assumptions: 'time' is not one of this app's; it has idle, own, sigma, times"),
        ({"own": -1.0}, "Expected `float` >= 0.0"),
        ({"times": 1.5}, "Expected `int`, got `float`"),
    ],
)
def test_invalid_assumption_value_is_refused(values: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message.replace("(", "\\(")):
        decode(SMALL).with_assumptions(values)
