"""The registry of checks, and what they yield.

A check is a generator of ``Problem``s in a file; the texts of its rule are in ``load/rules.yaml``. A code may have one
check per kind of file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, Final, NamedTuple

from scenario_kit.load.rules import Rule, load_rules
from scenario_kit.load.yaml.edit import Edit
from scenario_kit.model import Position, Severity
from scenario_kit.model.json_document import Place


class Problem(NamedTuple):
    """One violation: its place in the file, a message, observed and expected value, and a fix.

    ``position`` is set if the place does not determine it, as for a missing field. ``edits`` correct the violation;
    they are given only if there is just one way to do so.
    """

    place: Place
    message: str
    observed: str = ""
    expected: str = ""
    fix: str = ""
    severity: Severity | None = None
    position: Position | None = None
    edits: tuple[Edit, ...] = ()


#: A check of one kind of file: of a ``LintContext``, ``FaultCase``, ``AppCase`` or ``PackCase``.
Check = Callable[[Any], Iterator[Problem]]

RULES: Final = load_rules()
#: By code and kind of file.
CHECKS: Final[dict[str, dict[str, Check]]] = {}


def register_check(code: str, *about: str) -> Callable[[Check], Check]:
    """Register the decorated function as the check of a rule for some kinds of file, by default scenarios.

    Raises:
        ValueError: ``rules.yaml`` has no such static rule, or the rule already has a check for that kind.
    """

    def register(check: Check) -> Check:
        if code not in RULES or not RULES[code].static:
            raise ValueError(f"load/rules.yaml has no static rule {code}")
        checks = CHECKS.setdefault(code, {})
        for kind in about or ("Scenario",):
            if kind in checks:
                raise ValueError(f"{code} has two checks of a {kind}: {checks[kind].__name__} and {check.__name__}")
            checks[kind] = check
        return check

    return register


def report_once(*fields: str) -> Callable[[Check], Check]:
    """Let a check report each problem once, told apart by these fields: a fault is rendered for several targets."""

    def limit(check: Check) -> Check:
        @wraps(check)
        def report(case: Any) -> Iterator[Problem]:
            seen = set()
            for problem in check(case):
                key = tuple(getattr(problem, field) for field in fields)
                if key not in seen:
                    seen.add(key)
                    yield problem

        return report

    return limit


def require_checks() -> None:
    """Ensure that every static rule has a check.

    Raises:
        ValueError: a rule has none.
    """
    missing = [code for code, rule in RULES.items() if rule.by == "lint" and code not in CHECKS]
    if missing:
        raise ValueError(f"load/rules.yaml has rules without a check: {', '.join(missing)}")


__all__ = ["CHECKS", "RULES", "Check", "Problem", "Rule", "register_check", "report_once", "require_checks"]
