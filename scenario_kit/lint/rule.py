"""What a rule is, and the register of all of them.

A rule is a generator over a ``Case`` that yields ``Problem``s; the decorator adds what a reader needs to know about it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from scenario_kit.model import Position, Severity

if TYPE_CHECKING:
    from scenario_kit.lint.case import Case


class Problem(NamedTuple):
    """One violation: its place in the file, what is wrong, seen against wanted, and its own fix.

    ``position`` is set where the place alone does not tell it, for example for a missing field.
    """

    place: tuple[str | int, ...]
    message: str
    observed: str = ""
    expected: str = ""
    fix: str = ""
    severity: Severity | None = None
    position: Position | None = None


Check = Callable[["Case"], Iterator[Problem]]


@dataclass(frozen=True)
class Rule:
    """A rule as ``rules`` and ``explain`` show it. ``check`` is None where the loader, not a function, applies it."""

    code: str
    title: str
    severity: Severity
    why: str
    bad: str
    good: str
    fix: str
    check: Check | None = None


RULES: dict[str, Rule] = {}

#: Codes that no scenario may silence: secrets, cheats, leaks to a solver, re-rolled evidence (validation.md §12).
UNSUPPRESSABLE = ("SK206", "SK42", "SK44", "SK504")


def rule(
    code: str, *, why: str, bad: str, good: str, fix: str, severity: Severity = Severity.ERROR
) -> Callable[[Check], Check]:
    """Register the decorated function as the rule ``code``; its docstring is the title."""

    def register(check: Check) -> Check:
        title = (check.__doc__ or "").strip().rstrip(".")
        add(Rule(code, title, severity, why, bad, good, fix, check))
        return check

    return register


def add(entry: Rule) -> None:
    """Register a rule.

    Raises:
        ValueError: the code is taken.
    """
    if entry.code in RULES:
        raise ValueError(f"{entry.code} is registered twice")
    RULES[entry.code] = entry
