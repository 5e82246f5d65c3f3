"""Clients of stores and queues, as an app's definition lists them: what the operation ``run`` may start.

A command is a list of words. ``{name}`` in a word stands for any text, so that one entry covers every value; what the
command does to its store is data too, for whoever simulates the store.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from scenario_kit.model.base import Value

_HOLE = re.compile(r"\{(\w+)\}")


class StoreEffect(Value, frozen=True, kw_only=True):
    """What a command does to its store; texts may hold the command's ``{name}``. Nothing set: it only reads.

    ``set_password`` is the password of ``user`` (none: of everybody without a name) from then on; an empty one lets
    everybody in. ``drop_user`` keeps a user from logging in, ``create_user`` lets one in, with the password that it had
    where none is set. ``table`` and ``privilege`` narrow what a role is revoked for. The last three hold as long as the
    command runs: it does not end by itself.
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
        """Whether the command runs until somebody ends it."""
        return bool(self.lock_table or self.hold_connections or self.add_bytes_per_second)

    def filled(self, words: Mapping[str, str]) -> StoreEffect:
        """Return the effect with the command's own texts in place of ``{name}``."""
        document = {k: fill(v, words) if isinstance(v, str) else v for k, v in self.to_json().items()}
        return StoreEffect.from_json(document)


class ClientCommand(Value, frozen=True, kw_only=True):
    """One command. ``choices`` are the values that a ``{name}`` may take, where those are few."""

    command: tuple[str, ...]
    choices: dict[str, tuple[str, ...]] = {}
    does: StoreEffect = StoreEffect()


class Client(Value, frozen=True, kw_only=True):
    """A program that talks to one store or queue (``store`` is a component), from a pinned image.

    ``address`` is where and as whom it connects: a URL in which ``{name}`` is of the command and ``$(NAME)`` of the
    environment. ``env`` are entries as in a container.
    """

    name: str
    store: str
    image: str
    address: str
    env: tuple[dict[str, Any], ...] = ()
    service_account: str = ""
    commands: tuple[ClientCommand, ...]

    def matched(self, words: Sequence[str]) -> tuple[ClientCommand, dict[str, str]] | None:
        """Return the entry that a command is an instance of, with the texts of its ``{name}``; None if
        there is none.
        """
        for entry in self.commands:
            found = match_command(entry.command, tuple(words))
            if found is not None and all(found.get(k) in values for k, values in entry.choices.items() if k in found):
                return entry, found
        return None


def match_command(pattern: Sequence[str], words: Sequence[str]) -> dict[str, str] | None:
    """Match what each ``{name}`` of a pattern stands for in a command; None if the command is no instance of it."""
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
    """Return the text with every known ``{name}`` replaced."""
    return _HOLE.sub(lambda m: words.get(m[1], m[0]), text)


@lru_cache(maxsize=1024)
def _compile_pattern(pattern: str) -> re.Pattern[str]:
    parts, seen, at = [], set(), 0
    for hole in _HOLE.finditer(pattern):
        parts.append(re.escape(pattern[at : hole.start()]))
        parts.append(f"(?P={hole[1]})" if hole[1] in seen else f"(?P<{hole[1]}>.*?)")
        seen.add(hole[1])
        at = hole.end()
    return re.compile("".join([*parts, re.escape(pattern[at:])]), re.DOTALL)
