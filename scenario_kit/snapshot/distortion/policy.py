"""Declared telemetry defects."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from scenario_kit.errors import AuthoringError
from scenario_kit.load.yaml.document import build_syntax_error, read_document
from scenario_kit.model import Finding, Value

PolicyKind = Literal["gap", "late", "duplicate", "skew", "lostSpans", "stuck", "noise"]
#: Every component.
ALL: Final = "*"
#: Required fields of each kind.
_NEEDS: Final[dict[str, tuple[str, ...]]] = {
    "gap": ("after", "seconds"),
    "late": ("share", "seconds"),
    "duplicate": ("share",),
    "skew": ("seconds",),
    "lostSpans": ("share",),
    "stuck": ("after", "seconds"),
    "noise": ("share",),
}


class TelemetryPolicy(Value, frozen=True, kw_only=True):
    """A defect in the telemetry of ``source`` (a component, or ``*``).

    ``gap``: no telemetry for ``seconds``, starting ``after`` seconds. ``late``: a ``share`` of samples and lines has a
    time up to ``seconds`` late. ``duplicate``: a ``share`` of samples, lines and spans is duplicated. ``skew``: the
    clock of its processes is ``seconds`` ahead. ``lostSpans``: a ``share`` of its spans is lost. ``stuck``: its
    exporter repeats the value at ``after`` seconds for ``seconds``. ``noise``: gauges deviate by up to ``share``.
    """

    kind: PolicyKind
    source: str = ALL
    after: float | None = None
    seconds: float | None = None
    share: float | None = None

    @property
    def distorts_metrics(self) -> bool:
        """Return whether it distorts series that rules evaluate."""
        return self.kind in ("gap", "late", "stuck", "noise")

    def concerns(self, component: str) -> bool:
        """Return whether it applies to a component."""
        return self.source in (ALL, component)

    def covers(self, since: float) -> bool:
        """Return whether an instant, in seconds from the start, is within its interval."""
        after = self.after or 0.0
        return after <= since < after + (self.seconds or 0.0)


def read_policies(path: Path, components: Sequence[str]) -> tuple[TelemetryPolicy, ...]:
    """Read a list of policies.

    Raises:
        AuthoringError: the file is invalid; one finding per error, with its position.
        UsageError: no such file.
    """
    document = read_document(path)
    if document.findings:
        raise AuthoringError(f"{path}: invalid file", document.findings)
    found: list[TelemetryPolicy] = []
    mistakes: list[Finding] = []
    entries = document.data if isinstance(document.data, list) else [document.data]
    for number, entry in enumerate(entries):
        try:
            policy = TelemetryPolicy.from_json(entry)
        except msgspec.ValidationError as error:
            problem = str(error)
        else:
            problem = _find_problem(policy, components)
            found.append(policy)
        if problem:
            place = document.positions.value(number) if isinstance(document.data, list) else None
            at = (place.line - 1, place.column - 1) if place else (0, 0)
            fix = "see docs/snapshot.md for kinds and their fields"
            mistakes.append(build_syntax_error(str(path), at, f"policy {number + 1}: {problem}", fix))
    if mistakes:
        raise AuthoringError(f"{path}: {mistakes[0].message}", mistakes)
    return tuple(found)


def _find_problem(policy: TelemetryPolicy, components: Sequence[str]) -> str:
    """Describe the problem of a policy; empty if it is valid."""
    given: dict[str, Any] = {"after": policy.after, "seconds": policy.seconds, "share": policy.share}
    needs = _NEEDS[policy.kind]
    if missing := [name for name in needs if given[name] is None]:
        return f"{policy.kind} requires {' and '.join(missing)}"
    if extra := [name for name, value in given.items() if value is not None and name not in needs]:
        return f"{policy.kind} has no {' and no '.join(extra)}"
    if policy.source not in (ALL, *components):
        return f"there is no component '{policy.source}'"
    if policy.share is not None and not 0.0 < policy.share <= 1.0:
        return f"share is {policy.share}, expected more than 0 and at most 1"
    if policy.seconds is not None and policy.kind != "skew" and policy.seconds <= 0:
        return f"seconds is {policy.seconds}, expected more than 0"
    if policy.after is not None and policy.after < 0:
        return f"after is {policy.after}, expected 0 or more"
    return ""
