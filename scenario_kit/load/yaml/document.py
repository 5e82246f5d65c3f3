"""Parse a YAML document into plain values, with the position of each.

Only a subset of YAML is accepted: one document, the core schema of YAML 1.2 (``on`` and ``no`` are text), text keys, no
tags but those of that schema, no merge keys, no duplicate keys, and bounded size, depth and alias expansion. Empty
documents, as before a first or after a last ``---``, do not count. All mistakes are collected; parsing continues where
possible.
"""

from __future__ import annotations

import copy
import os
import re
import stat
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import yaml

from scenario_kit.errors import AuthoringError, UsageError
from scenario_kit.load.yaml.comments import OpenQuestion, find_questions
from scenario_kit.load.yaml.modeline import Modeline, find_modeline
from scenario_kit.load.yaml.nodes import TAG, UNDECIDED, Composer, TextLimits, Unbounded, mark_undecided
from scenario_kit.load.yaml.scalars import convert_scalar, parse_scalar, refuse_tag
from scenario_kit.load.yaml.syntax_errors import Mark, ParseError, find_cause
from scenario_kit.load.yaml.yaml11 import explain_yaml11
from scenario_kit.model import Finding, Position, Severity
from scenario_kit.model.json_document import Place
from scenario_kit.model.shortening import shorten_text

MAX_BYTES = 256 * 1024
#: Maximum number of YAML documents in a file.
_MAX_DOCUMENTS = 500
#: Limits of a file after alias expansion.
BOUNDS = TextLimits(depth=40, values=50_000, characters=1_000_000)
#: Maximum number of reported YAML mistakes per file.
MOST_FINDINGS = 100

LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_MARK = "\ufeff"
#: Line breaks that editors do not show, and characters that reverse the text beside them (Unicode TR 36, 2.6; TR 55).
_UNSHOWN = re.compile("[\x85\u2028\u2029\u202a-\u202e\u2066-\u2069]|\r(?!\n)")


class Positions:
    """The positions of a document's values and keys."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._values: dict[Place, tuple[int, int]] = {}
        self._keys: dict[Place, tuple[int, int]] = {}
        #: All text values.
        self.texts: dict[Place, str] = {}
        #: Numbers and booleans as spelled in the document.
        self.raw: dict[Place, str] = {}
        #: What YAML 1.1 parsers such as kubectl read, for values and keys with another meaning there.
        self.yaml11_values: dict[Place, str] = {}
        self.yaml11_keys: dict[Place, str] = {}
        #: The comment that names the schema for editors.
        self.modeline: Modeline | None = None
        #: Open questions in comments.
        self.questions: tuple[OpenQuestion, ...] = ()

    def note(self, place: Place, value: tuple[int, int], key: tuple[int, int] | None = None) -> None:
        """Record the position of a value and, for a field, of its key."""
        self._values[place] = value
        if key:
            self._keys[place] = key

    def value(self, *place: str | int) -> Position:
        """Return the position of the value at ``place``, or of the nearest enclosing one."""
        return self._nearest(self._values, place)

    def key(self, *place: str | int) -> Position:
        """Return the position of the key at ``place``, or of the value if there is none."""
        return self._at(self._keys[place]) if place in self._keys else self.value(*place)

    def has_key(self, *place: str | int) -> bool:
        """Return whether the document has a key at ``place``."""
        return place in self._keys

    def translate(self, change: Callable[[Place], Place]) -> Positions:
        """Return a copy with changed places."""
        result = Positions(self.path)
        for name, table in vars(self).items():
            moved = {change(place): part for place, part in table.items()} if isinstance(table, dict) else table
            setattr(result, name, moved)
        return result

    def overlay(self, other: Positions) -> Positions:
        """Return a copy in which the places of another document take precedence, except for its root."""
        result = self.translate(lambda place: place)
        for name, table in vars(other).items():
            if isinstance(table, dict):
                getattr(result, name).update({place: at for place, at in table.items() if place})
        return result

    def within(self, part: Place) -> Positions:
        """Return the positions inside a part of the document, by their places in that part."""
        result = Positions(self.path)
        for name, table in vars(self).items():
            if isinstance(table, dict):
                inner = {place[len(part) :]: at for place, at in table.items() if place[: len(part)] == part}
                setattr(result, name, inner)
        return result

    def drop_texts(self, part: Place) -> Positions:
        """Return the same positions without the texts of a part, which is judged by itself."""
        result = copy.copy(self)
        result.texts = {place: text for place, text in self.texts.items() if place[: len(part)] != part}
        return result

    def shift(self, path: str, lines: int, columns: int) -> Positions:
        """Return a copy for a document embedded in a file, offset by lines and columns."""
        result = self.translate(lambda place: place)
        result.path = path
        for table in (result._values, result._keys):
            table.update({place: (line + lines, column + columns) for place, (line, column) in table.items()})
        return result

    def _nearest(self, known: dict[Place, tuple[int, int]], place: Place) -> Position:
        while place and place not in known:
            place = place[:-1]
        return self._at(known.get(place, (0, 0)))

    def _at(self, mark: tuple[int, int]) -> Position:
        return Position(path=self.path, line=mark[0] + 1, column=mark[1] + 1)


class Document(NamedTuple):
    """The values of a file, their positions, and YAML mistakes."""

    data: Any
    positions: Positions
    findings: tuple[Finding, ...]


def read_document(path: Path) -> Document:
    """Read and parse a file.

    Raises:
        UsageError: there is no such file.
        AuthoringError: not a regular file, unreadable, not UTF-8, too large, not YAML, or not exactly one document.
    """
    return parse(read_text(path).removeprefix(_MARK), str(path))


def read_text(path: Path, most: int = MAX_BYTES) -> str:
    """Read a file as UTF-8 text; raises as ``read_bytes``, and if it is not UTF-8."""
    raw = read_bytes(path, most)
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start)
        column = len(raw[raw.rfind(b"\n", 0, error.start) + 1 : error.start].decode("utf-8"))
        reported = f"the file is not UTF-8 text: byte 0x{raw[error.start]:02x}"
        _refuse(str(path), (line, column), reported, "save it as UTF-8")


def read_bytes(path: Path, most: int = MAX_BYTES) -> bytes:
    """Read a file. Pipes, devices and folders are rejected without reading them, which might never end.

    Raises:
        UsageError: there is no such file.
        AuthoringError: not a regular file, unreadable, or larger than ``most`` bytes.
    """
    shown = str(path)
    try:
        raw = _read_head(path, most + 1)
    except (FileNotFoundError, NotADirectoryError) as error:
        if path.is_symlink():
            _refuse(shown, (0, 0), "the link is broken", "point it at a file, or remove it")
        raise UsageError(f"cannot read {shown}: {error.strerror}", fix="name an existing file") from error
    except OSError as error:
        _refuse(shown, (0, 0), f"the file cannot be read: {error.strerror}", "make it readable, or remove it")
    if raw is None:
        _refuse(shown, (0, 0), "this is not a regular file", "replace it by one, or remove it")
    if path.is_symlink() and path.resolve().name != path.name:
        # Messages quote the file, and the target may be any file of the machine.
        _refuse(shown, (0, 0), "the link points to a file of another name", "replace it by the file itself")
    if len(raw) > most:
        _refuse(shown, (0, 0), f"the file is larger than {most // 1024} KiB", "move manifests out of it, or split it")
    return raw


def _read_head(path: Path, most: int) -> bytes | None:
    """Read the first bytes of a regular file; None for anything else, which may block or never end."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return None
        with open(handle, "rb", closefd=False) as file:  # the checked file, not a path that may change
            return file.read(most)
    finally:
        os.close(handle)


def parse(text: str, path: str) -> Document:
    """Parse a text with one document; ``path`` is used in positions.

    Raises:
        AuthoringError: not YAML, or not exactly one document.
    """
    nodes = [node for node in _read_nodes(text, path, _MAX_DOCUMENTS) if not _is_empty(node)]
    if not nodes:
        _refuse(path, (0, 0), "the file contains no document", "write one, or remove the file")
    if len(nodes) > 1:
        _refuse(path, _locate(nodes[1].start_mark), "the file contains more than one document", "one file per object")
    return _convert_node(nodes[0], text, path)


def parse_all(text: str, path: str) -> list[Document]:
    """Parse all documents in a text, in order; the limits apply to all of them together.

    Raises:
        AuthoringError: not YAML, or too many documents.
    """
    nodes = _read_nodes(text, path, _MAX_DOCUMENTS + 1)
    if len(nodes) > _MAX_DOCUMENTS:
        where = _locate(nodes[_MAX_DOCUMENTS].start_mark)
        _refuse(path, where, f"the file contains more than {_MAX_DOCUMENTS} documents", "split it")
    return [_convert_node(node, text, path) for node in nodes]


def _read_nodes(text: str, path: str, most: int) -> list[yaml.Node]:
    """Return the root nodes of the first documents."""
    if _MARK in text:  # libyaml would skip it at the start, and positions would be off by one
        _refuse_character(path, text, _MARK)
    if (unshown := _UNSHOWN.search(text)) is not None:
        reason = "not allowed: readers of the file see another text"
        _refuse_character(path, text, unshown.group(), reason, unshown.start())
    try:
        return list(islice(_compose_nodes(text), most))
    except Unbounded as error:
        _refuse(path, _locate(error.problem_mark), str(error.problem), error.fix)
    except yaml.MarkedYAMLError as error:
        since = _locate(error.context_mark) if error.context_mark else None
        at = _locate(error.problem_mark or error.context_mark)
        found = find_cause(text, ParseError(str(error.problem), at, str(error.context or ""), since))
        _refuse(path, found.at, f"the file is not YAML: {found.message}", found.fix, found.opened)
    except yaml.reader.ReaderError as error:
        _refuse_character(path, text, chr(error.character))
    except UnicodeEncodeError as error:
        _refuse_character(path, text, text[error.start])


def _is_empty(node: yaml.Node) -> bool:
    """Return whether a document consists of nothing but comments."""
    return isinstance(node, yaml.ScalarNode) and not node.value and not node.style and node.tag == UNDECIDED


def _convert_node(node: yaml.Node, text: str, path: str) -> Document:
    reader = _NodeReader(path)
    data = reader.convert(node, ())
    reader.positions.modeline = find_modeline(text)
    reader.positions.questions = find_questions(text)
    return Document(data, reader.positions, tuple(reader.findings))


def _compose_nodes(text: str) -> Iterator[yaml.Node]:
    return Composer(LOADER(text), BOUNDS, mark_undecided).documents()


def _refuse_character(
    path: str, text: str, character: str, reason: str = "not allowed", at: int | None = None
) -> NoReturn:
    index = max(0, text.find(character)) if at is None else at
    where = (text.count("\n", 0, index), index - text.rfind("\n", 0, index) - 1)
    _refuse(path, where, f"the file is not YAML: character U+{ord(character):04X} is {reason}", "remove it")


class _NodeReader:
    """Converts nodes into values."""

    def __init__(self, path: str) -> None:
        self.positions = Positions(path)
        self.findings: list[Finding] = []

    def convert(self, node: yaml.Node, place: Place, key: yaml.Node | None = None) -> Any:
        self.positions.note(place, _mark(node), _mark(key) if key else None)
        if isinstance(node, yaml.MappingNode):
            if node.tag != f"{TAG}map":
                refuse_tag(node, self._mistake)
            return self._mapping(node, place)
        if isinstance(node, yaml.SequenceNode):
            if node.tag != f"{TAG}seq":
                refuse_tag(node, self._mistake)
            return [self.convert(part, (*place, i)) for i, part in enumerate(node.value)]
        assert isinstance(node, yaml.ScalarNode)  # the only other node type
        value = convert_scalar(node, parse_scalar, self._mistake)
        if not node.style and node.tag == UNDECIDED and (yaml11 := explain_yaml11(node.value, value)):
            self.positions.yaml11_values[place] = yaml11
        if isinstance(value, str):
            self.positions.texts[place] = value
        elif value is not None:
            self.positions.raw[place] = node.value
        return value

    def _mapping(self, node: yaml.MappingNode, place: Place) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                template = isinstance(key, yaml.MappingNode)
                fix = 'put a template in quotes: "{{ … }}"' if template else "write a plain name"
                self._mistake(key, "a field name must be text", fix)
                continue
            name = key.value
            if name == "<<" and not key.style:
                self._mistake(key, "merge keys are not allowed", "write the fields out")
                continue
            if name in result:
                first = self.positions.key(*place, name)
                self._mistake(
                    key, f"`{shorten_text(name)}` is written twice; first in line {first.line}", "keep one of them"
                )
                continue
            if not key.style and (yaml11 := explain_yaml11(name, name)):
                self.positions.yaml11_keys[(*place, name)] = yaml11
            result[name] = self.convert(value, (*place, name), key)
        return result

    def _mistake(self, node: yaml.Node, message: str, fix: str) -> None:
        if len(self.findings) > MOST_FINDINGS:
            return
        if len(self.findings) == MOST_FINDINGS:
            message, fix = f"there are more than {MOST_FINDINGS} mistakes; this is the next", "fix the others first"
        self.findings.append(build_syntax_error(self.positions.path, _mark(node), message, fix))


def _mark(node: yaml.Node) -> tuple[int, int]:
    return _locate(node.start_mark)


def _locate(mark: yaml.Mark | None) -> tuple[int, int]:
    return (mark.line, mark.column) if mark else (0, 0)


def format_place(place: Place) -> str:
    """Format a place, such as ``spec.faults[0].target``; empty for the whole document."""
    parts = (f"[{part}]" if isinstance(part, int) else f".{shorten_text(part)}" for part in place)
    return "".join(parts).removeprefix(".")


def quote_place(place: Place) -> str:
    """Format a place for messages."""
    return f"`{format_place(place)}`" if place else "the document"


def build_syntax_error(path: str, mark: Mark, message: str, fix: str, opened: Mark | None = None) -> Finding:
    """Build SK101: the file cannot be parsed. ``opened`` is where a bracket or quote begins that is not closed."""
    position, *related = (
        Position(path=path, line=line + 1, column=column + 1) for line, column in filter(None, (mark, opened))
    )
    return Finding(
        code="SK101", severity=Severity.ERROR, message=message, position=position, related=tuple(related), fix=fix
    )


def _refuse(path: str, mark: Mark, message: str, fix: str, opened: Mark | None = None) -> NoReturn:
    reported = build_syntax_error(path, mark, message, fix, opened)
    raise AuthoringError(f"{reported.position}: {message}", (reported,), fix=fix)
