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


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return ``did you mean …?`` with the closest known names; empty if none is close."""
    from rapidfuzz import process  # only mistakes need it, and it takes a while to import

    matches = process.extract(name, list(dict.fromkeys(known)), limit=3, score_cutoff=60)
    close = [match[0] for match in matches if match[1] >= matches[0][1] - 15]
    return f"did you mean {', '.join(close)}?" if close else ""
