"""Tests of how the operator resolves Scenario objects."""

from collections.abc import Iterator

import pytest
import yaml

from operators.scenario import resolution
from scenario_kit.catalog import Catalog, find_data_root
from scenario_kit.model import Object

CATALOG = Catalog()


@pytest.fixture
def resolved_texts(monkeypatch) -> Iterator[list[str]]:
    """Record the texts that are resolved, with empty caches before and after."""
    texts: list[str] = []
    resolve_text = resolution._resolve_text
    monkeypatch.setattr(
        resolution, "_resolve_text", lambda catalog, text: (texts.append(text), resolve_text(catalog, text))[1]
    )
    resolution._resolve_and_pack.cache_clear()
    yield texts
    resolution._resolve_and_pack.cache_clear()


def build_scenario(name: str) -> Object:
    file = find_data_root() / "catalog" / "scenarios" / "cart-scaled-to-zero" / "scenario.yaml"
    document = yaml.safe_load(file.read_text())
    return document | {"metadata": document["metadata"] | {"name": name}}


def test_more_scenarios_than_unpacked_runbooks_are_resolved_once(resolved_texts, monkeypatch):
    monkeypatch.setattr(resolution, "_unpack", resolution._unpack.__wrapped__)
    objects = [build_scenario(f"cart-{i}") for i in range(3)]
    first = [resolution.resolve_scenario(CATALOG, obj) for obj in objects]
    again = [resolution.resolve_scenario(CATALOG, obj) for obj in objects]
    assert again == first
    assert all(each.runbook is not None for each in again)
    assert len(resolved_texts) == 3


def test_changed_scenario_is_resolved_again(resolved_texts):
    obj = build_scenario("cart-0")
    resolution.resolve_scenario(CATALOG, obj)
    broken = obj | {"spec": obj["spec"] | {"app": {"name": "nowhere", "version": "1"}}}
    assert resolution.resolve_scenario(CATALOG, broken).runbook is None
    assert [f.code for f in resolution.resolve_scenario(CATALOG, broken).errors] == ["SK107"]
    assert len(resolved_texts) == 2
