"""Truncate a report to the size of an API object, dropping large and unimportant parts first. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import msgspec

from scenario_kit.campaign import TrialResult
from scenario_kit.model.results.purpose import is_repeat
from scenario_kit.report.document import Report, dump_report

#: Maximum size in bytes; API objects are limited to about 1 MiB, metadata included.
LIMIT: Final = 900 * 1024
_FINDINGS: Final = 100


def truncate_report(report: Report, limit: int = LIMIT) -> str:
    """Return the report as JSON of at most ``limit`` bytes; ``leftOut`` lists the removed parts.

    Raises:
        ValueError: even its verdict, statistics and first findings do not fit.
    """
    for candidate in _shrink(report):
        document = dump_report(candidate)
        if len(document.encode()) <= limit:
            return document
    raise ValueError(f"cannot truncate a report of {len(dump_report(report).encode())} bytes to {limit}")


def _shrink(report: Report) -> Iterator[Report]:
    yield report
    left: list[str] = []
    for what, simpler in _STEPS:
        left.append(what)
        validation = report.validation
        trials = tuple(simpler(t) for t in validation.trials)
        report = msgspec.structs.replace(
            report, validation=msgspec.structs.replace(validation, trials=trials), left_out=tuple(left)
        )
        yield report
    findings = report.validation.findings[:_FINDINGS]
    yield msgspec.structs.replace(
        report,
        validation=msgspec.structs.replace(report.validation, findings=findings, trials=()),
        left_out=(*left, "the trials", f"findings after the first {_FINDINGS}"),
    )


def _drop_history(trial: TrialResult, *, kept: Callable[[TrialResult], bool]) -> TrialResult:
    return trial if kept(trial) else msgspec.structs.replace(trial, history=None)


def _drop_checks(trial: TrialResult) -> TrialResult:
    steps = tuple(msgspec.structs.replace(s, checks=(), findings=()) for s in trial.steps)
    return msgspec.structs.replace(trial, steps=steps)


_STEPS: Final[tuple[tuple[str, Callable[[TrialResult], TrialResult]], ...]] = (
    (
        "alert histories of held trials other than repeats",
        lambda t: _drop_history(t, kept=lambda t: t.outcome != "Held" or is_repeat(t.purpose)),
    ),
    ("alert histories of held trials", lambda t: _drop_history(t, kept=lambda t: t.outcome != "Held")),
    ("alert histories", lambda t: _drop_history(t, kept=lambda _: False)),
    ("check results, and findings of single steps", _drop_checks),
)
