"""Fault types beside a scenario that nobody means well with: each is refused, in bounds of time and memory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from scenario_kit.load.document import read_document
from tests.load.test_hostile import MEGABYTES, confined

CATALOG = Path(__file__).parents[2] / "catalog"
SCENARIO = read_document(CATALOG / "scenarios/product-catalog-wrong-target-port/scenario.yaml").data
FAULT = read_document(CATALOG / "faults/service-target-port-wrong/fault.yaml").data
Change = Callable[[dict[str, Any], dict[str, Any]], Any]


def parameter(value: Any, **schema: Any) -> Change:
    """A parameter of that schema, and what the scenario gives it."""

    def change(fault: dict[str, Any], use: dict[str, Any]) -> None:
        fault["parameters"]["properties"]["x"] = {"description": "What is tried.", **schema}
        use["parameters"]["x"] = value

    return change


def effect(check: dict[str, Any]) -> Change:
    return lambda fault, _: fault["effect"].append(check)


def query(expr: str) -> Change:
    return effect({"query": {"expr": expr, "is": "Equal", "value": 1}})


def log(pattern: str) -> Change:
    return effect({"log": {"on": "{{ target }}", "pattern": pattern}})


def repeated(text: str, times: int) -> str:
    """A template that repeats a text so many times."""
    return f"{{% for a in range({times}) %}}{text}{{% endfor %}}"


TRIED: dict[str, tuple[str, Change]] = {
    "a pattern of many repeats": ("SK109", parameter("a" * 3_000, type="string", pattern="^a*a*a*a*a*a*a*a*a*b$")),
    "patterns of names": ("SK104", parameter({"a" * 40 + "!": 1}, patternProperties={"^(a+)+$": {}})),
    "objects that are compared": ("SK109", parameter([{"a": i} for i in range(15_000)], uniqueItems=True)),
    "many branches": ("SK104", parameter(["a"] * 10_000, items={"anyOf": [{"const": i} for i in range(10_000)]})),
    "many values": ("SK109", parameter(["a"] * 10_000, items={"anyOf": [{"const": i} for i in range(100)]})),
    "a reference": ("SK104", parameter(1, **{"$ref": "file:///etc/passwd"})),
    "another dialect": ("SK104", parameter(1, **{"$schema": "http://json-schema.org/draft-04/schema#"})),
    "a default of 900,000 letters": ("SK109", parameter(1, type="string", default=repeated("a" * 900, 900))),
    "a query of brackets": ("SK117", query("(" * 2_000 + "up" + ")" * 2_000)),
    "a query of signs": ("SK117", query("-" * 4_000 + "up")),
    "a query that a template nests": ("SK117", query(repeated("abs(" * 20, 900) + "up" + repeated(")" * 20, 900))),
    "a query of a hundred years": ("SK208", query("max_over_time(up[100y:1s])")),
    "a lookahead": ("SK117", log("(?=a)")),
    "a pattern of many steps": ("SK117", log("(a{1,100}){1,10}")),
}  # fmt: skip


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    folder, paths = tmp_path_factory.mktemp("hostile-faults"), []
    for number, (_, change) in enumerate(TRIED.values()):
        fault, scenario = (yaml.safe_load(yaml.safe_dump(document)) for document in (FAULT, SCENARIO))
        fault["name"] = scenario["spec"]["faults"][0]["type"] = "port-closed"
        change(fault, scenario["spec"]["faults"][0])
        paths.append(folder / str(number) / SCENARIO["metadata"]["name"])
        (paths[-1] / "faults/port-closed").mkdir(parents=True)
        (paths[-1] / "scenario.yaml").write_text(yaml.safe_dump(scenario))
        (paths[-1] / "faults/port-closed/fault.yaml").write_text(yaml.safe_dump(fault))
    return dict(zip(TRIED, confined([["lint", str(path)] for path in paths]), strict=True))


@pytest.mark.parametrize("name", TRIED)
def test_refused(name: str, results: dict[str, dict[str, Any]]) -> None:
    result = results[name]
    shown = result["out"] + result["err"]

    assert result["code"] == 1, shown[-2000:]
    assert f"{TRIED[name][0]} error" in shown
    assert "bug of scenario-kit" not in shown
    assert len(shown) < 20_000
    assert result["megabytes"] < MEGABYTES
