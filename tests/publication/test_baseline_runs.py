"""Committed outcomes of the baselines become records that score as the runs did."""

import json
import subprocess

import msgspec

from scenario_kit.catalog import find_data_root
from scenario_kit.catalog.evidence import read_evidence
from scenario_kit.cli.scoring.truths import load_contexts
from scenario_kit.scoring.files.run_records import read_run_record
from scenario_kit.scoring.files.source import read_lines
from scenario_kit.scoring.scores.run_score import score_run
from scenario_kit.scoring.scores.settings import ScoreSettings
from tools.leaderboard.outcomes import BaselineOutcome, read_outcomes
from tools.leaderboard.run_records import convert_outcomes, count_repeats

OUTCOME = BaselineOutcome(
    scenario="down", seed=1, solver="loudest-alert", digest="d", kit="0.1.0", day="2026-11-26", control=False,
    correct=True, score=1.0, f1=1.0, blamed=("shop/Deployment/payment",), turns=5, seconds=2.5, stop="finish",
)  # fmt: skip


def outcomes(*changes):
    return [msgspec.structs.replace(OUTCOME, **change) for change in changes]


def test_outcomes_convert_to_run_records(tmp_path):
    records = convert_outcomes(
        outcomes({}, {"seed": 2, "blamed": ()}, {"solver": "nop", "blamed": (), "stop": "error"}), {"down": "d"}
    )
    path = tmp_path / "runs.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    blamed, nop, silent = [read_run_record(source) for source in read_lines(path)]
    assert (blamed.incident, blamed.solver, blamed.turns, blamed.times.wall) == ("down", "loudest-alert", 5, 2.5)
    assert "payment" in str(blamed.answer.claims[0])
    assert (silent.state, nop.state, nop.stop) == ("Empty", "Missing", "error")


def test_outcomes_of_other_versions_and_removed_scenarios_are_dropped():
    given = outcomes({"digest": "old"}, {"scenario": "gone"}, {})
    assert [record["run_id"] for record in convert_outcomes(given, {"down": "d"})] == ["down-loudest-alert-1"]


def test_expected_repeats_are_the_maximum_of_solvers():
    found = convert_outcomes(outcomes({}, {"seed": 2}, {"solver": "x"}), {"down": "d"})
    assert count_repeats(found) == 2
    assert count_repeats([]) == 1


def test_committed_outcomes_keep_their_scores(tmp_path):
    """Of the first scenarios that have any; those that have changed since have none."""
    root = find_data_root()
    outcomes = read_outcomes(root / "docs" / "leaderboard.jsonl")
    for name in sorted({each.scenario for each in outcomes})[:3]:
        path = root / "catalog" / "scenarios" / name / "scenario.yaml"
        own = [each for each in outcomes if each.scenario == name]
        records = convert_outcomes(own, {name: read_evidence(path).digest})
        file = tmp_path / f"{name}.jsonl"
        file.write_text("".join(json.dumps(record) + "\n" for record in records))
        ((_, context),) = load_contexts(path, None, "")[0].items()
        scored = {
            run.trial: score_run(context, run, ScoreSettings()).correct
            for run in map(read_run_record, read_lines(file))
        }
        expected = {f"{name}-{each.solver}-{each.seed}": each.correct for each in own}
        assert scored == {trial: expected[trial] for trial in scored}
        assert len(scored) in (0, len(own))


def test_program_has_help():
    root = find_data_root()
    run = subprocess.run([str(root / "ci" / "site"), "--help"], capture_output=True, text=True, timeout=60, check=False)
    assert run.returncode == 0, run.stderr
    assert "--out" in run.stdout
