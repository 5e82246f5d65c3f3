"""A leaderboard as Markdown, and as one self-contained HTML page without scripts."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from scenario_kit.report.markdown import escape
from scenario_kit.scoring.leaderboard.board import RANKED_BY, Leaderboard, LeaderboardRow
from scenario_kit.scoring.statistics.estimate import Estimate

HEADER: Final = (
    "rank", "solver", "recall-gated precision", "exactly right", "F1", "resolved", "escalation", "false alarms",
    "turns", "tokens", "cost", "runs", "no answer",
)  # fmt: skip
BAR_WIDTH: Final = 160


class ScoreBar(NamedTuple):
    """A score as a bar: its text, its length, and the ends of its interval, if any."""

    label: str
    length: float
    low: float | None
    high: float | None


def list_cells(row: LeaderboardRow, *, intervals: bool = True) -> tuple[str, ...]:
    """List the cells of a row, in the order of ``HEADER``; shares with or without their intervals."""
    share = _format_share if intervals else _format_mean
    metrics = row.metrics
    name = f"{row.solver} ({', '.join(row.models)})" if row.models else row.solver
    return (
        str(row.rank), name, share(metrics.get(RANKED_BY)), share(row.exact),
        share(metrics.get("root_cause_f1")), share(metrics.get("mitigation")), share(metrics.get("escalation.score")),
        "–" if row.hallucination_rate is None else f"{row.hallucination_rate:.3f}",
        _format_amount(metrics.get("turns")), _format_amount(metrics.get("tokens.total")),
        _format_amount(metrics.get("cost"), digits=4), str(row.runs), str(row.missing),
    )  # fmt: skip


def render_markdown(board: Leaderboard) -> str:
    """Render the tables of solvers and of incidents."""
    lines = ["# Leaderboard", "", _format_row(HEADER), _format_row(["---"] * 2 + ["--:"] * (len(HEADER) - 2))]
    lines += [_format_row(list_cells(row)) for row in board.rows]
    header = ["incident", *(row.solver for row in board.rows), ""]
    lines += ["", "Share of runs that were exactly right:", "", _format_row(header)]
    lines.append(_format_row(["---", *["--:"] * len(board.rows), "---"]))
    for incident in board.incidents:
        mark = "nothing is broken" if incident.control else "solved by the last change" if incident.trivial else ""
        shares = [f"{row.solved.get(incident.incident, 0.0):.2f}" for row in board.rows]
        lines.append(_format_row([incident.incident, *shares, mark]))
    return "\n".join(lines) + "\n"


def render_page(board: Leaderboard) -> str:
    """Render the page; all text is escaped, and no external resource is loaded."""
    from scenario_kit.catalog.page_templates import open_page_templates

    template = open_page_templates("report").get_template("leaderboard.html.j2")
    return template.render(board=board, header=HEADER, rows=build_rows(board))


def build_rows(board: Leaderboard) -> list[tuple[tuple[str, ...], ScoreBar]]:
    """Build the cells of each row, without intervals, and its bar, which shows one."""
    return [(list_cells(row, intervals=False), _build_bar(row)) for row in board.rows]


def _build_bar(row: LeaderboardRow) -> ScoreBar:
    estimate = row.metrics.get(RANKED_BY)
    mean, low, high = (estimate.mean, estimate.low, estimate.high) if estimate else (0.0, None, None)
    return ScoreBar(
        f"{row.solver}: {_format_share(estimate)}", _scale(mean), None if low is None else _scale(low),
        None if high is None else _scale(high),
    )  # fmt: skip


def _scale(share: float) -> float:
    return round(BAR_WIDTH * min(max(share, 0.0), 1.0), 1)


def _format_row(cells: Any) -> str:
    return "| " + " | ".join(escape(str(cell)) for cell in cells) + " |"


def _format_mean(estimate: Estimate | None) -> str:
    return "–" if estimate is None else f"{estimate.mean:.3f}"


def _format_share(estimate: Estimate | None) -> str:
    if estimate is None or estimate.low is None or estimate.high is None:
        return _format_mean(estimate)
    return f"{estimate.mean:.3f} ({estimate.low:.3f} to {estimate.high:.3f})"


def _format_amount(estimate: Estimate | None, *, digits: int = 1) -> str:
    return "–" if estimate is None else f"{estimate.mean:.{digits}f}"
