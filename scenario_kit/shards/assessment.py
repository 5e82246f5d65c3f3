"""Assess stored results against a work list: collected, missing, stale or refused. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal, NamedTuple

from scenario_kit.model import Verdict
from scenario_kit.model.results.verdict import choose_worst_code
from scenario_kit.report import Report
from scenario_kit.shards.results import StoredResult, UnreadableResult, unpack_report
from scenario_kit.shards.work_list import WorkItem, WorkList

#: Only ``Collected`` results count. ``Begun``: running or abandoned. ``Failed``: infrastructure failed. ``Stale``: the
#: files differ. ``Refused``: it contradicts itself or the work list.
Standing = Literal["Collected", "Missing", "Begun", "Failed", "Stale", "Refused"]


class AssessedResult(NamedTuple):
    """The result of one scenario; ``reason`` says why it does not count."""

    item: WorkItem
    standing: Standing
    verdict: Verdict | None = None
    reason: str = ""
    seconds: float = 0.0
    attempts: int = 0
    report: Report | None = None

    @property
    def outcome(self) -> str:
        """The verdict if it counts, else the standing."""
        return str(self.verdict) if self.standing == "Collected" else self.standing

    @property
    def passed(self) -> bool:
        """Whether it counts and is a pass."""
        return self.standing == "Collected" and self.verdict == Verdict.PASS


def assess_result(work: WorkList, item: WorkItem, found: StoredResult | UnreadableResult | None) -> AssessedResult:
    """Assess the stored result of a scenario."""
    if found is None:
        return AssessedResult(item, "Missing", reason="not started")
    if isinstance(found, UnreadableResult):
        return AssessedResult(item, "Refused", reason=found.message)
    result = found.result
    if (result.work, result.scenario) != (work.name, item.scenario):
        return AssessedResult(item, "Refused", reason=f"this is the result of {result.scenario} in {result.work}")
    if result.catalogue != work.catalogue:
        return AssessedResult(item, "Stale", reason="the catalogue, plan, seed or version differs")
    if result.digest != item.digest:
        return AssessedResult(item, "Stale", reason="the scenario has changed since")
    known = AssessedResult(item, "Collected", result.verdict, result.message, result.seconds, result.attempts)
    if result.state == "Begun":
        return known._replace(
            standing="Begun", reason=f"started {result.at} by {result.pod or 'an unknown pod'}, not ended"
        )
    try:
        report = unpack_report(found)
    except UnreadableResult as error:
        return known._replace(standing="Refused", verdict=None, reason=error.message)
    if contradiction := _find_contradiction(work, item, found, report):
        return known._replace(standing="Refused", verdict=None, reason=contradiction)
    return known._replace(standing="Failed" if result.state == "Failed" else "Collected", report=report)


def _find_contradiction(work: WorkList, item: WorkItem, stored: StoredResult, report: Report | None) -> str:
    """Describe how a report contradicts its summary or the work list; empty if it does not."""
    verdict = stored.result.verdict
    if report is None:
        return "it has a verdict without a report" if verdict in (None, Verdict.PASS, Verdict.INCONCLUSIVE) else ""
    validation = report.validation
    for what, expected, observed in (
        ("scenario", item.scenario, validation.scenario),
        ("verdict", str(verdict), str(validation.verdict)),
        ("plan", str(work.plan["name"]), validation.plan),
        ("version", work.kit, report.kit),
    ):
        if expected != observed:
            return f"its report has the {what} {observed}, expected {expected}"
    if validation.digest and validation.digest != item.incident:
        return f"its report is of the incident {validation.digest[:12]}, expected {item.incident[:12] or 'none'}"
    return ""


def count_standings(assessed: Sequence[AssessedResult]) -> dict[str, int]:
    """Count results: those that count by verdict, the others by their standing."""
    return dict(Counter(each.outcome for each in assessed))


def choose_exit_code(assessed: Sequence[AssessedResult]) -> int:
    """Return the exit code for all results: the worst verdict; results that do not count are not evaluated."""
    return choose_worst_code(_find_code(each) for each in assessed)


def _find_code(each: AssessedResult) -> int:
    verdict = each.verdict if each.standing == "Collected" else None
    return (verdict or Verdict.NOT_EVALUATED).exit_code
