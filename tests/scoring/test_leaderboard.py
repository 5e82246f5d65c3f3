"""Leaderboards: omitted runs give no advantage, equal means share a rank, pages are complete and escaped."""

import json

import msgspec
import pytest

from scenario_kit.cli import run as run_command
from scenario_kit.report.leaderboard_page import HEADER, list_cells, render_markdown, render_page
from scenario_kit.scoring.leaderboard.board import build_leaderboard
from scenario_kit.scoring.scores.run_score import prepare_truth
from scenario_kit.scoring.scores.settings import ScoreSettings
from tests.scoring.shop import shop
from tests.scoring.test_scores import QUIET, RIGHT, TRUTH, WRONG, run

SECOND = msgspec.structs.replace(TRUTH, incident="down-again")
TRUTHS = (TRUTH, SECOND, QUIET)
CONTEXTS = {truth.incident: prepare_truth(truth, shop()) for truth in TRUTHS}
NOTHING = msgspec.structs.replace(RIGHT, claims=(), chain=(), edges=())


def rank(*records, repeats=1):
    return build_leaderboard(CONTEXTS, records, ScoreSettings(repeats=repeats))


def runs_of(solver, *answers, **more):
    return [run(answer, truth.incident, solver=solver, **more) for answer, truth in zip(answers, TRUTHS, strict=False)]


def test_equal_scores_share_a_rank():
    board = rank(
        *runs_of("b", RIGHT, WRONG, NOTHING), *runs_of("a", WRONG, RIGHT, NOTHING),
        *runs_of("best", RIGHT, RIGHT, NOTHING),
        *runs_of("worst", WRONG, WRONG, WRONG),
    )  # fmt: skip
    assert [(row.rank, row.solver) for row in board.rows] == [(1, "best"), (2, "a"), (2, "b"), (4, "worst")]
    assert board.rows[0].exact.mean == 1
    assert (board.rows[0].hallucination_rate, board.rows[-1].hallucination_rate) == (0, 1)


def test_omitted_run_counts_as_failed():
    board = rank(*runs_of("picky", RIGHT), *runs_of("honest", RIGHT, WRONG, NOTHING))
    picky, honest = sorted(board.rows, key=lambda row: row.solver, reverse=True)
    assert picky.rank == honest.rank
    assert picky.runs == honest.runs == 3
    assert picky.missing == 2
    assert picky.solved == {"down": 1, "down-again": 0, "quiet": 0}


def test_incident_solved_by_recent_change_is_marked():
    board = rank(*runs_of("recent-change", RIGHT, WRONG, NOTHING), *runs_of("x", RIGHT, RIGHT, NOTHING))
    marks = {each.incident: (each.trivial, each.control, each.solvers) for each in board.incidents}
    assert marks == {
        "down": (True, False, ("recent-change", "x")),
        "down-again": (False, False, ("x",)),
        "quiet": (False, True, ("recent-change", "x")),
    }


def test_models_are_named_and_a_record_without_a_solver_is_unnamed():
    (row,) = rank(*runs_of("", RIGHT, RIGHT, NOTHING, model="m")).rows
    assert (row.solver, row.models) == ("unnamed", ("m",))
    assert list_cells(row)[1] == "unnamed (m)"


def test_pages_have_every_solver_and_incident_and_escape_texts():
    board = rank(*runs_of("<script>|", RIGHT, WRONG, NOTHING), *runs_of("plain", WRONG, WRONG, NOTHING))
    page, text = render_page(board), render_markdown(board)
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "&lt;script>\\| " in text
    for name in ("plain", "down-again", "quiet", "nothing is broken"):
        assert name in page
        assert name in text
    tables = [line for line in text.splitlines() if line.startswith("|")]
    assert {line.replace("\\|", "").count("|") for line in tables[:4]} == {len(HEADER) + 1}


def record(folder, solver, scenario, answer, repeat=1):
    path = folder / scenario / solver / str(repeat) / "record.json"
    path.parent.mkdir(parents=True)
    document = {
        "scenario": {"id": scenario},
        "agent": {"name": solver},
        "run_id": f"{solver}-{repeat}",
        "repeat": repeat,
    }
    path.write_text(json.dumps(document | {"answer": {"root_causes": answer}} if answer is not None else document))


@pytest.fixture
def scenario(repository):
    return str(repository / "catalog" / "scenarios" / "cart-scaled-to-zero")


@pytest.fixture
def repository():
    from scenario_kit.catalog import find_data_root

    return find_data_root()


def test_leaderboard_command_writes_all_files(tmp_path, capsys, scenario):
    runs = tmp_path / "solutions"
    record(runs, "silent", "cart-scaled-to-zero", None)
    code = run_command(["leaderboard", scenario, str(runs), "--repeats", "2", "--out", str(tmp_path / "site")])
    assert code == 0, capsys.readouterr().err
    assert "silent" in capsys.readouterr().out
    assert sorted(each.name for each in (tmp_path / "site").iterdir()) == [
        "index.html", "leaderboard.json", "leaderboard.md",
    ]  # fmt: skip
    (row,) = json.loads((tmp_path / "site" / "leaderboard.json").read_text())["rows"]
    assert (row["solver"], row["runs"], row["missing"]) == ("silent", 2, 2)


def test_records_given_twice_are_refused(tmp_path, capsys, scenario):
    runs = tmp_path / "solutions"
    record(runs, "lucky", "cart-scaled-to-zero", [{"name": "cart", "kind": "Deployment"}])
    (tmp_path / "copy.json").write_bytes(next(runs.rglob("record.json")).read_bytes())
    for again in (runs, tmp_path / "copy.json"):
        assert run_command(["leaderboard", scenario, str(runs), str(again)]) == 3
        assert "run 'lucky-1' of incident 'cart-scaled-to-zero' is given twice" in capsys.readouterr().err


@pytest.mark.parametrize("what", ["nowhere", "empty"])
def test_missing_runs_are_a_usage_error(tmp_path, capsys, scenario, what):
    (tmp_path / "empty").mkdir()
    assert run_command(["leaderboard", scenario, str(tmp_path / what)]) == 3
    assert what in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "code", "message"), [('{"run_id": "x",', 1, "SK101"), ('{"entities": []}', 3, "is not a run record")]
)
def test_leaderboard_rejects_invalid_records(tmp_path, capsys, scenario, text, code, message):
    (tmp_path / "x.json").write_text(text)
    assert run_command(["leaderboard", scenario, str(tmp_path / "x.json")]) == code
    assert message in capsys.readouterr().err
