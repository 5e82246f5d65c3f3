"""Positions in JSON: of every value, however the text is laid out."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from scenario_kit.scoring.files.json_position import count_lines, find_offset
from tests.scoring.truths import PROPERTY

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


def places(value: Any, place: tuple[str | int, ...] = ()) -> Any:
    yield place, value
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, part in steps:
        yield from places(part, (*place, step))


@PROPERTY
@given(VALUES, st.sampled_from([None, 0, 2]))
def test_every_value_has_its_offset(value: Any, indent: int | None) -> None:
    text = "\n " + json.dumps(value, indent=indent)
    for place, part in places(value):
        assert json.JSONDecoder().raw_decode(text, find_offset(text, place))[0] == part


def test_lines_and_columns_count_from_one() -> None:
    text = '{\n  "a": [1,\n 22]}'
    assert count_lines(text, find_offset(text, ("a", 1))) == (3, 2)
    assert count_lines(text, find_offset(text, ("a", 7))) == (2, 8)
    assert count_lines(text, find_offset(text, ("missing",))) == (1, 1)
