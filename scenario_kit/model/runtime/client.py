"""Clients of stores and queues that an app defines for the operation ``run``.

A command is a list of words. A word ``{name}`` matches any text, so that one entry covers all values; within a longer
word it matches only text without blanks and quotes, so that no value adds a command to a script or a statement. The
effect of a command is declared as data, for the simulated store.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from scenario_kit.model.base import Value

_HOLE = re.compile(r"\{(\w+)\}")
#: Text that is one word, whatever reads it.
_PLAIN = r"[\w.:/@%+=,-]*?"


class StoreEffect(Value, frozen=True, kw_only=True):
    """The effect of a command on its store; values may contain the command's ``{name}``. Empty if it only reads.

    ``set_password`` sets the password of ``user`` (none: the default user); an empty one allows anyone. ``drop_user``
    disables a login, ``create_user`` enables it again, by default with its former password. ``table`` and ``privilege``
    restrict what is revoked from a role. The last three last as long as the command runs, which does not end by itself.
    """

    user: str = ""
    set_password: str | None = None
    create_user: str = ""
    drop_user: str = ""
    revoke_role: str = ""
    grant_role: str = ""
    table: str = ""
    privilege: str = ""
    lock_table: str = ""
    hold_connections: str = ""
    add_bytes_per_second: str = ""

    @property
    def lasts(self) -> bool:
        """Whether the command runs until it is stopped."""
        return bool(self.lock_table or self.hold_connections or self.add_bytes_per_second)

    def filled(self, words: Mapping[str, str]) -> StoreEffect:
        """Return the effect with each ``{name}`` replaced."""
        document = {k: fill(v, words) if isinstance(v, str) else v for k, v in self.to_json().items()}
        return StoreEffect.from_json(document)


class ClientCommand(Value, frozen=True, kw_only=True):
    """A command. ``choices`` restricts the values of a ``{name}``."""

    command: tuple[str, ...]
    choices: dict[str, tuple[str, ...]] = {}
    does: StoreEffect = StoreEffect()


class Client(Value, frozen=True, kw_only=True):
    """A program that connects to a store or queue (the component ``store``), from a pinned image.

    ``address`` is a URL in which ``{name}`` refers to the command, and ``$(NAME)`` to the environment. ``env`` has the
    format of a container's.
    """

    name: str
    store: str
    image: str
    address: str
    env: tuple[dict[str, Any], ...] = ()
    service_account: str = ""
    commands: tuple[ClientCommand, ...]

    def matched(self, words: Sequence[str]) -> tuple[ClientCommand, dict[str, str]] | None:
        """Return the entry that matches a command, with the values of each ``{name}``; None if there is none."""
        for entry in self.commands:
            found = match_command(entry.command, tuple(words))
            if found is not None and all(found.get(k) in values for k, values in entry.choices.items() if k in found):
                return entry, found
        return None


def match_command(pattern: Sequence[str], words: Sequence[str]) -> dict[str, str] | None:
    """Return the values of each ``{name}`` in a command; None if it does not match the pattern."""
    if len(pattern) != len(words):
        return None
    known: dict[str, str] = {}
    for expected, word in zip(pattern, words, strict=True):
        found = _compile_pattern(expected).fullmatch(word)
        if found is None:
            return None
        for name, text in found.groupdict().items():
            if known.setdefault(name, text) != text:
                return None
    return known


def fill(text: str, words: Mapping[str, str]) -> str:
    """Replace every known ``{name}``."""
    return _HOLE.sub(lambda m: words.get(m[1], m[0]), text)


@lru_cache(maxsize=1024)
def _compile_pattern(pattern: str) -> re.Pattern[str]:
    parts, seen, at = [], set(), 0
    text = ".*?" if _HOLE.fullmatch(pattern) else _PLAIN
    for hole in _HOLE.finditer(pattern):
        parts.append(re.escape(pattern[at : hole.start()]))
        parts.append(f"(?P={hole[1]})" if hole[1] in seen else f"(?P<{hole[1]}>{text})")
        seen.add(hole[1])
        at = hole.end()
    return re.compile("".join([*parts, re.escape(pattern[at:])]), re.DOTALL)
