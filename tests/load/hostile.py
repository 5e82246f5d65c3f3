"""Malicious files and field values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import yaml

VALID = Path(__file__).parents[2] / "catalog/scenarios/product-catalog-wrong-target-port/scenario.yaml"
LEVELS = 100_000


def _bomb(width: int, levels: int, first: str = "x") -> str:
    lines = [f"a0: &a0 [{', '.join([first] * width)}]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * width)}]" for i in range(1, levels)]
    return "\n".join(lines) + "\n"


def _merges(levels: int) -> str:
    lines = ["a0: &a0 {k: 1, l: 2}"]
    lines += [f"a{i}: &a{i} {{<<: [*a{i - 1}, *a{i - 1}], m{i}: 1}}" for i in range(1, levels)]
    return "\n".join(lines) + "\n"


def _chain(levels: int) -> str:
    return "a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}]\n" for i in range(1, levels))


def _staircase(levels: int) -> str:
    return "".join(" " * i + "a:\n" for i in range(levels))


def _yield_nested() -> Iterator[tuple[str, str | bytes]]:
    for name, opening in (
        ("flow lists", "["), ("flow mappings", "{a: "), ("block lists", "- "), ("complex keys", "? "),
        ("values without keys", ": "), ("flow complex keys", "{? "), ("lists in mappings", "[{a: "),
        ("lists and keys", "- ? "), ("anchored lists", "&a ["), ("tagged lists", "!!seq ["),
    ):  # fmt: skip
        yield f"{name}, deep", opening * LEVELS
    yield "flow lists, deep and closed", "[" * LEVELS + "]" * LEVELS
    yield "flow lists, one a line", "[\n" * LEVELS
    yield "flow mappings, one a line", "{a:\n" * LEVELS
    yield "flow lists behind a key", "a: " + "[" * LEVELS
    yield "flow lists in 250 KiB", "[" * 255_000
    yield "block lists in 250 KiB", "- " * 127_000
    yield "complex keys in 250 KiB", "? " * 127_000
    yield "flow mappings in 250 KiB", "{a: " * 63_000
    yield "flow keys in 250 KiB", "{? " * 63_000
    yield "complex keys in lists", "? [" * 80_000
    yield "a staircase", _staircase(700)
    yield "brackets in a text", "a: '" + "[" * 200_000 + "'\n"
    yield "flow lists that close too often", "]" * LEVELS
    yield "closing other brackets", "[}" * LEVELS


def _yield_aliased() -> Iterator[tuple[str, str | bytes]]:
    yield "billion laughs", _bomb(9, 9)
    yield "billion laughs of text", _bomb(9, 6, "x" * 1_000)
    yield "long text, many aliases", "a: &a '" + "x" * 100_000 + "'\nb: [" + "*a, " * 30_000 + "]\n"
    yield "merge keys of merge keys", _merges(40)
    yield "one merge key", "a: &a {b: 1}\nc: {<<: *a}\n"
    yield "a chain of aliases", _chain(5_000)
    yield "a list in itself", "&a [*a]\n"
    yield "a mapping in itself", "a: &a\n  b: *a\n"
    yield "a key that is itself", "&a {? *a : 1}\n"
    yield "two that hold each other", "a: &a [*b]\nb: &b [*a]\n"
    yield "an alias of nothing", "a: *b\n"
    yield "an anchor twice", "a: &a 1\nb: &a 2\n"
    yield "many anchors", "".join(f"a{i}: &a{i} x\n" for i in range(15_000))
    yield "a long anchor", "a: &" + "a" * 200_000 + " 1\n"


def _yield_large() -> Iterator[tuple[str, str | bytes]]:
    yield "10 MB of comments", "# x\n" * 2_500_000
    yield "10 MB of text", "a: '" + "x" * 10_000_000 + "'\n"
    yield "250 KiB of text", "a: '" + "x" * 250_000 + "'\n"
    yield "250 KiB of plain words", "a: " + "x " * 125_000
    yield "250 KiB of plain lines", "a:\n" + " x\n" * 80_000
    yield "250 KiB of folded lines", "a: >\n" + " x\n" * 80_000
    yield "250 KiB of empty lines", "a: |\n" + "\n" * 250_000 + " x"
    yield "250 KiB of comments", "#\n" * 125_000
    yield "250 KiB of spaces", " " * 250_000
    yield "250 KiB of escapes", 'a: "' + "\\u0041" * 40_000 + '"\n'
    yield "250 KiB key", "x" * 250_000 + ": 1\n"
    yield "250 KiB quoted key", "'" + "x" * 250_000 + "': 1\n"
    yield "250 KiB complex key", "? '" + "x" * 250_000 + "'\n: 1\n"
    yield "30,000 fields", "".join(f"a{i}: 1\n" for i in range(20_000))
    yield "40,000 fields of one name", "a: 1\n" * 45_000
    yield "40,000 entries", "[" + "a, " * 40_000 + "]"
    yield "120,000 entries", "[" + "a," * 120_000 + "]"
    yield "120,000 empty entries", "[" + "[]," * 80_000 + "]"
    yield "80,000 documents", "---\n" * 60_000
    yield "20,000 documents that hold something", "--- a\n" * 20_000
    yield "20,000 ends of documents", "...\n" * 60_000
    yield "20,000 directives", "%YAML 1.1\n" * 20_000
    yield "20,000 tag directives", "".join(f"%TAG !a{i}! tag:x,{i}:\n" for i in range(8_000)) + "--- a\n"
    yield "30,000 tags", "[" + "!!python/name:os.system '', " * 8_000 + "]"
    yield "a long tag", "!" + "a" * 200_000 + " x\n"
    yield "20,000 complex keys", "".join(f"? [a{i}]\n: 1\n" for i in range(15_000))


def _yield_odd() -> Iterator[tuple[str, str | bytes]]:
    yield "nothing", b""
    yield "a byte order mark only", b"\xef\xbb\xbf"
    yield "two byte order marks", b"\xef\xbb\xbf\xef\xbb\xbfa: 1\n"
    yield "a byte order mark inside", "a: 1\n\ufeffb: 1\n"
    yield "UTF-16, little end first", VALID.read_text().encode("utf-16-le")
    yield "UTF-16 with a mark", VALID.read_text().encode("utf-16")
    yield "UTF-16, big end first", b"\xfe\xff" + VALID.read_text().encode("utf-16-be")
    yield "UTF-32", VALID.read_text().encode("utf-32")
    yield "no UTF-8", b"a: 1\nb: \xff\xfe\n"
    yield "half a character", "a: é".encode()[:-1]
    yield "a lone surrogate", b"a: \xed\xa0\x80\n"
    yield "an escaped lone surrogate", 'a: "\\ud800"\n'
    yield "an escaped pair of surrogates", 'a: "\\ud83d\\ude00"\n'
    yield "an escape beyond Unicode", 'a: "\\UFFFFFFFF"\n'
    yield "NUL", b"a: 1\nb: \0\n"
    yield "NUL only", b"\0" * 100
    yield "an escaped NUL", 'a: "\\0"\n'
    yield "control characters", "a: \x07\n"
    yield "terminal escapes", "a: \x1b[31m\n"
    yield "escaped terminal escapes", '"\\e[31mred": 1\n'
    yield "a tab as indentation", "a:\n\tb: 1\n"
    yield "tabs only", "\t\t\t"
    yield "other line breaks", "a: 1\rb: 2\x85c: 3\u2028d: \x0c\n"
    yield "right to left", "a: \u202e1\n"
    yield "a name twice", "apiVersion: a\napiVersion: b\n"
    yield "a tag of Python", "a: !!python/object/apply:os.system ['touch /tmp/owned']\n"
    yield "a tag of its own", "--- !scenario\na: 1\n"
    yield "a set", "a: !!set {b, c}\n"
    yield "binary", "a: !!binary '===='\n"
    yield "an ordered mapping", "a: !!omap [b: 1]\n"
    yield "an integer that is none", "a: !!int x\n"
    yield "a float that is none", "a: !!float x\n"
    yield "a time that is none", "a: 2020-99-99\n"
    yield "a tagged time that is none", "a: !!timestamp x\n"
    yield "a number for a document", "5\n"
    yield "a text for a document", "hello\n"
    yield "a list for a document", "- a\n"
    yield "an empty list", "[]\n"
    yield "an empty mapping", "{}\n"
    yield "empty", "~\n"
    yield "a field without a name", ": 1\n"
    yield "a field whose name is empty", "'': 1\n"
    yield "a list for a name", "? [a]\n: 1\n"
    yield "a mapping for a name", "{a: 1}: 1\n"
    yield "an empty name of a list", "[]: 1\n"
    yield "an unknown directive", "%FOO\n--- a\n"
    yield "YAML of the future", "%YAML 9.9\n--- a\n"
    yield "an open text", "a: 'b\n"
    yield "an open list", "a: [b\n"
    yield "a program", Path(__file__).read_bytes()
    yield "an image", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
    yield "JSON", '{"apiVersion": "scenariokit.io/v1alpha1", "kind": "Scenario"}'


#: Values that fields of a scenario may be given.
VALUES = {
    "an integer of 10,000 digits": "9" * 10_000,
    "an integer beyond 64 bits": "9" * 30,
    "a negative integer": "-5",
    "octal": "0o17",
    "old octal": "017",
    "hexadecimal": "0xFF",
    "infinite": ".inf",
    "not a number": ".nan",
    "a huge float": "1e999",
    "a tiny float": "1e-999",
    "sexagesimal": "1:30:00",
    "a time": "2027-01-01T00:00:00Z",
    "a date": "2027-01-01",
    "yes": "yes",
    "empty": "~",
    "a list": "[a]",
    "a mapping": "{a: b}",
    "a text of 200 KiB": "'" + "a" * 200_000 + "'",
    "a deep template": "'" + "{{ " + "(" * 5_000 + "1" + ")" * 5_000 + " }}'",
    "a long template": "'{{ " + "1 + " * 20_000 + "1 }}'",
    "a template of lists": "'{{ " + "[" * 5_000 + "]" * 5_000 + " }}'",
    "a template of filters": "'{{ 1" + " | string" * 10_000 + " }}'",
    "a template that loops": "'" + "{% for a in range(999) %}" * 2 + "x" + "{% endfor %}" * 2 + "'",
    "an open template": "'{{ '",
    "a template of statements": "'" + "{% if 1 %}" * 3_000 + "{% endif %}" * 3_000 + "'",
    "a template that grows": "\"{{ 'a' * 999999999 }}\"",
    "slashes": "'" + "/" * 50_000 + "'",
    "hyphens": "'" + "a-" * 50_000 + "!'",
    "NUL": '"a\\0b"',
    "dots": "../../../etc/passwd",
    "another planet": "'😀'",
}


def list_deep_or_large() -> dict[str, bytes]:
    """Files that could end, stop or fill a process."""
    return _encode(_yield_nested, _yield_aliased, _yield_large)


def list_odd() -> dict[str, bytes]:
    """List small malformed files."""
    return _encode(_yield_odd)


def _encode(*families: Callable[[], Iterator[tuple[str, str | bytes]]]) -> dict[str, bytes]:
    found = (entry for family in families for entry in family())
    return {name: content.encode() if isinstance(content, str) else content for name, content in found}


def scalars(text: str) -> list[tuple[int, int]]:
    """Where the scalars of a text start and end, those that are names excluded."""
    found: list[tuple[int, int]] = []
    left = [yaml.compose(text, Loader=yaml.SafeLoader)]
    while left:
        node = left.pop()
        if isinstance(node, yaml.MappingNode):
            left += [value for _, value in node.value]
        elif isinstance(node, yaml.SequenceNode):
            left += node.value
        else:
            found.append((node.start_mark.index, node.end_mark.index))
    return found
