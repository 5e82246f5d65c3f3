"""The summary of a collection, as a page (Markdown), as JSON and as JUnit XML. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from scenario_kit.campaign.planning.duration import format_duration
from scenario_kit.model import Object, Verdict
from scenario_kit.report import Report, junit
from scenario_kit.report.markdown import escape
from scenario_kit.shards.assessment import AssessedResult, choose_exit_code, count_standings
from scenario_kit.shards.work_list import WorkList

#: Rows of the table that are listed on the page; the others are in ``summary.json``.
MAX_ROWS: Final = 200
_SPACES: Final = re.compile(r"\s+")


def render_page(work: WorkList, assessed: Sequence[AssessedResult], folders: Mapping[str, str]) -> str:
    """Render the page: results of the scenarios, those that did not pass first.

    ``folders`` are those of the reports, by scenario.
    """
    others = [each for each in assessed if not each.passed]
    spent = sum(each.seconds for each in assessed)
    lines = [
        f"# {len(assessed) - len(others)} of {len(assessed)} scenarios pass",
        f"Plan {work.plan['name']}, seed {work.seed}, {work.shards} shards; {format_duration(spent)} of one lab.",
        _format_counts(assessed),
        *([_format_table(others, folders)] if others else []),
        f"<sub>scenario-kit {work.kit}, work list `{work.name}`, catalogue `{work.catalogue[:12]}`</sub>",
    ]
    return "\n\n".join(lines) + "\n"


def _format_counts(assessed: Sequence[AssessedResult]) -> str:
    rows = [f"| {what} | {number} |" for what, number in sorted(count_standings(assessed).items())]
    return "\n".join(["| result | scenarios |", "|---|---:|", *rows])


def _format_table(others: Sequence[AssessedResult], folders: Mapping[str, str]) -> str:
    rows = []
    for each in others[:MAX_ROWS]:
        folder = folders.get(each.item.scenario, "")
        name = f"[{escape(each.item.scenario)}]({folder}/report.html)" if folder else escape(each.item.scenario)
        rows.append(f"| {name} | {each.outcome} | {escape(_SPACES.sub(' ', each.reason))} |")
    more = [f"\n{len(others) - MAX_ROWS} more are in summary.json."] if len(others) > MAX_ROWS else []
    return "\n".join(["| scenario | result | reason |", "|---|---|---|", *rows, *more])


def build_document(work: WorkList, assessed: Sequence[AssessedResult], folders: Mapping[str, str]) -> Object:
    """Build the summary as JSON."""
    return {
        "name": work.name,
        "catalogue": work.catalogue,
        "plan": work.plan["name"],
        "seed": work.seed,
        "kit": work.kit,
        "exitCode": choose_exit_code(assessed),
        "counts": count_standings(assessed),
        "scenarios": [
            {
                "scenario": each.item.scenario,
                "path": each.item.path,
                "shard": each.item.shard,
                "standing": each.standing,
                "verdict": str(each.verdict or ""),
                "reason": each.reason,
                "attempts": each.attempts,
                "seconds": each.seconds,
                "report": folders.get(each.item.scenario, ""),
            }
            for each in assessed
        ],
    }


def render_junit(assessed: Sequence[AssessedResult]) -> str:
    """Render JUnit XML: one suite per scenario; those without a report are skipped, or failed if that is a verdict."""
    reports = [each.report for each in assessed if each.report is not None and each.standing == "Collected"]
    others = [each for each in assessed if each.report is None or each.standing != "Collected"]
    failed = {each.item.scenario: each.reason for each in others if _is_failure(each)}
    skipped = {each.item.scenario: f"{each.standing}: {each.reason}" for each in others if not _is_failure(each)}
    return junit.render_campaigns(reports, failed, skipped)


def shorten_report(report: Report) -> Report:
    """Reduce a report to the fields of JUnit, since a thousand complete ones do not fit into memory."""
    trials = tuple(
        msgspec.structs.replace(trial, history=None, steps=(), passages=(), signs=())
        for trial in report.validation.trials
    )
    return msgspec.structs.replace(report, validation=msgspec.structs.replace(report.validation, trials=trials))


def _is_failure(each: AssessedResult) -> bool:
    return each.standing == "Collected" and each.verdict in (Verdict.FAIL, Verdict.KIT_ERROR)
