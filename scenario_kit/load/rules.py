"""The codes of findings, from ``rules.yaml``: title, severity, reason, fix and origin."""

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
    """A rule as shown by ``rules`` and ``explain``.

    ``by`` is the command that reports it, ``repair`` what ``lint --fix`` does, ``unjudged`` why no file is checked for
    it.
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
        """Return whether ``lint`` reports it."""
        return self.by in ("lint", "load")


@cache
def load_rules() -> Mapping[str, Rule]:
    """Load all rules by code.

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
    """Build a finding; severity, why and fix default to those of the rule.

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
