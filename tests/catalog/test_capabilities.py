"""The vocabulary of capabilities covers every need in the catalogue."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scenario_kit.catalog import Catalog
from scenario_kit.catalog.capabilities import list_capabilities
from scenario_kit.errors import AuthoringError
from scenario_kit.lab.capabilities import describe_offers, offers_capability
from scenario_kit.schema.source import load_definitions
from tools.pages.capabilities_page import render_capabilities_page
from tools.pages.known_gaps import load_coverage

CATALOG = Catalog()
KNOWN = {c.name: c for c in list_capabilities(CATALOG)}


def test_every_need_matches_one_capability() -> None:
    needs = {need for name in CATALOG.faults() for need in CATALOG.fault(name).requires}
    needs |= {need for each in load_coverage(CATALOG).unbuilt for need in each.requires}
    known = {need: [c.name for c in KNOWN.values() if c.argument(need) is not None] for need in needs}

    assert {need: found for need, found in known.items() if len(found) != 1} == {}


def test_fault_schema_accepts_only_known_words() -> None:
    pattern = load_definitions()["Fault"]["properties"]["requires"]["items"]["pattern"]
    words = re.findall(r"[a-z-]+(?:>=|:)?", pattern.replace("[0-9]+", "").replace(".+", ""))

    assert sorted(words) == sorted(KNOWN)


@pytest.mark.parametrize("name", KNOWN)
def test_each_capability_is_complete_with_one_canary(name: str) -> None:
    capability = KNOWN[name]
    canary = capability.canary.to_json()

    assert len(canary) == 1
    assert capability.meaning
    assert capability.where
    assert bool(capability.because) is not capability.lab
    assert f"| `{name}" in render_capabilities_page(KNOWN.values())


@pytest.mark.parametrize(
    ("need", "clock", "there"),
    [
        ("cni-network-policy", "Virtual", True),
        ("netem", "Virtual", True),
        ("nodes>=3", "Virtual", True),
        ("nodes>=4", "Virtual", False),
        ("wall-clock", "Virtual", False),
        ("wall-clock", "Wall", True),
        ("metrics-server", "Virtual", True),
        ("dynamic-storage", "Wall", False),
        ("operator:tidbclusters.pingcap.com", "Wall", False),
    ],
)
def test_lab_offers_depend_on_capability_and_clock(need: str, clock: str, there: bool) -> None:
    capability, argument = next((c, a) for c in KNOWN.values() if (a := c.argument(need)) is not None)

    assert offers_capability(capability, argument, clock=clock) is there


def test_lab_offers_include_reasons() -> None:
    shown = describe_offers(KNOWN.values())

    assert shown["chaos-mesh"] == shown["metrics-server"] == shown["nodes>=3"] == ""
    assert "provisioner" in shown["dynamic-storage"]


@pytest.mark.parametrize(
    ("name", "need", "argument"),
    [("netem", "netem", ""), ("netem", "netem2", None), ("nodes>=", "nodes>=2", "2"), ("nodes>=", "nodes>=", None)],
)
def test_arguments(name: str, need: str, argument: str | None) -> None:
    assert KNOWN[name].argument(need) == argument


def test_file_of_another_shape_is_named(tmp_path: Path) -> None:
    file = tmp_path / "catalog" / "capabilities" / "own.yaml"
    file.parent.mkdir(parents=True)
    file.write_text("capabilities: [{name: gpu, meaning: A GPU, where: there, lab: false}]\n")

    with pytest.raises(AuthoringError, match="canary"):
        list_capabilities(Catalog([tmp_path]))
