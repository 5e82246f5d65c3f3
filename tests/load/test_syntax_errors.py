"""YAML syntax errors: cause and position in the author's terms."""

from __future__ import annotations

import pytest

from scenario_kit.errors import AuthoringError
from scenario_kit.load.yaml.document import parse


@pytest.mark.parametrize(
    ("text", "place", "message", "fix"),
    [
        ("title: Cart fails: port wrong\n", (1, 18), "`title` contains a colon", 'title: "Cart fails: port wrong"'),
        ("- a: b: c\n", (1, 7), "the text of `a` contains a colon", 'a: "b: c"'),
        ("a: say \"x\": y\n", (1, 11), "the text of `a` contains a colon", "a: 'say \"x\": y'"),
        ("m:\n\tname: a\n", (2, 1), "a tab", "spaces"),
        ("m:\n  a: b\n \tc: d\n", (3, 2), "a tab", "spaces"),
        ("a: |\n\tb\n", (2, 1), "a tab", "spaces"),
        ("m: {name: a\nspec:\n  b: c\n", (2, 5), "the bracket `{` opened in line 1, column 4 is not closed", "`}`"),
        ("s:\n  t: [a, b\n  u: c\n", (3, 4), "the bracket `[` opened in line 2, column 6 is not closed", "`]`"),
        ("a: {b: c\n", (2, 1), "the bracket `{` opened in line 1, column 4", "`}`"),
        ("a: {b: c]\n", (1, 9), "`]` does not close `{`, which opens in line 1, column 4", "`}`"),
        ("a: {b: c d: e}\n", (1, 11), "a `,` or `}` is missing here", "comma"),
        ("a: [x]]\n", (1, 7), "`]` has no opening bracket", "remove it"),
        ('a: "b\nc: d\n', (1, 4), 'the quote " opened in line 1, column 4 is never closed', '"'),
        ('a: "b\nc: "d"\n', (2, 5), 'the quote " opened in line 1, column 4 is closed only in line 2', '"'),
        ("a: 'it's'\n", (1, 8), "text continues after the closing quote '", 'write "it\'s"'),
        ('a: "b" c\n', (1, 8), 'text continues after the closing quote "', "write '\"b\" c'"),
        ("a: @b\n", (1, 4), "cannot begin with `@`", 'write "@b"'),
        ("a: %b\n", (1, 4), "cannot begin with `%`", 'write "%b"'),
        ("a: *.failed\n", (1, 4), "cannot begin with `*`", 'write "*.failed"'),
        ("a: *b\n", (1, 4), "undefined alias 'b'", 'write "*b"'),
        ('a: "\\q"\n', (1, 5), "`\\q` is not an escape sequence in double quotes", "single quotes"),
        ('a: "\\uD83D\\uDE00"\n', (1, 5), "`\\uD83D` is the code of no character", "pairs of codes"),
        ('a: "x\\U00110000"\n', (1, 6), "`\\U00110000` is the code of no character", "pairs of codes"),
        ("a: {{ x }}/b\n", (1, 4), "`{{` opens two mappings", '"{{ x }}"'),
        ("a: b\n  c: d\n", (2, 3), "`c` is indented deeper than `a` in line 1, which already has a value", "like its"),
        ("m:\n  a: b\n c: d\n", (3, 2), "this line is indented by 1, but no line above is (0, 2)", "indent it by"),
        ("on:cart\nx: y\n", (1, 3), "`on:` needs a space after its colon", "write `on: cart`"),
        ("m:\n  on:cart\n  x: y\n", (2, 5), "`on:` needs a space after its colon", "write `on: cart`"),
        ("a: b\n- c\n", (2, 1), "a list entry is used where a field is expected", "indent it"),
        ("a:\n  - b\n  c: d\n", (3, 3), "a field is used where an entry of the list that begins in line 2", "`- `"),
        ("a: 1\nfoo\nb: 2\n", (2, 1), "`foo` is neither a field nor part", "name: value"),
    ],
)  # fmt: skip
def test_cause_is_named(text: str, place: tuple[int, int], message: str, fix: str) -> None:
    with pytest.raises(AuthoringError) as caught:
        parse(text, "f.yaml")
    (finding,) = caught.value.findings

    assert message in finding.message
    assert fix in finding.fix
    assert finding.position is not None
    assert (finding.position.line, finding.position.column) == place


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("s:\n  t: [a, b\n  u: c\n", [(2, 6)]),
        ('a: "b\nc: "d"\n', [(1, 4)]),
        ("a: {b: c]\n", [(1, 4)]),
        ("a: [x]]\n", []),
    ],
)
def test_unclosed_bracket_is_a_related_position(text: str, places: list[tuple[int, int]]) -> None:
    with pytest.raises(AuthoringError) as caught:
        parse(text, "x.yaml")
    (finding,) = caught.value.findings
    assert [(at.line, at.column) for at in finding.related] == places
