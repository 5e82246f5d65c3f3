"""One YAML document as plain values, with the position of every one of them.

The reading is narrower than YAML: one document, the core schema of YAML 1.2 (``on`` and ``no`` are text), text keys,
no tags, no merge keys, no duplicate keys, and bounds on size, depth and the number of nodes that aliases may produce.
Every mistake is collected; reading goes on where it can.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import yaml

from scenario_kit.errors import AuthoringError, UsageError
from scenario_kit.load.nesting import TooDeep, shallow
from scenario_kit.model import Finding, Position, Severity

#: A place in a document: field names and list indices from the root.
Path_ = tuple[str | int, ...]

MAX_BYTES = 256 * 1024
MAX_DEPTH = 40
MAX_NODES = 50_000

LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TAG = "tag:yaml.org,2002:"
_PLAIN_TAGS = frozenset(_TAG + t for t in ("null", "bool", "int", "float", "str", "timestamp", "value", "merge"))
_WORDS: dict[str, Any] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
}  # fmt: skip
_INTEGER = re.compile(r"[-+]?[0-9]+$")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$")


class Positions:
    """Where the values and keys of a document stand."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._values: dict[Path_, tuple[int, int]] = {}
        self._keys: dict[Path_, tuple[int, int]] = {}
        #: Every text value of the document.
        self.texts: dict[Path_, str] = {}
        #: How the document spells its numbers and booleans.
        self.raw: dict[Path_, str] = {}

    def note(self, place: Path_, value: tuple[int, int], key: tuple[int, int] | None = None) -> None:
        """Remember a value and, for a field, its key."""
        self._values[place] = value
        if key:
            self._keys[place] = key

    def value(self, *place: str | int) -> Position:
        """Position of the value at ``place``, or of the nearest thing around it."""
        return self._nearest(self._values, place)

    def key(self, *place: str | int) -> Position:
        """Position of the field name at ``place``; of the value where there is no such name."""
        return self._at(self._keys[place]) if place in self._keys else self.value(*place)

    def _nearest(self, known: dict[Path_, tuple[int, int]], place: Path_) -> Position:
        while place and place not in known:
            place = place[:-1]
        return self._at(known.get(place, (0, 0)))

    def _at(self, mark: tuple[int, int]) -> Position:
        return Position(path=self.path, line=mark[0] + 1, column=mark[1] + 1)


class Document(NamedTuple):
    """The values of a file, their positions, and what is wrong with the file as YAML."""

    data: Any
    positions: Positions
    findings: tuple[Finding, ...]


def read_document(path: Path) -> Document:
    """Read one file.

    Raises:
        UsageError: there is no such file, or it cannot be read.
        AuthoringError: the file is not UTF-8, too large, not YAML, or not exactly one document.
    """
    shown = str(path)
    try:
        raw = path.read_bytes() if path.stat().st_size <= MAX_BYTES else None
    except OSError as error:
        raise UsageError(f"cannot read {shown}: {error.strerror}", fix="name an existing file") from error
    if raw is None:
        _refuse(
            shown, (0, 0), f"the file is larger than {MAX_BYTES // 1024} KiB", "move manifests out of it, or split it"
        )
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start)
        column = error.start - (raw.rfind(b"\n", 0, error.start) + 1)
        _refuse(shown, (line, column), f"the file is not UTF-8 text: byte 0x{raw[error.start]:02x}", "save it as UTF-8")
    return parse(text, shown)


def parse(text: str, path: str) -> Document:
    """The document in ``text``; ``path`` is what positions show.

    Raises:
        AuthoringError: not YAML, or not exactly one document.
    """
    try:
        shallow(text)
        nodes = [node for node in yaml.compose_all(text, Loader=LOADER) if node is not None]
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = (mark.line, mark.column) if mark else (0, 0)
        context = f" {error.context}" if error.context else ""
        _refuse(path, where, f"the file is not YAML: {error.problem}{context}", "correct the YAML at this place")
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position)
        _refuse(path, (line, 0), f"the file is not YAML: character U+{error.character:04X} is not allowed", "remove it")
    except (RecursionError, TooDeep):
        _refuse(path, (0, 0), f"the file nests deeper than {MAX_DEPTH} levels", "flatten it")
    if not nodes:
        _refuse(path, (0, 0), "the file holds no document", "write one, or remove the file")
    if len(nodes) > 1:
        _refuse(path, _mark(nodes[1]), f"the file holds {len(nodes)} documents instead of one", "one file per object")
    reader = _Reader(path)
    data = reader.convert(nodes[0], (), 0)
    return Document(data, reader.positions, tuple(reader.findings))


class _Reader:
    """Turns nodes into values."""

    def __init__(self, path: str) -> None:
        self.positions = Positions(path)
        self.findings: list[Finding] = []
        self._nodes = 0

    def convert(self, node: yaml.Node, place: Path_, depth: int, key: yaml.Node | None = None) -> Any:
        self._nodes += 1
        if self._nodes > MAX_NODES:
            _refuse(
                self.positions.path,
                _mark(node),
                f"aliases blow the file up to more than {MAX_NODES} values",
                "write the values out",
            )
        if depth > MAX_DEPTH:
            _refuse(self.positions.path, _mark(node), f"the file nests deeper than {MAX_DEPTH} levels", "flatten it")
        self.positions.note(place, _mark(node), _mark(key) if key else None)
        if isinstance(node, yaml.MappingNode):
            self._tagged(node, "map")
            return self._mapping(node, place, depth)
        if isinstance(node, yaml.SequenceNode):
            self._tagged(node, "seq")
            return [self.convert(part, (*place, i), depth + 1) for i, part in enumerate(node.value)]
        assert isinstance(node, yaml.ScalarNode)  # the only other kind of node
        if node.tag not in _PLAIN_TAGS:
            self._mistake(node, f"the tag '{node.tag}' is not allowed", "remove the tag")
        value = node.value if node.style or node.tag == _TAG + "str" else scalar(node.value)
        if isinstance(value, str):
            self.positions.texts[place] = value
        elif value is not None:
            self.positions.raw[place] = node.value
        return value

    def _mapping(self, node: yaml.MappingNode, place: Path_, depth: int) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                self._mistake(key, "a field name must be text", "write a plain name")
                continue
            name = key.value
            if name == "<<" and not key.style:
                self._mistake(key, "merge keys are not allowed", "write the fields out")
                continue
            if name in result:
                first = self.positions.key(*place, name)
                self._mistake(key, f"`{name}` is written twice; first in line {first.line}", "keep one of them")
                continue
            result[name] = self.convert(value, (*place, name), depth + 1, key)
        return result

    def _tagged(self, node: yaml.Node, kind: str) -> None:
        if node.tag != _TAG + kind:
            self._mistake(node, f"the tag '{node.tag}' is not allowed", "remove the tag")

    def _mistake(self, node: yaml.Node, message: str, fix: str) -> None:
        self.findings.append(mistake(self.positions.path, _mark(node), message, fix))


def scalar(text: str) -> Any:
    """What a plain scalar means in the core schema of YAML 1.2; integers too long for a machine stay text."""
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.match(text) and len(text) <= 19:
        return int(text)
    return float(text) if _FLOAT.match(text) else text


def _mark(node: yaml.Node) -> tuple[int, int]:
    mark = node.start_mark
    return (mark.line, mark.column) if mark else (0, 0)


def mistake(path: str, mark: tuple[int, int], message: str, fix: str) -> Finding:
    """SK101: the file is not a document that could be read."""
    position = Position(path=path, line=mark[0] + 1, column=mark[1] + 1)
    return Finding(code="SK101", severity=Severity.ERROR, message=message, position=position, fix=fix)


def _refuse(path: str, mark: tuple[int, int], message: str, fix: str) -> NoReturn:
    raise AuthoringError(f"{path}: {message}", (mistake(path, mark, message, fix),), fix=fix)
