"""``scenario-kit score``: tables, JSON, the evaluator's file, and mistakes with their places."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scenario_kit.cli import run
from scenario_kit.cli.scoring.truths import load_contexts

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "docs/examples/score"
TRUTHS, OUTPUTS, GRAPH = (str(EXAMPLE / name) for name in ("truths", "outputs", "topology.json"))
ANSWER = str(EXAMPLE / "outputs/Scenario-1/1/agent_output.json")
SCENARIOS = ROOT / "catalog/scenarios"


def score(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = run(["score", *arguments])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def test_table(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = score(capsys, TRUTHS, OUTPUTS, "--topology", GRAPH, "--decisions")
    assert (code, err) == (0, "")
    lines = [line.split() for line in out.splitlines()]
    assert ["1", "1", "answered", "yes", "1.0000"] in lines
    assert ["recall_gated_precision", "0.5000", "0.0000", "to", "1.0000", "Bootstrap"] in [line[:6] for line in lines]
    assert ["1", "2", "shop/Deployment/flagd", "Unmatched"] in [line[:4] for line in lines]
    assert "no agent_output.json" in out
    assert "1 of 3 runs gave no answer and count as 0" in out


def test_score_json_is_reproducible_with_its_rules(capsys: pytest.CaptureFixture[str]) -> None:
    first, again = (score(capsys, TRUTHS, OUTPUTS, "--format", "json", "--repeats", "4")[1] for _ in range(2))
    assert first == again
    document = json.loads(first)
    assert len(document["runs"]) == 4
    assert document["settings"]["repeats"] == 4
    assert document["settings"]["policy"] == {
        "duplicates": "penalise", "aliases": "merge", "ignoredNamespaces": []
    }  # fmt: skip
    assert document["settings"]["ntam"] == {"gamma": 1.0, "omega": 0.7, "tau": 0.8, "beta": 1.0, "lengths": {}}
    assert document["passAtK"]["1"]["mean"] == 0.25
    assert document["metrics"]["root_cause_f1"]["incidents"] == 1


def test_policies(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    names = ("shop/Deployment/payment", "shop/Pod/payment-1", "prometheus/Pod/x")
    answer = tmp_path / "answer.json"
    answer.write_text(json.dumps({"contributing_factors": [{"name": name} for name in names]}))

    def measure(*arguments: str) -> float:
        document = json.loads(score(capsys, TRUTHS, str(answer), "--format", "json", *arguments)[1])
        return float(document["metrics"]["recall_gated_precision"]["mean"])

    assert measure() == 0.5
    assert measure("--ignore-namespace", "itbench") == 1.0
    assert round(measure("--aliases", "penalise"), 4) == 0.3333
    assert measure("--aliases", "penalise", "--ignore-namespace", "prometheus") == 0.5


def test_parameters_of_ntam(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    names = ("shop/Deployment/payment", "shop/Service/frontend")
    answer = tmp_path / "answer.json"
    answer.write_text(json.dumps({"contributing_factors": [{"name": name} for name in names]}))
    for gamma, expected in ((0, 0.6804), (0.5, 0.4127), (1, 0.2503)):
        arguments = ("--topology", GRAPH, "--format", "json", "--ntam", f"gamma={gamma}")
        document = json.loads(score(capsys, TRUTHS, str(answer), *arguments)[1])
        assert round(document["metrics"]["ntam.fpc.corrected"]["mean"], 4) == expected
        assert document["settings"]["ntam"]["gamma"] == gamma


def test_evaluators_file(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = score(capsys, TRUTHS, OUTPUTS, "--format", "itbench")
    document = json.loads(out)
    assert code == 0
    assert document["statistics"]["overall"]["total_bad_runs"] == 1
    assert document["config"]["ground_truth_path"] == TRUTHS


def test_agreement_with_the_evaluator(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    document = json.loads(score(capsys, TRUTHS, OUTPUTS, "--format", "itbench")[1])
    result = tmp_path / "results.json"
    result.write_text(json.dumps(document))
    same = json.loads(score(capsys, TRUTHS, OUTPUTS, "--format", "json", "--against", str(result))[1])["against"]
    assert same["metrics"]["root_cause_entity_f1"] == {"both": 3, "equal": 3, "meanDifference": 0.0}
    assert same["claims"] == {"both": 3, "equal": 3, "meanDifference": 0.0}

    document["raw_results"][0]["incident_id"] = "Scenario-1"
    entity = document["raw_results"][1]["scores"]["root_cause_entity"]
    entity["predicted_entities"][1]["matches_gt"] = True
    entity["calculation_f1"] = 1.0
    del document["raw_results"][2]
    result.write_text(json.dumps(document))
    _, out, _ = score(capsys, TRUTHS, OUTPUTS, "--against", str(result))
    lines = [line.split() for line in out.splitlines()]
    assert ["root_cause_entity_f1", "2", "1", "-0.1667"] in lines
    assert ["claims", "that", "are", "roots", "3", "2", "-0.3333"] in lines
    assert "runs only in ours: 1, only in its: 0" in out


def test_scenario_topology_has_the_calls_of_its_app(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    answer = tmp_path / "answer.json"
    answer.write_text(json.dumps({"contributing_factors": [{"name": "otel-demo/Deployment/ad"}]}))
    arguments = (str(SCENARIOS / "ads-tuned-to-death"), str(answer), "--format", "json")
    document = json.loads(score(capsys, *arguments)[1])
    assert document["metrics"]["ntam.fl.corrected"]["mean"] == 1.0
    assert document["runs"][0]["correct"]
    other = json.loads(score(capsys, *arguments, "--namespace", "shop")[1])
    assert other["metrics"]["recall_gated_precision"]["mean"] == 0.0


def test_names_that_faults_generate_are_resolved(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    answer = tmp_path / "answer.json"
    answer.write_text(json.dumps({"contributing_factors": [{"name": "Node/x"}]}))
    scenario = str(SCENARIOS / "baskets-behind-a-wall")
    roots = json.loads(score(capsys, scenario, str(answer), "--format", "json")[1])["runs"][0]["roots"]
    answer.write_text(json.dumps({"contributing_factors": [{"name": f"otel-demo/{name}"} for name in roots]}))
    assert json.loads(score(capsys, scenario, str(answer), "--format", "json")[1])["runs"][0]["correct"]
    assert not any(name.startswith("Fault/") for name in roots)


def test_any_conjunctive_cause_of_one_fault_is_accepted(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    scenario = ROOT / "tests/fixtures/language/conjunctive-causes"
    (context,) = load_contexts(scenario, None, "")[0].values()
    (root,) = context.index.roots
    assert len(root.groups) > 1
    for group in root.groups:
        answer = tmp_path / "answer.json"
        answer.write_text(json.dumps({"contributing_factors": [{"name": f"x/{group.kind}/{group.names[0]}"}]}))
        assert json.loads(score(capsys, str(scenario), str(answer), "--format", "json")[1])["runs"][0]["correct"]
    (two,) = load_contexts(ROOT / "tests/fixtures/language/two-independent-causes", None, "")[0].values()
    assert len(two.index.roots) == 2


def test_control(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    answer = tmp_path / "answer.json"
    answer.write_text('{"contributing_factors": [{"name": "otel-demo/Deployment/ad"}]}')
    silent = tmp_path / "silent.json"
    silent.write_text('{"contributing_factors": []}')
    code, out, _ = score(capsys, str(SCENARIOS / "busy-afternoon"), str(answer), str(silent))
    assert code == 0
    assert ["hallucination_rate", "0.5000"] in [line.split()[:2] for line in out.splitlines()]


def test_every_scenario_of_the_catalogue_can_be_scored(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    lines = tmp_path / "runs.jsonl"
    answer = {"contributing_factors": [{"name": "otel-demo/Deployment/cart"}]}
    record = {"run_id": "r", "scenario": "ads-tuned-to-death", "answer": answer}
    lines.write_text(json.dumps(record))
    code, out, err = score(capsys, str(SCENARIOS), str(lines), "--format", "json")
    assert (code, err) == (0, "")
    incidents = {one["incident"] for one in json.loads(out)["runs"]}
    assert incidents == {path.parent.name for path in SCENARIOS.glob("*/scenario.yaml")}


def test_invalid_answer_counts_as_none_with_position(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    answer = tmp_path / "answer.json"
    answer.write_text('{"contributing_factors": [\n {"name": "shop/Deployment/payment"},\n {"name": 7}]}')
    code, out, _ = score(capsys, TRUTHS, str(answer))
    assert code == 0
    assert f"{answer}:3:11: `contributing_factors[1].name` is a number, not a string" in out
    assert ["1", "1", "invalid", "no", "0.0000"] in [line.split()[:5] for line in out.splitlines()]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("missing.yaml", ANSWER), 3, ("missing.yaml does not exist", "fix:")),
        ((TRUTHS, "missing.json"), 3, ("missing.json does not exist", "fix:")),
        ((TRUTHS, ANSWER, "--topology", "missing.json"), 3, ("missing.json does not exist",)),
        ((TRUTHS, ANSWER, "--prices", "missing.json"), 3, ("missing.json",)),
        ((TRUTHS, ANSWER, "--format", "csv"), 3, ("invalid value 'csv' for --format",)),
        ((TRUTHS, ANSWER, "--duplicates", "love"), 3, ("invalid value 'love' for --duplicates",)),
        ((TRUTHS, ANSWER, "--repeats", "0"), 3, ("--repeats",)),
        ((TRUTHS, ANSWER, "--ntam", "gama=1"), 3, ("--ntam has no parameter 'gama'", "did you mean", "gamma")),
        ((TRUTHS, ANSWER, "--ntam", "tau=1.5"), 3, ("--ntam tau=1.5", "from 0 to 1")),
        ((TRUTHS, ANSWER, "--ntam", "length.owns=nan"), 3, ("--ntam length.owns=nan",)),
        ((TRUTHS, ANSWER, "--cap", "0"), 3, ("--cap",)),
        ((TRUTHS,), 3, ("Missing argument",)),
        ((ANSWER, ANSWER), 1, ("SK103 error", "not a ground truth")),
        ((TRUTHS, ANSWER, "--topology", ANSWER), 1, ("SK103 error", "`nodes` is missing")),
    ],
)
def test_mistakes(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], code: int, words: tuple[str, ...]
) -> None:
    found, out, err = score(capsys, *arguments)
    assert (found, out) == (code, "")
    assert [word for word in words if word not in err] == []


def test_warnings_about_the_truth_go_to_standard_error(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    truth = tmp_path / "truth.yaml"
    truth.write_text(
        "groups: [{id: a, kind: Deployment, name: payment, root_cause: true}]\n"
        "propagations: [{source: a, target: gone}]\n"
    )
    code, out, err = score(capsys, str(truth), ANSWER, "--format", "json")
    assert code == 0
    assert json.loads(out)["runs"][0]["correct"]
    assert f"SK104 warning {truth}:2:36" in err


def test_records_of_another_version_are_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    scenario = SCENARIOS / "product-catalog-wrong-target-port"
    (context,) = load_contexts(scenario / "scenario.yaml", None, "")[0].values()
    record = {"scenario": {"id": scenario.name, "digest": context.digest}, "run_id": "a-1", "agent": {"name": "a"}}
    (tmp_path / "new.json").write_text(json.dumps(record))
    assert score(capsys, str(scenario), str(tmp_path))[2] == ""

    other = {**record, "scenario": {"id": scenario.name, "digest": "0" * 64}, "run_id": "a-2"}
    (tmp_path / "old.json").write_text(json.dumps(other))
    code, _, err = score(capsys, str(scenario), str(tmp_path))
    assert code == 0
    assert f"records of another version of '{scenario.name}' are scored: a/a-2" in " ".join(err.split())
    assert run(["leaderboard", str(scenario), str(tmp_path / "old.json")]) == 0
    assert "another version" in " ".join(capsys.readouterr().err.split())
