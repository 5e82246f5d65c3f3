"""A file system with chaos in it: what rules of Chaos Mesh's injector (toda) meet, and what waits there.

The injector mounts a file system of its own over a volume, inside of one container; nothing is cached by it but pages
of open files, so whoever asks for the size of a file asks it. A rule concerns paths (a glob; none, or one that cannot
be read: all), methods (none: all; only names that it does not know: none) and a share of the operations. Sources: the
injector's filter, and its replies, which are valid for no time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

#: The permissions that the owner of a file needs to open it for reading and writing.
_OWNER = 0o600
_EACCES = 13


class IoRule(NamedTuple):
    """One action of the injector, as the ledger has it; ``errors`` are numbers with their weights, shares of one."""

    path: re.Pattern[str] | None
    methods: frozenset[str] | None
    share: float
    delay_seconds: float = 0.0
    errors: tuple[tuple[int, float], ...] = ()
    falsifies: bool = False

    def meets(self, path: str, method: str) -> bool:
        """Check whether it concerns this method on the file at this absolute path."""
        return (self.methods is None or method in self.methods) and (
            self.path is None or self.path.fullmatch(path) is not None
        )


@dataclass(slots=True)
class Volume:
    """What one process meets in its files, and what it carries on from tick to tick; nothing is met without
    ``parse_rules``.

    ``waits`` are the seconds for which the next one waits for a file that one after the other uses, ``demand`` the
    seconds of use that this tick has brought, ``rounds`` how many a second shared rounds in the last tick and how many
    have come in this one. ``answers`` are what callers of an operation read. Of snapshots: changes since ``saved_at``,
    and whether one has failed. Of each upkeep ``kept`` has when it was last due, how many calls there had been by then,
    and by the last tick.
    """

    path: str = ""
    rules: tuple[IoRule, ...] = ()
    waits: dict[str, float] = field(default_factory=dict)
    demand: dict[str, float] = field(default_factory=dict)
    rounds: dict[str, tuple[float, int]] = field(default_factory=dict)
    answers: dict[str, str] = field(default_factory=dict)
    saved_at: float | None = None
    tried_at: float = 0.0
    counted: float = 0.0
    failing: bool = False
    kept: dict[int, tuple[float, float, float]] = field(default_factory=dict)

    def meet(self, path: str, rules: Sequence[IoRule]) -> None:
        """Let other rules hold from now on; what waited for an operation that is over waits no more."""
        if (path, tuple(rules)) != (self.path, self.rules):
            self.path, self.rules = path, tuple(rules)
            self.waits, self.demand, self.rounds = {}, {}, {}
            if not self.failing:
                self.answers = {}

    def over(self, path: str, method: str) -> list[IoRule]:
        """Return the rules that concern a method on the file at this absolute path."""
        if not self.rules or not is_within(path, self.path):
            return []
        return [rule for rule in self.rules if rule.meets(path, method)]


def is_within(path: str, directory: str) -> bool:
    """Check whether an absolute path is a directory, or below it."""
    return path == directory or path.startswith(directory.rstrip("/") + "/")


def parse_rules(actions: Iterable[Mapping[str, Any]]) -> tuple[IoRule, ...]:
    """Parse the rules of a list of actions, as the ledger has them."""
    return tuple(rule for action in actions if (rule := _parse_rule(action)) is not None)


def _parse_rule(action: Mapping[str, Any]) -> IoRule | None:
    kind = action["type"]
    methods = frozenset(str(m).lower() for m in action.get("methods") or ())
    share = float(action.get("percent", 100)) / 100.0
    base = IoRule(_compile_glob(str(action.get("path") or "")), methods or None, share)
    if kind == "latency":
        return base._replace(delay_seconds=float(action["delaySeconds"]))
    if kind == "fault":
        weights = [(int(f["errno"]), float(f.get("weight") or 0)) for f in action.get("faults") or ()]
        total = sum(weight for _, weight in weights)
        return base._replace(errors=tuple((number, weight / total) for number, weight in weights)) if total else None
    if kind == "mistake":
        # What is written wrongly stays wrong; what the program reads of it later is not known.
        wrong = (action.get("mistake") or {}).get("maxOccurrences") and (action.get("mistake") or {}).get("maxLength")
        reads = not methods or "read" in methods
        return base._replace(methods=frozenset({"read"}), falsifies=True) if wrong and reads else None
    permissions = action.get("perm")
    if kind == "attrOverride" and permissions is not None and int(permissions) & _OWNER != _OWNER:
        # The kernel looks at the attributes that it is told before it lets the owner open a file; whoever has it open
        # already is not asked again.
        return base._replace(methods=frozenset({"open"}), errors=((_EACCES, 1.0),))
    return None


@lru_cache(maxsize=256)
def _compile_glob(glob: str) -> re.Pattern[str] | None:
    """Compile a glob as the injector reads it: ``*`` and ``?`` stay within a directory, ``**`` alone in a place may be
    any number of them. None for one that is empty or cannot be read.
    """
    if not glob:
        return None
    parts = glob.split("/")
    if any("**" in part and part != "**" for part in parts):
        return None
    found = ""
    for number, part in enumerate(parts):
        last = number == len(parts) - 1
        if part == "**":
            found += ".*" if last else "(?:[^/]+/)*"
            continue
        try:
            found += _translate_part(part)
        except ValueError:
            return None
        found += "" if last else "/"
    return re.compile(found, re.DOTALL)


def _translate_part(part: str) -> str:
    found, at = "", 0
    while at < len(part):
        letter = part[at]
        at += 1
        if letter == "*":
            found += "[^/]*"
        elif letter == "?":
            found += "[^/]"
        elif letter == "[":
            end = part.find("]", at + (2 if part[at : at + 1] == "!" else 1))
            if end < 0:
                raise ValueError(part)
            inside = part[at:end]
            negated, inside = inside.startswith("!"), inside.removeprefix("!")
            safe = inside.replace("\\", "\\\\").replace("^", "\\^").replace("[", "\\[").replace("]", "\\]")
            found += f"(?!/)[{'^' if negated else ''}{safe}]"
            at = end + 1
        else:
            found += re.escape(letter)
    return found
