"""Detect outdated generated names: they depend on the names of scenario and fault, and change if one is renamed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.lint.simulation.stages import walk_leaves
from scenario_kit.load.yaml.edit import Edit, Put
from scenario_kit.model import Change
from scenario_kit.model.json_document import Place
from scenario_kit.render.faults.template_context import GENERATED_SUFFIX

_DRAWN: Final = re.compile(rf"(?<![-\w])([a-z][-a-z0-9]*)-({GENERATED_SUFFIX})(?![-\w])")


class Outdated(NamedTuple):
    """The fix for outdated names, and its edits."""

    fix: str = ""
    edits: tuple[Edit, ...] = ()


def find_outdated(case: LintContext, place: Place, change: Change) -> Outdated:
    """Find generated names in a change that no fault has, while a fault has exactly one with the same prefix."""
    current: dict[str, set[str]] = {}
    for fault in case.faults.values():
        for each in fault.changes:
            for _, text in _list_texts(each):
                for prefix, tail in _DRAWN.findall(text):
                    current.setdefault(prefix, set()).add(tail)
    reported: dict[str, str] = {}
    edits = []
    for path, text in _list_texts(change):
        new = text
        for prefix, tail in _DRAWN.findall(text):
            known = current.get(prefix, set())
            if len(known) == 1 and tail not in known:
                old, now = f"{prefix}-{tail}", f"{prefix}-{next(iter(known))}"
                reported[old], new = now, new.replace(old, now)
        if new != text:
            edits.append(Put((*place, *path), new))
    if not reported:
        return Outdated()
    names = ", ".join(f"`{now}` for `{old}`" for old, now in reported.items())
    return Outdated(f"write {names}: generated names depend on those of scenario and fault", tuple(edits))


def _list_texts(change: Change) -> Iterator[tuple[Place, str]]:
    """Yield all texts in a change with their places."""
    return ((place, leaf) for place, leaf in walk_leaves(change.to_json()) if isinstance(leaf, str))
