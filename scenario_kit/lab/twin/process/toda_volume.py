"""A volume with IOChaos: the rules of the injector (toda), and waiting operations.

toda mounts its own file system over a volume in one container. It caches only pages of open files, so a request for a
file's size always reaches it. A rule selects paths (a glob; none or an invalid one: all), methods (none: all; only
unknown names: none) and a share of the operations. Sources: the injector's filter, and its replies, which have a cache
lifetime of zero.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

#: The permissions that a file's owner needs to open it for reading and writing.
_OWNER = 0o600
_EACCES = 13


class IoRule(NamedTuple):
    """One action of the injector from the ledger; ``errors`` are error numbers with their weights."""

    path: re.Pattern[str] | None
    methods: frozenset[str] | None
    share: float
    delay_seconds: float = 0.0
    errors: tuple[tuple[int, float], ...] = ()
    falsifies: bool = False

    def matches(self, path: str, method: str) -> bool:
        """Return whether the rule applies to this method on the file at this absolute path."""
        return (self.methods is None or method in self.methods) and (
            self.path is None or self.path.fullmatch(path) is not None
        )


@dataclass(slots=True)
class Volume:
    """The IOChaos state of one process, carried from tick to tick; unaffected without ``parse_rules``.

    ``waits`` are the waiting times for files with exclusive use, ``demand`` the seconds of use in this tick, ``rounds``
    the rate of shared rounds in the last tick and their number in this one. ``answers`` are errors for callers by
    operation. Of snapshots: changes since ``saved_at``, and whether one has failed. Of each upkeep, ``kept`` has when
    it was last due, and the number of calls by then and by the last tick.
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
        """Replace the rules; waiting of operations that no longer apply is dropped."""
        if (path, tuple(rules)) != (self.path, self.rules):
            self.path, self.rules = path, tuple(rules)
            self.waits, self.demand, self.rounds = {}, {}, {}
            if not self.failing:
                self.answers = {}

    def over(self, path: str, method: str) -> list[IoRule]:
        """Return the rules that apply to a method on the file at this absolute path."""
        if not self.rules or not is_within(path, self.path):
            return []
        return [rule for rule in self.rules if rule.matches(path, method)]


def is_within(path: str, directory: str) -> bool:
    """Return whether an absolute path is a directory or below it."""
    return path == directory or path.startswith(directory.rstrip("/") + "/")


def parse_rules(actions: Iterable[Mapping[str, Any]]) -> tuple[IoRule, ...]:
    """Parse the actions of a ledger entry."""
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
        # Wrongly written data stays wrong; its later effect on the program is unknown.
        wrong = (action.get("mistake") or {}).get("maxOccurrences") and (action.get("mistake") or {}).get("maxLength")
        reads = not methods or "read" in methods
        return base._replace(methods=frozenset({"read"}), falsifies=True) if wrong and reads else None
    permissions = action.get("perm")
    if kind == "attrOverride" and permissions is not None and int(permissions) & _OWNER != _OWNER:
        # The kernel checks the reported attributes when the owner opens a file; open files are not checked again.
        return base._replace(methods=frozenset({"open"}), errors=((_EACCES, 1.0),))
    return None


@lru_cache(maxsize=256)
def _compile_glob(glob: str) -> re.Pattern[str] | None:
    """Compile a glob with the injector's syntax: ``*`` and ``?`` do not match slashes, ``**`` as a component matches
    any number of them. None for an empty or invalid one.
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
