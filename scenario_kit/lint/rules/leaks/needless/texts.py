"""Prose for readers: comments in files, output of commands, descriptions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from scenario_kit.lint.rules.leaks.needless.surroundings import Needless, ObjectSurroundings
from scenario_kit.lint.rules.leaks.needless.words import OUTPUT
from scenario_kit.lint.simulation.stages import list_containers
from scenario_kit.model import Object
from scenario_kit.model.json_document import Place, get_part

#: Fields without an effect.
_DESCRIPTIONS: Final = ("description", "message", "note", "comment", "reason", "displayName")
_COMMENT: Final = re.compile(r"^\s*(?:#|//|;|--\s)\s*(\S.*)$")
#: Text that a shell ignores: trailing comments, arguments of the empty command.
_UNREAD: Final = re.compile(r"(?:\s#\s*|(?:^|[;&|(]\s*):\s+)(\S.*)$")
#: Four words in a row, as in prose but not in settings. A word begins at its first quote: texts may be long.
_PROSE: Final = re.compile(r"(?<![\w$./=-])(?<![a-z']')[A-Za-z]?[a-z']+(?:,? [a-z']+){3,}(?![\w=(/-])")
#: What follows output that another program reads, or a file: a pipe or a redirection, except to the container's log.
_TAKEN: Final = (
    r"\|(?!\||\s*(?:cat|logger|tee)\b)"
    r"|>(?!>?\s*(?:&|/dev/(?:console|stderr|stdout|tty)\b|/proc/\w+/fd/[12]\b))"
)
#: Words that a command prints into the log. They are never shortened, lest a part of them is not followed by the pipe.
_PRINTED: Final = re.compile(
    rf"""(?<![\w-])(?:echo|printf|logger)\s++(?:-\w+\s++)*+((?:\\.|"[^"]*"|'[^']*'|[^|;&>\n)])*+)(?!{_TAKEN})"""
)
#: Shorter words are options and parts of file names.
_MIN_CHARACTERS: Final = 3
_LETTERS: Final = re.compile(r"[A-Za-z]{3,}")


def find_texts(
    obj: Object, was: Object | None, new: Sequence[tuple[Place, str]], world: ObjectSurroundings
) -> Iterator[Needless]:
    """Find texts that only people read, among the object's new ones."""
    commands = {(*keys, field) for keys, _ in list_containers(obj) for field in ("command", "args")}
    for keys, value in new:
        if keys[:1] == ("metadata",):
            continue
        if any(keys[: len(place)] == place for place in commands):
            yield from _find_printed(keys, value, world)
        elif keys[-1] in _DESCRIPTIONS:
            yield Needless(keys, value, f"{keys[-1]}: only people read it")
        elif keys[0] == "status":
            yield Needless(keys, value, "a status that no controller wrote")
        else:
            yield from _document(keys, value, _read_former(was, keys))


def _find_printed(keys: Place, text: str, world: ObjectSurroundings) -> Iterator[Needless]:
    for match in _PRINTED.finditer(text):
        reported = match[1].strip("\"' ")
        telling = [word for word in world.strange(reported) if len(word) >= _MIN_CHARACTERS and word not in OUTPUT]
        if telling:
            yield Needless(keys, text, f"the command prints '{reported[:60]}', which changes nothing")
    for line in text.splitlines():
        comment = _COMMENT.match(line) or _UNREAD.search(line)
        if comment and not line.startswith("#!") and _LETTERS.search(comment[1]):
            yield Needless(keys, text, f"the command has a comment: '{comment[1][:60]}'")


def _document(keys: Place, text: str, before: str) -> Iterator[Needless]:
    known = set(before.splitlines())
    for line in text.splitlines():
        if line in known:
            continue
        comment = _COMMENT.match(line)
        if comment and "\n" in text and not line.startswith("#!") and _LETTERS.search(comment[1]):
            yield Needless(keys, text, f"a comment: '{comment[1][:60]}'")
        elif (prose := _PROSE.search(line)) and prose[0] not in before:
            yield Needless(keys, text, f"a sentence: '{prose[0][:60]}'")


def _read_former(was: Object | None, keys: Place) -> str:
    value = get_part(was, keys)
    return value if isinstance(value, str) else ""
