"""The codes that findings may have, read from ``rules.yaml`` beside this: title, severity, why, fix, who finds it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Final, Literal

import msgspec

from scenario_kit.load.package_data import read_package_data
from scenario_kit.model import Finding, Severity, Value

#: The page that ``tools.pages`` writes of all rules.
_PAGE: Final = "docs/rules.md"
#: What an anchor of a heading leaves out, as GitHub makes them.
_DROPPED: Final = re.compile(r"[^\w\- ]")


class Rule(Value, frozen=True, kw_only=True):
    """A rule as ``rules`` and ``explain`` show it.

    ``by`` says who finds it, ``repair`` what ``lint --fix`` does about it; nothing where an author has to choose.
    ``unjudged`` says why no file is judged by it.
    """

    code: str
    title: str
    by: Literal["lint", "load", "run", "validate-pr"]
    why: str
    severity: Severity = Severity.ERROR
    bad: str = ""
    good: str = ""
    fix: str = ""
    repair: str = ""
    unjudged: str = ""

    @property
    def page(self) -> str:
        """Return where the documentation explains it: the page, and the anchor of its heading."""
        return f"{_PAGE}#{_DROPPED.sub('', f'{self.code}: {self.title}'.lower()).replace(' ', '-')}"

    @property
    def static(self) -> bool:
        """Return whether ``lint`` can find it."""
        return self.by in ("lint", "load")


@cache
def load_rules() -> Mapping[str, Rule]:
    """Load all rules, by code.

    Raises:
        msgspec.ValidationError: an entry lacks a field, or has one that does not exist.
    """
    entries = read_package_data(__file__)
    return {code: msgspec.convert({**entry, "code": code}, Rule) for code, entry in entries.items()}


def build_finding(
    code: str,
    message: str,
    *,
    observed: str = "",
    expected: str = "",
    why: str | None = None,
    fix: str | None = None,
    severity: Severity | None = None,
) -> Finding:
    """Build a finding of a code; its rule says how severe it is, why it matters and what to do, unless this one does.

    Raises:
        KeyError: ``rules.yaml`` has no such code.
    """
    rule = load_rules()[code]
    return Finding(
        code=code,
        severity=severity or rule.severity,
        message=message,
        observed=observed,
        expected=expected,
        why=rule.why if why is None else why,
        fix=rule.fix if fix is None else fix,
    )
