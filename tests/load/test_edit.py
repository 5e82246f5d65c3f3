"""Edits change the intended part only; others are refused."""

from __future__ import annotations

import difflib

import pytest

from scenario_kit.load.yaml.edit import Drop, Edit, Put, Rename, Unfit, apply_edits

TEXT = """\
# head
a: {x: 1, y: [1, 2],  z: q}   # flow
b:   # block
- name: one  # c1
  v: 1
# between
- name: two
  text: >-
    folded
    lines
# before c
c: last  # ü
d:
"""


@pytest.mark.parametrize(
    ("edit", "removed", "added"),
    [
        (Put(("a", "x"), "new value"), [], ['a: {x: "new value", y: [1, 2],  z: q}   # flow']),
        (Put(("a", "k"), 3), [], ["a: {x: 1, y: [1, 2],  z: q, k: 3}   # flow"]),
        (Put(("a", "y", 2), 7), [], ["a: {x: 1, y: [1, 2, 7],  z: q}   # flow"]),
        (Drop(("a", "y")), [], ["a: {x: 1, z: q}   # flow"]),
        (Drop(("a", "z")), [], ["a: {x: 1, y: [1, 2]}   # flow"]),
        (Drop(("b", 0)), ["- name: one  # c1", "  v: 1"], []),
        (Drop(("b", 1, "text")), ["  text: >-", "    folded", "    lines"], []),
        (Put(("b", 0, "w"), {"a": [1]}), [], ["  w: {a: [1]}"]),
        (Put(("b", 2), {"name": "three"}), [], ["- {name: three}"]),
        (Put(("b", 1, "text"), "no"), ["  text: >-", "    folded", "    lines"], ['  text: "no"']),
        (Rename(("b", 0, "v"), "value"), ["  v: 1"], ["  value: 1"]),
        (Put(("d",), 5), ["d:"], ["d: 5"]),
        (Drop(("c",)), ["c: last  # ü"], []),
        (Put(("e",), "Deployment/cart"), [], ["e: Deployment/cart"]),
        (Put(("e",), [{"on": 1}, {"k": "y"}]), [], ["e:", "- {on: 1}", '- {k: "y"}']),
        (Put(("b", 0, "w"), {"a": [{"k": [2]}], "c": 3}), [], ["  w:", "    a:", "    - {k: [2]}", "    c: 3"]),
        (Put(("a", "k"), [{"m": 3}]), [], ["a: {x: 1, y: [1, 2],  z: q, k: [{m: 3}]}   # flow"]),
    ],
)
def test_edit_changes_its_lines_only(edit: Edit, removed: list[str], added: list[str]) -> None:
    removed = removed or ([line for line in TEXT.splitlines() if line.startswith("a:")] if edit.place[0] == "a" else [])
    difference = list(difflib.ndiff(TEXT.splitlines(), apply_edits(TEXT, [edit]).splitlines()))

    assert [line[2:] for line in difference if line.startswith("- ")] == removed
    assert [line[2:] for line in difference if line.startswith("+ ")] == added


@pytest.mark.parametrize("edit", [Drop(("x",)), Rename(("a", "x"), "y"), Put(("c", "x"), 1), Put(("b", 7), 1)])
def test_inapplicable_edit_is_refused(edit: Edit) -> None:
    with pytest.raises(Unfit):
        apply_edits(TEXT, [edit])


def test_edit_through_an_alias_is_refused() -> None:
    with pytest.raises(Unfit):
        apply_edits("a: &x {p: 1}\nb: *x\n", [Put(("b", "p"), 2)])  # would change `a` as well
