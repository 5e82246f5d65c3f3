"""The account of an import: what is read of a document is noted, and what is left over is told as lost.

An importer walks a document through ``InputNode``s and notes a decision about each value that it looks at. Whatever
no decision covers in the end is refused by name, so that nothing is ever dropped in silence.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from scenario_kit.importers.decisions import ImportDecision, Treatment
from scenario_kit.importers.inputs import InputDocument
from scenario_kit.load.yaml.document import Path_, shorten_text
from scenario_kit.model import Position

_UNKNOWN: Final = "nothing here corresponds to it"


class ImportLedger:
    """The decisions of one import, in the order in which they were made."""

    def __init__(self) -> None:
        self.decisions: list[ImportDecision] = []
        self._documents: list[InputDocument] = []
        self._covered: set[tuple[int, Path_]] = set()
        self._read: set[tuple[int, Path_]] = set()

    def open_document(self, document: InputDocument) -> InputNode:
        """Open a document: from now on each of its values needs a decision."""
        self._documents.append(document)
        return InputNode(self, len(self._documents) - 1, (), document.data)

    def note(self, decision: ImportDecision) -> None:
        """Note a decision."""
        self.decisions.append(decision)

    def cover(self, number: int, place: Path_) -> None:
        """Count a value, with all that is in it, as decided about."""
        self._covered.add((number, place))

    def is_covered(self, number: int, place: Path_) -> bool:
        """Return whether a value, or something around it, is decided about."""
        return any((number, place[:length]) in self._covered for length in range(len(place) + 1))

    def mark_read(self, number: int, place: Path_) -> None:
        """Count a value as read: what it holds still needs decisions, it does not."""
        self._read.add((number, place))

    def get_position(self, number: int, place: Path_) -> Position:
        """Return where a value stands: its name where it has one."""
        return self._documents[number].positions.key(*place)

    def get_value_position(self, number: int, place: Path_) -> Position:
        """Return where the value itself begins."""
        return self._documents[number].positions.value(*place)

    def settle(self) -> tuple[ImportDecision, ...]:
        """Refuse what no decision covers; return all decisions in the order of the input."""
        for number, document in enumerate(self._documents):
            touched = self._find_touched(number) | {()}
            for place, value in self._find_uncovered(number, touched, (), document.data):
                node = InputNode(self, number, place, value)
                node.refuse(_UNKNOWN)
        return tuple(sorted(self.decisions, key=lambda each: _order(each.position)))

    def _find_uncovered(
        self, number: int, touched: set[Path_], place: Path_, value: Any
    ) -> Iterator[tuple[Path_, Any]]:
        """Find the outermost values that nothing was decided about; reading a value leaves that to its parts."""
        if (number, place) in self._covered:
            return
        parts = list(list_parts(value))
        if place not in touched or not parts:
            yield place, value
            return
        for step, part in parts:
            yield from self._find_uncovered(number, touched, (*place, step), part)

    def _find_touched(self, number: int) -> set[Path_]:
        """Find the places of a document that were read, or in which something was decided about."""
        places = [place for n, place in (*self._covered, *self._read) if n == number]
        return {place[:length] for place in places for length in range(len(place) + 1)}


class InputNode:
    """A value of a document, and what is decided about it."""

    def __init__(self, ledger: ImportLedger, number: int, place: Path_, value: Any) -> None:
        self.ledger, self.number, self.place, self.value = ledger, number, place, value

    def __iter__(self) -> Iterator[InputNode]:
        """Return the parts of a list, or of an object by their names."""
        self.ledger.mark_read(self.number, self.place)
        for step, part in list_parts(self.value):
            yield InputNode(self.ledger, self.number, (*self.place, step), part)

    @property
    def name(self) -> str:
        """The last step of the place."""
        return str(self.place[-1]) if self.place else ""

    @property
    def position(self) -> Position:
        """Where it stands."""
        return self.ledger.get_position(self.number, self.place)

    def find(self, *steps: str | int) -> InputNode | None:
        """Find what stands at these steps below; None where there is nothing, or null."""
        value = self.value
        for i, step in enumerate(steps):
            self.ledger.mark_read(self.number, (*self.place, *steps[:i]))
            value = _get_part(value, step)
            if value is None:
                return None
        return InputNode(self.ledger, self.number, (*self.place, *steps), value)

    def find_path(self, path: str) -> InputNode | None:
        """Find what stands at a dotted path below."""
        return self.find(*path.split("."))

    def list_nodes(self, *steps: str | int) -> list[InputNode]:
        """List the parts of a list at these steps; of what is no list, none."""
        node = self.find(*steps)
        return list(node) if node is not None and isinstance(node.value, list) else []

    def read_text(self, *steps: str | int) -> str:
        """Read a text, or a number as text; empty where there is nothing of the kind."""
        node = self.find(*steps)
        if node is None or isinstance(node.value, dict | list | bool):
            return ""
        return str(node.value)

    def take(self, result: str = "", reason: str = "") -> None:
        """Note that it means the same here."""
        self._note("Taken", result, reason, "")

    def map(self, result: str, reason: str = "") -> None:
        """Note what it became."""
        self._note("Mapped", result, reason, "")

    def guess(self, result: str, reason: str, fix: str = "confirm or correct it in the draft") -> None:
        """Note what was made of it, and why somebody has to look at that."""
        self._note("Guessed", result, reason, fix)

    def refuse(self, reason: str, fix: str = "if it matters, write it into the draft by hand") -> None:
        """Note that it is in no draft."""
        self._note("Refused", "", reason, fix)

    def remark(self, result: str, reason: str, fix: str) -> None:
        """Note a guess that rests on a value which is decided about apart from that."""
        self.ledger.note(self._build("Guessed", result, reason, fix))

    def blame(self, reason: str, fix: str) -> None:
        """Note that nothing could be made of what stands here, though parts of it were decided about."""
        self.ledger.note(self._build("Refused", "", reason, fix))

    def _note(self, treatment: Treatment, result: str, reason: str, fix: str) -> None:
        self.ledger.cover(self.number, self.place)
        self.ledger.note(self._build(treatment, result, reason, fix))

    def _build(self, treatment: Treatment, result: str, reason: str, fix: str) -> ImportDecision:
        return ImportDecision(
            treatment=treatment, position=self.position, place=spell_place(self.place), value=quote_value(self.value),
            result=result, reason=reason, fix=fix, within=tuple(list_leaves(self.value, self.place)),
        )  # fmt: skip


def _get_part(value: Any, step: str | int) -> Any:
    if isinstance(value, dict):
        return value.get(step)
    return value[step] if isinstance(value, list) and isinstance(step, int) and step < len(value) else None


def list_parts(value: Any) -> Iterator[tuple[str | int, Any]]:
    """List the parts of an object or a list by their steps."""
    if isinstance(value, dict):
        yield from value.items()
    elif isinstance(value, list):
        yield from enumerate(value)


def list_leaves(value: Any, place: Path_) -> Iterator[str]:
    """List the places of all values inside, none of which holds others."""
    for step, part in list_parts(value):
        if isinstance(part, dict | list) and part:
            yield from list_leaves(part, (*place, step))
        else:
            yield spell_place((*place, step))


def spell_place(place: Path_) -> str:
    """Spell a place, ``spec.templates[1].name``; the whole document is ``.``."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{shorten_text(step)}" for step in place)
    return "".join(steps).removeprefix(".") or "."


def quote_value(value: Any) -> str:
    """Quote a value in a few characters; of what holds others, how many."""
    if isinstance(value, dict):
        return f"{len(value)} fields"
    if isinstance(value, list):
        return f"{len(value)} entries"
    return "null" if value is None else shorten_text(str(value).strip().replace("\n", " "), 40)


def _order(position: Position) -> tuple[str, int, int]:
    return (position.path, position.line, position.column)
