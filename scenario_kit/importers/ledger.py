"""Record a decision about every value of the input.

An importer walks a document through ``InputNode``s and records a decision about each value that it reads. Values that
no decision covers at the end are refused by name, so nothing is dropped silently.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from scenario_kit.errors import AuthoringError
from scenario_kit.importers.decisions import ImportDecision, Treatment
from scenario_kit.importers.inputs import InputDocument
from scenario_kit.load.yaml.document import format_place
from scenario_kit.model import Position
from scenario_kit.model.json_document import Place
from scenario_kit.model.shortening import shorten_text

_UNKNOWN: Final = "no counterpart"
_UNDRAFTED: Final = "it belongs to an object from which no draft was written"


class ImportLedger:
    """The decisions of one import."""

    def __init__(self) -> None:
        self.decisions: list[ImportDecision] = []
        self._documents: list[InputDocument] = []
        self._covered: set[tuple[int, Place]] = set()
        self._read: set[tuple[int, Place]] = set()
        self._undrafted: set[tuple[int, Place]] = set()

    def open_document(self, document: InputDocument) -> InputNode:
        """Open a document, each of whose values needs a decision."""
        self._documents.append(document)
        return InputNode(self, len(self._documents) - 1, (), document.data)

    def record(self, decision: ImportDecision) -> None:
        """Record a decision."""
        self.decisions.append(decision)

    @contextmanager
    def refuse_unreadable(self, *, alone: bool) -> Iterator[None]:
        """Refuse a file that cannot be read, at the place of its error; if it is the only one, raise the error."""
        try:
            yield
        except AuthoringError as error:
            if alone or not error.findings:
                raise
            for found in error.findings:
                position = found.position or Position(path="?", line=1, column=1)
                self.record(
                    ImportDecision(
                        treatment="Refused", position=position, place=".", reason=found.message,
                        fix=found.fix or "correct the file, or leave it out",
                    )
                )  # fmt: skip

    def cover(self, number: int, place: Place) -> None:
        """Mark a value and everything inside as decided."""
        self._covered.add((number, place))

    def is_covered(self, number: int, place: Place) -> bool:
        """Return whether a value or an enclosing one is decided."""
        return any((number, place[:length]) in self._covered for length in range(len(place) + 1))

    def mark_read(self, number: int, place: Place) -> None:
        """Mark a container as read: its children need decisions, it does not."""
        self._read.add((number, place))

    def mark_undrafted(self, number: int, place: Place) -> None:
        """Mark a value as the source of no draft, which is the reason that undecided values inside are refused."""
        self._undrafted.add((number, place))

    def get_position(self, number: int, place: Place) -> Position:
        """Return the position of a value, or of its key if it has one."""
        return self._documents[number].positions.key(*place)

    def get_value_position(self, number: int, place: Place) -> Position:
        """Return the position of the value itself."""
        return self._documents[number].positions.value(*place)

    def refuse_uncovered(self) -> tuple[ImportDecision, ...]:
        """Refuse every value that no decision covers; return all decisions in input order."""
        for number, document in enumerate(self._documents):
            touched = self._list_touched(number) | {()}
            for place, value in self._list_uncovered(number, touched, (), document.data):
                node = InputNode(self, number, place, value)
                if any((number, place[:length]) in self._undrafted for length in range(len(place) + 1)):
                    node.refuse(_UNDRAFTED, "see the reason that the report gives for that object")
                else:
                    node.refuse(_UNKNOWN)
        return tuple(sorted(self.decisions, key=lambda each: _order(each.position)))

    def _list_uncovered(
        self, number: int, touched: set[Place], place: Place, value: Any
    ) -> Iterator[tuple[Place, Any]]:
        """Yield the outermost values without a decision; containers that were read need none."""
        if (number, place) in self._covered:
            return
        parts = list(list_children(value))
        if place not in touched or not parts:
            yield place, value
            return
        for step, part in parts:
            yield from self._list_uncovered(number, touched, (*place, step), part)

    def _list_touched(self, number: int) -> set[Place]:
        """List the paths of a document that were read or decided, with their ancestors."""
        places = [place for n, place in (*self._covered, *self._read) if n == number]
        return {place[:length] for place in places for length in range(len(place) + 1)}


class InputNode:
    """A value of a document that needs a decision."""

    def __init__(self, ledger: ImportLedger, number: int, place: Place, value: Any) -> None:
        self.ledger, self.number, self.place, self.value = ledger, number, place, value

    def __iter__(self) -> Iterator[InputNode]:
        """Iterate over the children of a list or an object."""
        self.ledger.mark_read(self.number, self.place)
        for step, part in list_children(self.value):
            yield InputNode(self.ledger, self.number, (*self.place, step), part)

    @property
    def name(self) -> str:
        """The last step of its path."""
        return str(self.place[-1]) if self.place else ""

    @property
    def position(self) -> Position:
        """Its position in the file."""
        return self.ledger.get_position(self.number, self.place)

    def find(self, *steps: str | int) -> InputNode | None:
        """Find the value at a path below; None if it is absent or null."""
        value = self.value
        for i, step in enumerate(steps):
            self.ledger.mark_read(self.number, (*self.place, *steps[:i]))
            value = _get_child(value, step)
            if value is None:
                return None
        return InputNode(self.ledger, self.number, (*self.place, *steps), value)

    def find_path(self, path: str) -> InputNode | None:
        """Find the value at a dotted path below."""
        return self.find(*path.split("."))

    def list_nodes(self, *steps: str | int) -> list[InputNode]:
        """List the items of a list at a path below; empty if there is no list."""
        node = self.find(*steps)
        return list(node) if node is not None and isinstance(node.value, list) else []

    def read_text(self, *steps: str | int) -> str:
        """Read a string or number as text; empty for anything else."""
        node = self.find(*steps)
        if node is None or isinstance(node.value, dict | list | bool):
            return ""
        return str(node.value)

    def take(self, result: str = "", reason: str = "") -> None:
        """Record that it has the same meaning in the draft."""
        self._note("Taken", result, reason, "")

    def map(self, result: str, reason: str = "") -> None:
        """Record the result."""
        self._note("Mapped", result, reason, "")

    def guess(self, result: str, reason: str) -> None:
        """Record the result, and why the author must confirm it."""
        self._note("Guessed", result, reason, "confirm or correct it in the draft")

    def refuse(self, reason: str, fix: str = "if it matters, write it into the draft by hand") -> None:
        """Record that it is in no draft."""
        self._note("Refused", "", reason, fix)

    def report_guess(self, result: str, reason: str) -> None:
        """Record a guess that is based on this value, which itself needs another decision."""
        self.ledger.record(self._build("Guessed", result, reason, "confirm it"))

    def report_refusal(self, reason: str, fix: str, whole: InputNode | None = None) -> None:
        """Record that this could not be imported; its children keep their own decisions.

        ``whole`` is the value of which no draft is written for that reason.
        """
        if whole is not None:
            self.ledger.mark_undrafted(whole.number, whole.place)
        self.ledger.record(self._build("Refused", "", reason, fix))

    def _note(self, treatment: Treatment, result: str, reason: str, fix: str) -> None:
        self.ledger.cover(self.number, self.place)
        self.ledger.record(self._build(treatment, result, reason, fix))

    def _build(self, treatment: Treatment, result: str, reason: str, fix: str) -> ImportDecision:
        place = format_place(self.place) or "."
        return ImportDecision(
            treatment=treatment, position=self.position, place=place, value=format_value(self.value), result=result,
            reason=reason, fix=fix, within=tuple(list_leaves(self.value, self.place)),
        )  # fmt: skip


def _get_child(value: Any, step: str | int) -> Any:
    if isinstance(value, dict):
        return value.get(step)
    return value[step] if isinstance(value, list) and isinstance(step, int) and step < len(value) else None


def list_children(value: Any) -> Iterator[tuple[str | int, Any]]:
    """List the children of an object or a list with their keys or indices."""
    if isinstance(value, dict):
        yield from value.items()
    elif isinstance(value, list):
        yield from enumerate(value)


def list_leaves(value: Any, place: Place) -> Iterator[str]:
    """List the paths of all leaves inside."""
    for step, part in list_children(value):
        if isinstance(part, dict | list) and part:
            yield from list_leaves(part, (*place, step))
        else:
            yield format_place((*place, step))


def format_value(value: Any) -> str:
    """Format a shortened value; of an object or a list, the number of its children."""
    if isinstance(value, dict):
        return f"{len(value)} fields"
    if isinstance(value, list):
        return f"{len(value)} entries"
    return "null" if value is None else shorten_text(str(value).strip().replace("\n", " "), 40)


def _order(position: Position) -> tuple[str, int, int]:
    return (position.path, position.line, position.column)
