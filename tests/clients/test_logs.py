from __future__ import annotations

import pytest

from scenario_kit.clients.logs import parse_lines

#: 2026-11-21T07:40:00Z
T = 1795246800.0


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", []),
        ("2026-11-21T07:40:00Z hello\n", [(T, "hello")]),
        ("2026-11-21T07:40:00.250000000Z a b  c\n", [(T + 0.25, "a b  c")]),
        ("2026-11-21T08:40:00+01:00 zone\n", [(T, "zone")]),
        ("2026-11-21T07:40:00Z\n", [(T, "")]),
        ("2026-11-21T07:40:00Z Error:\n  at x\n", [(T, "Error:"), (T, "  at x")]),
        ("2026-11-21T07:40:00Z \xff\n", [(T, "\ufffd")]),
    ],
)
def test_lines(text: str, lines: list[tuple[float, str]]) -> None:
    found = list(parse_lines(text.encode("latin-1"), "p", "c"))
    assert [(line.at, line.text) for line in found] == lines
    assert {(line.pod, line.container) for line in found} <= {("p", "c")}


def test_since() -> None:
    data = b"2026-11-21T07:39:59.9Z old\n  of old\n2026-11-21T07:40:00Z new\n"
    assert [line.text for line in parse_lines(data, "p", "c", T)] == ["new"]
