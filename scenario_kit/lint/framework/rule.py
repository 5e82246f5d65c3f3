"""What a rule is, and the register of all of them.

A rule is a generator over a case that yields ``Problem``s; the decorator adds what a reader needs to know about it. One
code may have several checks: one per kind of file that it can be violated in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from scenario_kit.load.yaml.edit import Edit
from scenario_kit.model import Position, Severity


class Problem(NamedTuple):
    """One violation: its place in the file, what is wrong, seen against wanted, and its own fix.

    ``position`` is set where the place alone does not tell it, for example for a missing field. ``edits`` correct it;
    they are given only where nothing else could have been meant.
    """

    place: tuple[str | int, ...]
    message: str
    observed: str = ""
    expected: str = ""
    fix: str = ""
    severity: Severity | None = None
    position: Position | None = None
    edits: tuple[Edit, ...] = ()


#: A check of one kind of case: ``Case``, ``FaultCase``, ``AppCase`` or ``PackCase``.
Check = Callable[[Any], Iterator[Problem]]


@dataclass(frozen=True)
class Rule:
    """A rule as ``rules`` and ``explain`` show it.

    ``repair`` says what ``lint --fix`` does about it; nothing where an author has to choose.
    ``unjudged`` says why no file is judged by it. ``checks`` is empty where the loader applies it, or a run gives it.
    """

    code: str
    title: str
    severity: Severity
    why: str
    bad: str
    good: str
    fix: str
    unjudged: str = ""
    repair: str = ""
    by: str = "run"
    checks: dict[str, Check] = field(default_factory=dict)

    @property
    def static(self) -> bool:
        """Whether ``lint`` can find it."""
        return self.by == "lint"


RULES: dict[str, Rule] = {}
#: Checks for further kinds of file, of rules that another module has yet to register.
_WAITING: dict[str, dict[str, Check]] = {}


def register_rule(
    code: str,
    *,
    why: str,
    bad: str,
    good: str,
    fix: str,
    repair: str = "",
    severity: Severity = Severity.ERROR,
    about: tuple[str, ...] = ("Scenario",),
) -> Callable[[Check], Check]:
    """Register the decorated function as the rule ``code``; its docstring is the title."""

    def register(check: Check) -> Check:
        title = (check.__doc__ or "").strip().rstrip(".")
        checks = dict.fromkeys(about, check)
        add(Rule(code, title, severity, why, bad, good, fix, repair=repair, by="lint", checks=checks))
        return check

    return register


def register_check(code: str, *about: str) -> Callable[[Check], Check]:
    """Register the decorated function as the check of the rule ``code`` for further kinds of file.

    The rule itself may be registered before or after.
    """

    def register(check: Check) -> Check:
        checks = RULES[code].checks if code in RULES else _WAITING.setdefault(code, {})
        checks.update(dict.fromkeys(about, check))
        return check

    return register


def add(entry: Rule) -> None:
    """Register a rule.

    Raises:
        ValueError: the code is taken.
    """
    if entry.code in RULES:
        raise ValueError(f"{entry.code} is registered twice")
    entry.checks.update(_WAITING.pop(entry.code, {}))
    RULES[entry.code] = entry
