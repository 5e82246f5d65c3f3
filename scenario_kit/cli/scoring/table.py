"""Tables of scores: runs, decisions, metrics with intervals, times and detection."""

from __future__ import annotations

from collections.abc import Iterator

from scenario_kit.scoring.scores.comparison import EvaluatorComparison
from scenario_kit.scoring.scores.definitions import BY_KEY
from scenario_kit.scoring.scores.summary import ScoreReport
from scenario_kit.scoring.statistics.estimate import Estimate

Table = tuple[str, tuple[str, ...], list[tuple[str, ...]]]
#: Maximum number of listed runs; beyond it, only those with a problem are listed.
MAX_RUNS = 30


def list_tables(report: ScoreReport, *, decisions: bool) -> Iterator[Table]:
    """Yield the tables of a report with their titles; some may be empty."""
    yield "runs", ("incident", "trial", "answer", "right", "recall-gated precision", "problem"), _list_runs(report)
    if decisions:
        header = ("incident", "trial", "claim", "verdict", "means", "because")
        yield "decisions", header, _list_decisions(report)
    columns = ("mean", "95 % interval", "by", "± SE", "runs of incidents")
    metrics = [(*_format_estimate(key, each), BY_KEY[key].title) for key, each in report.metrics.items()]
    yield "metrics", ("metric", *columns, "meaning"), metrics
    tries = [_format_estimate(f"pass@{k}", each) for k, each in report.pass_at_k.items()]
    yield "probability that at least one of k runs is exactly right", ("", *columns), tries
    header = ("time to", "reached", "mean of those", "restricted mean", "95 % interval", "cap")
    yield "times", header, _list_times(report)
    yield "detection", ("share", *columns), _list_detection(report)
    yield (
        "complexity",
        ("incident", "complexity"),
        [(name, format_number(value)) for name, value in report.complexity.items()],
    )


def list_agreements(compared: EvaluatorComparison) -> Iterator[Table]:
    """Yield the table of agreement with another evaluator."""
    named = compared.metrics | ({"claims that are roots": compared.claims} if compared.claims else {})
    rows: list[tuple[str, ...]] = [
        (key, str(each.both), str(each.equal), f"{each.mean_difference:+.4f}") for key, each in named.items()
    ]
    more = f"runs only in ours: {compared.only_ours}, only in its: {compared.only_theirs}"
    yield f"agreement with the evaluator ({more})", ("its metric", "both", "equal", "ours - its"), rows


def format_number(value: float | None) -> str:
    """Format a number with four decimals, integers without."""
    if value is None:
        return "–"
    return f"{value:.0f}" if float(value).is_integer() and abs(value) > 1 else f"{value:.4f}"


def _list_runs(report: ScoreReport) -> list[tuple[str, ...]]:
    shown = report.runs if len(report.runs) <= MAX_RUNS else [run for run in report.runs if run.problem]
    return [
        (
            run.incident, run.trial, run.state.lower(), "yes" if run.correct else "no",
            "control" if run.control else format_number(run.values.get("recall_gated_precision")), run.problem,
        )
        for run in shown
    ]  # fmt: skip


def _list_decisions(report: ScoreReport) -> list[tuple[str, ...]]:
    return [
        (run.incident, run.trial, each.claim, each.verdict, each.group or " | ".join(each.candidates), each.reason)
        for run in report.runs for each in run.decisions
    ]  # fmt: skip


def _format_estimate(key: str, each: Estimate) -> tuple[str, ...]:
    method = "" if each.method == "None" else each.method
    error = format_number(each.standard_error)
    interval = _format_interval(each.low, each.high)
    return key, format_number(each.mean), interval, method, error, f"{each.runs} of {each.incidents}"


def _list_times(report: ScoreReport) -> list[tuple[str, ...]]:
    return [
        (
            key.removeprefix("time_to_"), f"{each.successes} of {each.runs}",
            "never" if each.mean is None else f"{each.mean:.1f} s", f"{each.restricted:.1f} s",
            _format_interval(each.low, each.high), f"{each.cap:g} s",
        )
        for key, each in report.times.items()
    ]  # fmt: skip


def _list_detection(report: ScoreReport) -> list[tuple[str, ...]]:
    found = report.detection
    if not found.controls:
        return []
    names = ("sensitivity", "specificity", "hallucination_rate", "accuracy")
    return [_format_estimate(name, each) for name in names if (each := getattr(found, name)) is not None]


def _format_interval(low: float | None, high: float | None) -> str:
    return "–" if low is None or high is None else f"{format_number(low)} to {format_number(high)}"
