"""Authoring errors with complete findings."""

from __future__ import annotations

from collections.abc import Iterable

from scenario_kit.errors import AuthoringError
from scenario_kit.model import Finding, Severity


def build_error(
    code: str, message: str, *, observed: str = "", expected: str = "", why: str = "", fix: str = ""
) -> AuthoringError:
    """Build an error with one finding; ``message`` says what is wrong and where."""
    finding = Finding(
        code=code, severity=Severity.ERROR, message=message, observed=observed, expected=expected, why=why, fix=fix
    )
    return AuthoringError(message, [finding], fix=fix)


def join_errors(errors: Iterable[AuthoringError]) -> AuthoringError | None:
    """Combine errors into one, so that authors see all at once; None if there are none."""
    found = list(errors)
    if not found:
        return None
    findings = [f for e in found for f in e.findings]
    return AuthoringError("\n".join(e.message for e in found), findings, fix=found[0].fix if len(found) == 1 else "")
