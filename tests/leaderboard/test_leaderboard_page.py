"""The page of the baselines, from a few records, and records of runs over a snapshot."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "solver"))
import recorded

from scenario_kit.cli import run
from tools.leaderboard.outcomes import (
    BaselineOutcome,
    SolvedScenario,
    collect_outcomes,
    find_failed_checks,
    find_solvers,
    read_outcomes,
    write_outcomes,
)
from tools.leaderboard.page import build_rows, render_leaderboard_page

ROOT = Path(__file__).resolve().parents[2]


def outcome(scenario, solver, correct, *, seed=1, control=False, **more):
    score = None if control else float(correct)
    given = {"digest": "d", "kit": "0.1.0", "day": "2026-11-26", "score": score, "f1": score} | more
    return BaselineOutcome(scenario=scenario, seed=seed, solver=solver, control=control, correct=correct, **given)


OUTCOMES = [
    outcome("cart", "recent-change", True), outcome("cart", "recent-change", False, seed=2),
    outcome("cart", "runbook", True), outcome("cart", "runbook", True, seed=2),
    outcome("mail", "recent-change", False), outcome("mail", "runbook", True),
    outcome("quiet", "recent-change", False, control=True), outcome("quiet", "runbook", True, control=True),
    outcome("cart", "oracle", True), outcome("cart", "nop", False),
]  # fmt: skip


def test_find_solvers_groups_by_scenario():
    found = find_solvers(OUTCOMES)
    assert found == {"cart": ("recent-change", "runbook"), "mail": ("runbook",), "quiet": ("runbook",)}


def test_solvers_are_ranked_by_the_mean_over_scenarios():
    runbook, recent = build_rows(OUTCOMES)
    assert (runbook.solver, runbook.score.mean, runbook.alarms.mean, runbook.runs) == ("runbook", 1.0, 0.0, 4)
    assert (recent.solver, recent.score.mean, recent.alarms.mean) == ("recent-change", 0.25, 1.0)


def test_page():
    page = render_leaderboard_page(OUTCOMES, ["cart", "mail", "new", "quiet"])
    assert "3 of 4 scenarios; seeds 1, 2; 2026-11-26." in page
    assert "| cart | 2/2 | 1/2 | solved by the last change |" in page
    assert "| mail | 1/1 | 0/1 |  |" in page
    assert "| quiet | 1/1 | 0/1 | no incident |" in page
    assert "Not run: new." in page
    assert "The oracle was correct in all of its runs, and nop never scored: 2 runs." in page
    assert "oracle |" not in page
    assert "There are no runs yet" in render_leaderboard_page([], ["cart"])
    assert "gone" not in render_leaderboard_page([*OUTCOMES, outcome("gone", "runbook", True)], ["cart"])


@pytest.mark.parametrize(
    ("one", "fails"),
    [
        (outcome("cart", "oracle", True), False),
        (outcome("cart", "oracle", False), True),
        (outcome("quiet", "oracle", False, control=True), True),
        (outcome("cart", "nop", False), False),
        (outcome("cart", "nop", True), True),
        (outcome("cart", "nop", False, score=0.5), True),
        (outcome("cart", "runbook", False), False),
    ],
)
def test_references_are_checked(one, fails):
    assert find_failed_checks([one]) == ([one] if fails else [])
    if fails:
        assert f"**Of 1 runs of oracle and nop, 1 have a wrong result**: {one.solver} in" in (
            render_leaderboard_page([one], [one.scenario])
        )


def test_records_are_sorted_and_unique(tmp_path):
    path = tmp_path / "leaderboard.jsonl"
    assert read_outcomes(path) == []
    write_outcomes(path, reversed(OUTCOMES))
    assert read_outcomes(path) == sorted(OUTCOMES, key=lambda each: each.key)
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_outcomes_of_a_snapshot(tmp_path, capsys):
    snapshot = recorded.write_snapshot_folder(tmp_path)
    truth = tmp_path / "truths" / snapshot.name
    (truth / "scenario_truth.json").write_text(json.dumps({"digest": "abc"}))
    command = ["solve", "--snapshot", str(snapshot), "--runs", str(tmp_path / "runs"), "--repeats", "1"]
    assert run([*command, "--baseline", "oracle", "--baseline", "nop"]) == 0
    capsys.readouterr()
    found = {each.solver: each for each in collect_outcomes(SolvedScenario("x", 2), truth, tmp_path / "runs", "today")}
    oracle, nop = found["oracle"], found["nop"]
    assert (oracle.scenario, oracle.seed, oracle.digest, oracle.day) == ("x", 2, "abc", "today")
    assert (oracle.correct, oracle.score, oracle.blamed) == (True, 1.0, ("shop/Service/cart",))
    assert (nop.correct, nop.score, nop.blamed, nop.stop) == (False, 0.0, (), "error")


def test_snapshot_without_fault_is_a_control(tmp_path, capsys):
    snapshot = recorded.write_snapshot_folder(tmp_path)
    truth = tmp_path / "truths" / snapshot.name
    (truth / "ground_truth.yaml").write_text("kind: GroundTruth\nspec: {groups: []}\n")
    (truth / "scenario_truth.json").write_text(json.dumps({"digest": "abc", "outcome": "NoIncident"}))
    command = ["solve", "--snapshot", str(snapshot), "--runs", str(tmp_path / "runs"), "--repeats", "1"]
    assert run([*command, "--baseline", "oracle", "--baseline", "loudest-alert"]) == 0
    capsys.readouterr()
    found = {each.solver: each for each in collect_outcomes(SolvedScenario("x", 1), truth, tmp_path / "runs", "today")}
    assert {name: (each.control, each.correct, each.score) for name, each in found.items()} == {
        "oracle": (True, True, None),
        "loudest-alert": (True, False, None),
    }
    (truth / "scenario_truth.json").write_text(json.dumps({"outcome": "Perhaps"}))
    assert run([*command, "--baseline", "nop"]) == 1
    assert "this is no outcome" in capsys.readouterr().err


def test_program_refuses_unknown_scenario():
    command = [sys.executable, "ci/leaderboard", "no-such-scenario"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "no scenario no-such-scenario" in done.stderr


def test_committed_reference_records_are_valid():
    found = read_outcomes(ROOT / "docs" / "leaderboard.jsonl")
    assert find_failed_checks(found) == []
    assert {each.solver for each in found} >= {"oracle", "nop", "runbook", "recent-change"}
