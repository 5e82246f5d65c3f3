"""Small damage to documents and texts, drawn by a source of chance that hypothesis can replay and shrink."""

from __future__ import annotations

import copy
from pathlib import Path
from random import Random
from typing import Any

import yaml

#: Scenarios that exercise the language.
LANGUAGE = sorted((Path(__file__).parents[1] / "fixtures" / "language").glob("*/scenario.yaml"))
#: What a value may become: every type, and what is special of each.
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 10**18, -(10**30), 0.5, 1e308, "", " ", "x", "on", "no", "~", "0", "5m", "10", "é",
    "a" * 300, "Deployment/cart", "deploy/cart", "Service/", "/", "a/b/c/d", "{{ target }}", "{{ 1 / 0 }}",
    "{% for a in range(999) %}x{% endfor %}", "{{", "{#", "\0", "\x1b[2J", "https://example.org", "2020-01", "SK101",
    [], {}, [[]], [{}], {"": ""}, {"x": None}, {"name": "x"}, [None], ["x", "x"], {"target": "Service/cart"},
)  # fmt: skip


def mutate(document: Any, random: Random, most: int = 4) -> Any:
    """A copy with one to ``most`` places changed."""
    document = copy.deepcopy(document)
    for _ in range(random.randint(1, most)):
        places = list(_places(document))
        if not places:
            return random.choice(VALUES)
        around, key = random.choice(places)
        random.choice(_KINDS)(around, key, random, document)
    return document


def _places(value: Any) -> Any:
    """Every field and entry: the collection, and the name or index in it."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inside:
        yield value, key
        yield from _places(part)


def _delete(around: Any, key: Any, random: Random, whole: Any) -> None:
    del around[key]


def _duplicate(around: Any, key: Any, random: Random, whole: Any) -> None:
    if isinstance(around, list):
        around.insert(random.randint(0, len(around)), copy.deepcopy(around[key]))
    else:
        around[f"{key}{random.choice('xXsS1')}"] = copy.deepcopy(around[key])


def _retype(around: Any, key: Any, random: Random, whole: Any) -> None:
    value = around[key]
    around[key] = random.choice(
        (str(value), [copy.deepcopy(value)], {"x": copy.deepcopy(value)}, copy.deepcopy(random.choice(VALUES)))
    )


def _reorder(around: Any, key: Any, random: Random, whole: Any) -> None:
    if isinstance(around, list):
        random.shuffle(around)
    else:
        items = list(around.items())
        random.shuffle(items)
        around.clear()
        around.update(items)


def _deepen(around: Any, key: Any, random: Random, whole: Any) -> None:
    for _ in range(random.randint(1, 50)):
        around[key] = [around[key]] if random.random() < 0.5 else {"a": around[key]}


def _transplant(around: Any, key: Any, random: Random, whole: Any) -> None:
    other, name = random.choice(list(_places(whole)))
    around[key] = copy.deepcopy(other[name])


def _misspell(around: Any, key: Any, random: Random, whole: Any) -> None:
    text = around[key] if isinstance(around[key], str) else key if isinstance(key, str) else ""
    at = random.randint(0, len(text))
    wrong = random.choice((text[:at] + text[at + 1 :], text[:at] + "x" + text[at:], text.upper(), text.lower()))
    if isinstance(around[key], str):
        around[key] = wrong
    elif isinstance(around, dict) and wrong:
        around[wrong] = around.pop(key)


_KINDS = (_delete, _duplicate, _retype, _reorder, _deepen, _transplant, _misspell)


def dump_yaml(document: Any, random: Random) -> str:
    """The document as YAML, in a style of chance."""
    return yaml.safe_dump(
        document,
        sort_keys=False,
        allow_unicode=True,
        default_flow_style=random.choice((None, True, False)),
        width=random.choice((20, 120)),
    )


def damage(text: str, random: Random) -> str:
    """The text with some lines or characters lost, doubled, moved or new."""
    for _ in range(random.randint(1, 5)):
        lines = text.split("\n")
        here, there = random.randrange(len(lines)), random.randrange(len(lines))
        match random.randrange(6):
            case 0:
                del lines[here]
            case 1:
                lines.insert(there, lines[here])
            case 2:
                lines[here], lines[there] = lines[there], lines[here]
            case 3:
                lines[here] = random.choice(("  ", "\t", "- ", "? ", "")) + lines[here]
            case _:
                at = random.randint(0, len(lines[here]))
                lines[here] = lines[here][:at] + random.choice(_PIECES) + lines[here][at:]
        text = "\n".join(lines) or " "
    return text


_PIECES = (
    ":", ": ", "- ", "[", "]", "{", "}", "&a ", "*a", "!", "!!str ", "|", ">", "%", "@", "`", '"', "'", "#", " #", "? ",
    "<<: ", "\t", "\0", "\x85", "\u2028", "\ufeff", "---\n", "...\n", "~", ",", "\r", "😀", "\\",
)  # fmt: skip


def add_comments(text: str, random: Random, same: Any) -> tuple[str, list[str]]:
    """Return the text with comments that keep its meaning (by ``same``), and the comments."""
    notes: list[str] = []
    for number in range(random.randint(0, 6)):
        lines, note = text.split("\n"), f"# note {number} of ours"
        here = random.randrange(len(lines))
        if random.random() < 0.5:
            lines.insert(here, " " * random.randint(0, 8) + note)
        else:
            lines[here] += "  " + note
        if same(tried := "\n".join(lines)):
            text, notes = tried, [*notes, note]
    return text, notes
