"""What a check of a rule yields, and the register of all checks.

A check is a generator over a case that yields ``Problem``s. What its rule says is in ``load/rules.yaml``. One code may
have several checks: one per kind of file that it can be violated in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from scenario_kit.load.rules import Rule, load_rules
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

RULES: Final = load_rules()
#: By code and kind of file.
CHECKS: Final[dict[str, dict[str, Check]]] = {}


def register_check(code: str, *about: str) -> Callable[[Check], Check]:
    """Register the decorated function as the check of a rule for some kinds of file, by default scenarios.

    Raises:
        ValueError: ``rules.yaml`` has no such rule that lint finds, or the rule has another check for such files.
    """

    def register(check: Check) -> Check:
        if code not in RULES or not RULES[code].static:
            raise ValueError(f"load/rules.yaml has no rule {code} that lint finds")
        checks = CHECKS.setdefault(code, {})
        for kind in about or ("Scenario",):
            if kind in checks:
                raise ValueError(f"{code} has two checks of a {kind}: {checks[kind].__name__} and {check.__name__}")
            checks[kind] = check
        return check

    return register


def require_checks() -> None:
    """Require a check of every rule that lint finds.

    Raises:
        ValueError: there is none of some.
    """
    missing = [code for code, rule in RULES.items() if rule.by == "lint" and code not in CHECKS]
    if missing:
        raise ValueError(f"load/rules.yaml has rules without a check: {', '.join(missing)}")


__all__ = ["CHECKS", "RULES", "Check", "Problem", "Rule", "register_check", "require_checks"]
