"""Files that are not one plain YAML document."""

from __future__ import annotations

from pathlib import Path

import pytest

from scenario_kit.errors import AuthoringError, UsageError
from scenario_kit.load.yaml.document import MAX_BYTES, parse, read_document

BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 9)
)


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("a: [1, 2\nb: }", 2, 2, "not YAML"),
        ("a: 1\n---\nb: 2\n", 3, 1, "more than one document"),
        ("", 1, 1, "no document"),
        ("# only a comment\n", 1, 1, "no document"),
        ("---\n---\n", 1, 1, "no document"),
        ("a: *missing", 1, 4, "undefined alias"),
        (BOMB, 5, 35, "aliases expand the file to more than 50000 values"),
        ("[" * 300 + "]" * 300, 1, 41, "nests deeper"),
        ("a: &a\n  b: *a\n", 2, 6, "is part of what it repeats"),
        ("a: 1\nb: \x01", 2, 4, r"U\+0001"),
        ("# a\x85b: 1\na: 1", 1, 4, r"U\+0085 is not allowed: readers"),
        ("a: 1 # \u202eb", 1, 8, r"U\+202E is not allowed: readers"),
        ("a: 1\r\n# b\rc: 1\n", 2, 4, r"U\+000D is not allowed: readers"),
    ],
    ids=[
        "syntax",
        "two documents",
        "empty",
        "comment",
        "separators",
        "alias",
        "bomb",
        "depth",
        "recursion",
        "control character",
        "unshown line break",
        "reversed text",
        "line break within a line",
    ],
)
def test_refused(text: str, line: int, column: int, message: str) -> None:
    with pytest.raises(AuthoringError, match=message) as caught:
        parse(text, "f.yaml")

    (finding,) = caught.value.findings
    assert finding.code == "SK101"
    assert finding.fix
    assert finding.position is not None
    assert (finding.position.line, finding.position.column) == (line, column)


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("a: 1\nb: 2\na: 3", 3, 1, "`a` is written twice; first in line 1"),
        ("x: {a: 1, a: 2}", 1, 11, "`a` is written twice"),
        ("? [a]\n: 1\n", 1, 3, "a field name must be text"),
        ("a: &x {b: 1}\nc:\n  <<: *x\n", 3, 3, "merge keys"),
        ("a: !!python/object/apply:os.system ['id']", 1, 4, "python/object/apply:os.system"),
        ("a: !secret x", 1, 4, "'!secret' is not allowed"),
        ("a: !!binary aGk=", 1, 4, "2002:binary' is not allowed"),
        ("a: !!int many", 1, 4, "'many' is not of the type that its tag `!!int` gives it"),
        ("a: !!bool 1", 1, 4, "'1' is not of the type that its tag `!!bool` gives it"),
    ],
)
def test_recoverable_findings_have_positions(text: str, line: int, column: int, message: str) -> None:
    (finding,) = parse(text, "f.yaml").findings

    assert message in finding.message
    assert finding.position is not None
    assert (finding.position.line, finding.position.column) == (line, column)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("on: yes", {"on": "yes"}),
        ("a: no", {"a": "no"}),
        ("a: true", {"a": True}),
        ("a: ~", {"a": None}),
        ("a: 010", {"a": 10}),
        ("a: 1:30", {"a": "1:30"}),
        ("a: 2.2.0", {"a": "2.2.0"}),
        ("a: 2027-01-01", {"a": "2027-01-01"}),
        ("a: 0.5", {"a": 0.5}),
        ("a: '5'", {"a": "5"}),
        ("a: &x [1]\nb: *x", {"a": [1], "b": [1]}),
        ("a: !!int '480'", {"a": 480}),
        ("a: !!str 480", {"a": "480"}),
        ("a: !!float 1", {"a": 1.0}),
        ("a: !!bool 'true'", {"a": True}),
        ("a: !!null ''", {"a": None}),
        ("!!map\na: !!seq [b]\n", {"a": ["b"]}),
        ("---\na: 1\n---\n", {"a": 1}),
        ("# first\n---\n# second\n---\na: 1\n...\n---\n# last\n", {"a": 1}),
    ],
)
def test_scalars_follow_yaml_1_2(text: str, value: object) -> None:
    document = parse(text, "f.yaml")

    assert document.data == value
    assert document.findings == ()


def test_positions_cover_values_and_keys() -> None:
    positions = parse("a:\n  - b: 1\n    c: 2\n", "f.yaml").positions

    assert str(positions.value("a", 0, "c")) == "f.yaml:3:8"
    assert str(positions.key("a", 0, "c")) == "f.yaml:3:5"
    assert str(positions.value("a", 0, "missing", "deeper")) == "f.yaml:2:5"


def test_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "f.yaml"
    path.write_bytes(b"a: 1\nb: \xff\n")

    with pytest.raises(AuthoringError, match="not UTF-8 text: byte 0xff") as caught:
        read_document(path)
    assert str(caught.value.findings[0].position) == f"{path}:2:4"


def test_too_large(tmp_path: Path) -> None:
    path = tmp_path / "f.yaml"
    path.write_text("# " + "x" * MAX_BYTES)

    with pytest.raises(AuthoringError, match="larger than 256 KiB"):
        read_document(path)


def test_byte_order_mark_is_no_mistake(tmp_path: Path) -> None:
    path = tmp_path / "f.yaml"
    path.write_bytes(b"\xef\xbb\xbfa: 1\n")

    assert read_document(path).data == {"a": 1}


@pytest.mark.parametrize("name", ["missing.yaml", "missing/f.yaml"])
def test_no_file(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read"):
        read_document(tmp_path / name)
