"""Find in a fault type the text from which a field of a rendered change comes.

A rendered change is compared with the changes in the file that have its keyword: the one counts in which the steps to
the field lead furthest, before a template stands for the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from scenario_kit.model import Change, Fault, Object
from scenario_kit.model.json_document import Place


class SourcePlace(NamedTuple):
    """A place in the file, and whether exactly the field stands there, and no template."""

    place: Place
    exact: bool


def list_fault_parts(fault: Fault) -> Iterator[tuple[str, Sequence[Change]]]:
    """Yield the changes of a rendered fault, with the part of the file that has them."""
    yield "changes", fault.changes
    yield "undo", fault.undo
    for entity in fault.entities:
        yield "entities", entity.fix
    for solution in fault.solutions:
        yield "solutions", solution.changes
    for decoy in fault.decoys:
        yield "decoys", decoy.changes


#: The parts of a fault type that have changes.
PARTS: Final = ("changes", "undo", "entities", "solutions", "decoys")


class ChangeSource:
    """The changes in one part of a fault type: ``written``, each with its place."""

    def __init__(self, document: Object, part: str) -> None:
        self._part = part
        self.written: Final = tuple(_list_written(document.get(part), part))

    def find(self, change: Change, steps: Place, of_key: bool) -> SourcePlace:
        """Return where a field of a change stands, or the nearest part that is written there."""
        value = _follow(change.to_json(), steps)[1]
        best, most = SourcePlace((self._part,), False), (0, False, False)
        for place, written in self.written:
            if steps[0] not in written:
                continue
            depth, text = _follow(written, steps)
            whole = depth == len(steps)
            score = (depth, whole and text == value, whole)
            if score > most:
                plain = of_key or not (isinstance(text, str) and "{" in text)
                best, most = SourcePlace((*place, *steps[:depth]), whole and plain), score
        return best


def _list_written(node: Any, part: str) -> Iterator[tuple[Place, Mapping[str, Any]]]:
    for i, item in enumerate(node if isinstance(node, list | tuple) else ()):
        if not isinstance(item, Mapping):
            continue
        inner = {"entities": "fix", "solutions": "changes", "decoys": "changes"}.get(part)
        if inner is None:
            yield (part, i), item
        else:
            listed = item.get(inner)
            for j, change in enumerate(listed if isinstance(listed, list | tuple) else ()):
                if isinstance(change, Mapping):
                    yield (part, i, inner, j), change


def _follow(node: Any, steps: Place) -> tuple[int, Any]:
    """Return how many steps lead to a part of a document, and the last part."""
    for count, step in enumerate(steps):
        among_names = isinstance(node, Mapping) and step in node
        among_entries = isinstance(node, list | tuple) and isinstance(step, int) and step < len(node)
        if not among_names and not among_entries:
            return count, node
        node = node[step]
    return len(steps), node
