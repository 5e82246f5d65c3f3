"""The fast validator accepts only what the reference library accepts."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from scenario_kit.catalog import Catalog
from scenario_kit.load.schema.fast_validation import fits
from scenario_kit.load.yaml.document import read_document
from scenario_kit.schema import build_authoring_schema

SCHEMA = build_authoring_schema("Scenario")
JUDGE = Draft202012Validator(SCHEMA)
GOOD = [read_document(path).data for path in Catalog().scenarios()]
ODD = st.one_of(st.none(), st.booleans(), st.integers(-5, 99999), st.text(max_size=5), st.just([]), st.just({}))


@pytest.mark.parametrize("data", GOOD, ids=lambda d: d["metadata"]["name"])
def test_catalogue_fits_without_the_library(data: Any) -> None:
    assert fits(data, SCHEMA)


@settings(derandomize=True, max_examples=200, deadline=None)
@given(st.sampled_from(GOOD), st.lists(st.integers(0, 50), min_size=1, max_size=6), ODD)
def test_whatever_is_changed_the_two_agree(good: Any, way: list[int], odd: Any) -> None:
    data = around = copy.deepcopy(good)
    for step in way:
        keys = list(around) if isinstance(around, dict) else list(range(len(around)))
        if not keys:
            break
        key = keys[step % len(keys)]
        if not isinstance(around[key], dict | list) or step is way[-1]:
            around[key] = odd
            break
        around = around[key]

    assert fits(data, SCHEMA) == JUDGE.is_valid(data)
