"""Markdown rendering: headline, next command, findings and trials."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from scenario_kit.campaign import TrialResult, Validation
from scenario_kit.campaign.results.result import Statistics
from scenario_kit.model import Finding, Severity
from scenario_kit.model.authored.alert_rule import name_alert
from scenario_kit.report.difficulty import describe_difficulty
from scenario_kit.report.document import Report
from scenario_kit.report.incident import READING, build_incident_rows
from scenario_kit.report.similar_incidents import describe_neighbours, describe_resembling
from scenario_kit.report.steps import build_step_rows

_MARK: Final = {"Held": "held", "Broken": "**broken**", "Infra": "not evaluated", "Skipped": "skipped"}
#: Maximum length; pull-request comments are limited to 65,536 characters.
LIMIT: Final = 60_000
_CUT_ROOM: Final = 500


def render(report: Report) -> str:
    """Render the whole page."""
    validation = report.validation
    head = [
        f"# {validation.verdict.heading}" + (f": {validation.scenario}" if validation.scenario else ""),
        escape(validation.headline) + ".",
        _format_next(validation),
        _format_facts(validation),
        *_list_sections(validation),
    ]
    foot = f"<sub>scenario-kit {report.kit}, {report.created}, scenario digest `{validation.digest[:12]}`</sub>"
    return _fit_page(head, [_format_trial(t) for t in validation.trials], foot)


def _list_sections(validation: Validation) -> Iterator[str]:
    """Yield the headings and bodies of the sections that the validation has."""
    if incident := validation.incident:
        yield from ("## The incident", _format_rows(build_incident_rows(incident)), READING)
    if validation.findings:
        yield from ("## Findings", *(_format_finding(finding) for finding in validation.findings))
    if validation.exceptions:
        yield from ("## Declared exceptions", _format_exceptions(validation))
    if validation.trials:
        yield from ("## Trials", _format_trials(validation.trials))
    if validation.statistics and validation.statistics.alerts:
        yield from ("## Alerts in the repeats", _format_alerts(validation.statistics))
    if difficulty := validation.difficulty:
        yield from ("## Difficulty", _format_rows(describe_difficulty(difficulty)))
    if neighbours := validation.identifiability:
        yield from ("## Incidents with the same alerts", _format_rows(describe_neighbours(neighbours)))
    if resemblance := validation.resemblance:
        yield from ("## Faults with the same alerts", _format_rows(describe_resembling(resemblance)))


def _fit_page(head: list[str], trials: list[str], foot: str) -> str:
    """Join the parts into a page of at most ``LIMIT`` bytes, dropping whole trials from the end first."""
    for kept in range(len(trials), -1, -1):
        note = f"The steps of {len(trials) - kept} trials are omitted; see report.json."
        text = "\n\n".join(p for p in [*head, *trials[:kept], note if kept < len(trials) else "", foot] if p)
        if len(text.encode()) <= LIMIT:
            return text
    cut = text.encode()[: LIMIT - _CUT_ROOM].decode(errors="ignore")
    return f"{cut}\n\n… truncated; see report.json for the rest.\n\n{foot}"


def _format_next(validation: Validation) -> str:
    if not validation.next:
        return f"Next: {escape(validation.correction)}" if validation.correction else ""
    first = f"{escape(validation.correction)}; then " if validation.correction else ""
    return f"Next: {first}`{validation.next}`"


def _format_facts(validation: Validation) -> str:
    if not validation.trials:
        return "No trial ran: static rules decided the verdict."
    return (
        f"Plan `{validation.plan}`; paired repeats n = {validation.n}, failures = {validation.failures}; "
        f"data plane: {validation.data_plane}; {validation.wall_seconds:.0f} s of wall time."
    )


def _format_exceptions(validation: Validation) -> str:
    """Format the declared exceptions of its faults, which merging accepts."""
    rows = [f"| {escape(e.fault)} | `{e.allow}` | {escape(e.because)} |" for e in validation.exceptions]
    return "\n".join(["| fault | allowed | because |", "| --- | --- | --- |", *rows])


def _format_alerts(numbers: Statistics) -> str:
    rows = ["| alert | declared | fired | median onset | 95 % within | expected within |", "|---|---|---|---|---|---|"]
    for alert in numbers.alerts:
        rows.append(
            f"| {escape(alert.alert)} | {alert.declared} | {alert.fired} of {alert.n} "
            f"| {_format_seconds(alert.median_seconds)} | {_format_seconds(alert.p95_seconds)} | "
            f"{_format_seconds(alert.within_seconds)} |"
        )
    if numbers.n > 1:  # the bound of a single repeat is uninformative
        rows += [
            "",
            f"A repeat holds with a chance of {numbers.at_least:.2f} or more (exact, 95 %); "
            f"a pass of this plan rules out {numbers.claims:.2f} and less.",
        ]
        if numbers.placements:
            rows[-1] += f" The repeats ran on {numbers.placements} different placements of the pods."
    return "\n".join(rows)


def _format_rows(rows: Iterable[tuple[str, str]]) -> str:
    return "\n".join(f"- {name}: {escape(text)}" for name, text in rows)


def _format_seconds(value: float | None) -> str:
    return "–" if value is None else f"{value:.0f} s"


def _format_finding(finding: Finding) -> str:
    word = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}[finding.severity]
    where = f" at `{finding.position}`" if finding.position else ""
    where += f" in step *{escape(finding.step)}*" if finding.step else ""
    lines = [f"**{finding.code}** {word}{where}: {escape(finding.message)}"]
    rows = (("observed", finding.observed), ("expected", finding.expected), ("why", finding.why), ("fix", finding.fix))
    lines += [f"- {name}: {escape(text)}" for name, text in rows if text]
    return "\n".join(lines)


def _format_trials(trials: Iterable[TrialResult]) -> str:
    rows = ["| trial | shows that | outcome | virtual | wall | seed |", "|---|---|---|---|---|---|"]
    for trial in trials:
        rows.append(
            f"| {trial.purpose} | {escape(trial.describe)} | {_MARK.get(trial.outcome, trial.outcome)} | "
            f"{format_minutes(trial)} | {trial.wall_seconds:.1f} s | {trial.seed} |"
        )
    return "\n".join(rows)


def format_minutes(trial: TrialResult) -> str:
    """Format the duration of a trial on its own clock."""
    ends = [s.finished_at for s in trial.steps if s.finished_at is not None]
    if not ends or trial.started_at is None:
        return "–"
    return f"{(max(ends) - trial.started_at) / 60:.0f} min"


def _format_trial(trial: TrialResult) -> str:
    rows = [f"<details><summary>{trial.purpose}: {_MARK.get(trial.outcome, trial.outcome)}</summary>", ""]
    rows += ["| step | at | took | outcome | |", "|---|---|---|---|---|"]
    start = trial.started_at or 0.0
    for row in build_step_rows(trial.steps, start):
        took = f"{row.took:.0f} s" if row.took is not None else "–"
        mark = _MARK.get(row.outcome, row.outcome)
        rows.append(f"| {escape(row.name)} | {row.at:.0f} s | {took} | {mark} | {escape(row.message[:300])} |")
    if trial.history and trial.injected_at is not None:
        rows += ["", "Alerts, in seconds after injection:", ""]
        rows += [f"- {line}" for line in format_alert_lines(trial)] or ["- none"]
    return "\n".join([*rows, "", "</details>"])


def format_alert_lines(trial: TrialResult) -> list[str]:
    """Format the firing intervals of each alert, relative to injection."""
    if trial.history is None or trial.injected_at is None:
        return []
    lines = []
    for timeline in trial.history.timelines:
        spans = [
            f"+{i.start - trial.injected_at:.0f} s to "
            + (f"+{i.end - trial.injected_at:.0f} s" if i.end else "the end")
            for i in timeline.firing
        ]
        if spans:
            lines.append(f"{name_alert(timeline)}: {', '.join(spans)}")
    return lines


def escape(text: str) -> str:
    """Escape text from scenarios and clusters: no markup, links, images or mentions."""
    plain = text.replace("&", "&amp;").replace("<", "&lt;").replace("|", "\\|").replace("\n", " ")
    return plain.replace("[", "\\[").replace("@", "&#64;")
