"""Where solvers lie in the drawing of cost against score."""

import msgspec
import pytest

from scenario_kit.publication.site.cost_plot import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, draw_costs, format_amount
from scenario_kit.scoring.statistics.estimate import Estimate
from tests.publication.catalogue import content, entry


def board(*solvers, key="cost"):
    """A leaderboard of solvers, each with its name, score and amount."""
    found = content(entry()).board
    rows = []
    for name, score, amount in solvers:
        metrics = {"recall_gated_precision": Estimate(mean=score, runs=3, incidents=3, low=score / 2, high=1.0)}
        if amount is not None:
            metrics[key] = Estimate(mean=amount, runs=3, incidents=3)
        rows.append(msgspec.structs.replace(found.rows[0], solver=name, metrics=metrics))
    return msgspec.structs.replace(found, rows=tuple(rows))


def test_cost_is_horizontal_and_score_vertical():
    plot = draw_costs(board(("cheap", 0.25, 1.0), ("dear", 1.0, 4.0)))
    cheap, dear = plot.marks
    assert (plot.axis, plot.logarithmic) == ("cost of a run", False)
    assert LEFT < cheap.x < dear.x <= WIDTH - RIGHT
    assert dear.y == TOP
    assert cheap.low > cheap.y > cheap.high
    assert plot.legend == (("1", "cheap", "1"), ("2", "dear", "4"))
    assert [tick.label for tick in plot.across] == ["0", "1", "2", "3", "4"]


def test_wide_cost_range_uses_a_log_scale():
    plot = draw_costs(board(("a", 0.5, 0.02), ("b", 0.5, 7.0)))
    assert plot.logarithmic
    assert [tick.label for tick in plot.across] == ["0.01", "0.1", "1", "10"]


def test_free_solver_keeps_linear_cost_scale():
    assert not draw_costs(board(("free", 0.5, 0.0), ("dear", 0.5, 900.0))).logarithmic


def test_overlapping_solvers_share_a_mark():
    plot = draw_costs(board(("a", 0.5, 5.01), ("b", 0.9, 5.0), ("c", 0.51, 5.0)))
    assert sorted(mark.label for mark in plot.marks) == ["1, 3", "2"]
    assert [number for number, *_ in plot.legend] == ["1", "2", "3"]


def test_tokens_replace_missing_prices_and_unrecorded_runs_are_named():
    plot = draw_costs(board(("a", 0.5, 12_500.0), ("b", 0.5, None), key="tokens.total"))
    assert (plot.axis, plot.missing) == ("tokens of a run", ("b",))
    assert draw_costs(board(("a", 0.5, 7.0), key="turns")).axis == "turns of a run"
    assert draw_costs(board(("a", 0.5, None))) is None


@pytest.mark.parametrize("amount", [0.0, 0.0001, 1.0, 3.0, 12345.0, 9e9])
def test_marks_stay_within_the_frame(amount):
    plot = draw_costs(board(("a", 0.0, amount)))
    (mark,) = plot.marks
    assert LEFT <= mark.x <= WIDTH - RIGHT
    assert TOP <= mark.y <= HEIGHT - BOTTOM
    assert plot.across[-1].at <= WIDTH - RIGHT
    assert len(plot.across) <= 6


def test_amounts_are_short():
    assert [format_amount(x) for x in (0, 0.254, 12.5, 1000, 392_810.6, 2_500_000)] == [
        "0", "0.254", "12.5", "1k", "392.8k", "2.5M",
    ]  # fmt: skip
