"""Answers and records of runs: every format, whole or not at all, and trees of outputs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scenario_kit.errors import AuthoringError, UsageError
from scenario_kit.scoring.entities.answer import AnswerEdge
from scenario_kit.scoring.entities.truth import FinopsResource
from scenario_kit.scoring.files.answers import build_agent_output, read_answer
from scenario_kit.scoring.files.outputs import read_runs
from scenario_kit.scoring.files.run_records import read_run_record
from scenario_kit.scoring.files.source import parse_source
from scenario_kit.scoring.runs.record import RunRecord

CART, AD = "shop/Deployment/cart", "shop/Service/ad"
ITBENCH: dict[str, Any] = {
    "entities": [
        {"name": CART, "contributing_factor": True, "reasoning": "r", "evidence": "e"},
        {"name": AD, "contributing_factor": False, "reasoning": "r", "evidence": "e"},
    ],
    "propagations": [{"source": CART, "target": AD, "condition": "c", "effect": "e"}],
    "alerts_explained": [{"alert": "A", "explanation": "x", "explained": True}],
}
RECORD: dict[str, Any] = {
    "run_id": "r1", "scenario": {"id": "shop-down", "version": "1"}, "model": {"slug": "m"}, "stop_reason": "finish",
    "start": "2026-11-25T10:00:00Z", "end": "2026-11-25T10:02:00Z", "turns": 12,
    "tool_calls": [
        {"name": "kubectl", "args": {"cmd": "logs deploy/cart"}, "valid": True, "ok": False, "output": ["ad", {"x": 1}]}
    ],
    "tokens": {"input": 10, "cached": 2, "output": 3}, "answer": ITBENCH, "resolved": True,
    "changed": [CART], "safeguards": [{"name": "pvc", "severity": "catastrophic", "held": True}],
    "optimum": {"cpu_cost": {"observed": 0.62, "optimal": 0.5}},
    "grades": {
        "reasoning": {CART: 0.5}, "checklist": {"localisation": [True], "characterisation": [False], "scope": [True]},
    },
}  # fmt: skip


def parse(data: object) -> Any:
    return parse_source(json.dumps(data), "answer.json")


def test_answer_of_itbench() -> None:
    answer = read_answer(parse(ITBENCH))
    assert (answer.claims, answer.chain) == ((CART,), (CART, AD))
    assert answer.edges == (AnswerEdge(source=CART, target=AD),)
    assert read_answer(parse(build_agent_output(answer))) == answer


@pytest.mark.parametrize(
    ("data", "claims", "chain"),
    [
        ({"contributing_factors": [{"name": CART, "reasoning": "", "evidence": ""}]}, (CART,), (CART,)),
        (
            {"schema_version": "1.0", "root_causes": [{"name": "cart", "kind": "Deployment", "namespace": "shop"}],
             "propagation_chain": [AD], "reasoning": "", "recommended_actions": []},
            (CART,), (CART, AD),
        ),
        ({"root_causes": [{"name": CART}], "propagation_chain": [{"name": "ad", "kind": "Service"}]}, (CART,),
         (CART, "Service/ad")),
        ({"alert_start_time": "t", "entities": [{"id": CART, "root_cause": True}, {"id": AD, "root_cause": False}],
          "propagations": [], "mitigation": []}, (CART,), (CART, AD)),
        ({"entities": [], "propagations": [], "alerts_explained": []}, (), ()),
    ],
)  # fmt: skip
def test_other_answer_formats_are_read(data: dict[str, Any], claims: tuple[str, ...], chain: tuple[str, ...]) -> None:
    answer = read_answer(parse(data))
    assert (answer.claims, answer.chain) == (claims, chain)


def test_edges_of_a_chain_and_resources() -> None:
    answer = read_answer(parse({"root_causes": [], "propagation_chain": [{"source": CART, "target": AD}]}))
    assert answer.edges == (AnswerEdge(source=CART, target=AD),)
    resources = read_answer(parse({"resource": [{"name": "EC2", "type": "Service"}]})).resources
    assert resources == (FinopsResource(name="EC2", type="Service"),)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"entities": [{"name": CART, "contributing_factor": True}, {"name": 5}], "propagations": [],
          "alerts_explained": []}, "`entities[1].name` is a number, not a string"),
        ({"entities": [{"name": CART, "contributing_factor": "yes"}], "propagations": [], "alerts_explained": []},
         "`entities[0].contributing_factor` is a string, not a boolean"),
        ({"entities": []}, "`propagations` is missing"),
        ({"entities": [], "propagations": []}, "`alerts_explained` is missing"),
        ({"entities": {}, "propagations": [], "alerts_explained": []}, "`entities` is an object, not a list"),
        ({"contributing_factors": [CART]}, "`contributing_factors[0]` is a string, not an object"),
        ({"diagnosis": "the cart"}, "unknown answer format"),
        ([], "the document` is a list, not an object"),
        ("text", "the document` is a string, not an object"),
    ],
)  # fmt: skip
def test_malformed_answer_is_refused_with_position(data: Any, message: str) -> None:
    with pytest.raises(AuthoringError) as caught:
        read_answer(parse(data))
    found = next(f for f in caught.value.findings if message in f.message)
    assert str(found.position).startswith("answer.json:1:")


def test_record() -> None:
    record = read_run_record(parse(RECORD))
    assert (record.incident, record.trial, record.model, record.state) == ("shop-down", "r1", "m", "Answered")
    assert (record.times.wall, record.times.diagnosis, record.times.mitigation) == (120, 120, 120)
    assert record.tool_calls is not None
    assert (record.tool_calls[0].text, record.tool_calls[0].ok) == ("logs deploy/cart ad 1", False)
    assert (record.turns, record.resolved, record.changed) == (12, True, (CART,))
    assert record.tokens is not None
    assert record.tokens.total == 15
    assert record.optimum == {"cpu_cost": (0.62, 0.5)}
    assert record.grades is not None
    assert record.grades.reasoning == {CART: 0.5}
    assert record.grades.checklist == {"localisation": (True,), "characterisation": (False,), "scope": (True,)}


def test_missing_and_empty_answers_are_distinguished() -> None:
    none = read_run_record(parse({**RECORD, "answer": None, "stop_reason": "cap"}))
    assert (none.state, none.answer, none.times.diagnosis) == ("Missing", None, None)
    assert "cap" in none.problem
    bad = read_run_record(parse({**RECORD, "answer": {"entities": 1}}))
    assert bad.state == "Invalid"
    assert "answer.json:1:" in bad.problem
    empty = read_run_record(parse({**RECORD, "answer": {"entities": [], "propagations": [], "alerts_explained": []}}))
    assert empty.state == "Empty"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"turns": -1}, "`turns` is -1"),
        ({"turns": True}, "`turns` is a boolean, not a number"),
        ({"start": "yesterday"}, "`start` is not a timestamp"),
        ({"end": "2026-11-25T09:00:00Z"}, "`end` is before the start"),
        ({"stop_reason": "bored"}, "`stop_reason` is 'bored'"),
        ({"tokens": 5}, "`tokens` is a number, not an object"),
        ({"safeguards": [{"name": "x", "severity": "mild", "held": True}]}, "`safeguards[0].severity` is 'mild'"),
        ({"optimum": {"cpu": {"observed": 1, "optimal": 0}}}, "`optimum.cpu.optimal` is 0"),
        ({"grades": {"reasoning": {"a": 0.7}}}, "`grades.reasoning.a` is 0.7"),
        ({"grades": {"reasoning": [1]}}, "`grades.reasoning` is a list, not an object"),
        ({"grades": {"checklist": {"scope": [True]}}}, "`grades.checklist.localisation` has no list of yes-or-no"),
        ({"grades": {"checklist": {"scope": [1]}}}, "`grades.checklist.scope` has no list of yes-or-no answers"),
    ],
)
def test_record_with_a_mistake_is_an_error_of_the_harness(change: dict[str, Any], message: str) -> None:
    with pytest.raises(AuthoringError) as caught:
        read_run_record(parse({**RECORD, **change}))
    assert any(message in finding.message for finding in caught.value.findings)


def write(path: Path, data: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(data if isinstance(data, str) else json.dumps(data))
    return path


def test_tree_of_outputs(tmp_path: Path) -> None:
    write(tmp_path / "Scenario-1/1/outputs/agent_output.json", ITBENCH)
    write(tmp_path / "Scenario-1/2/agent_response.json", ITBENCH)
    write(tmp_path / "Scenario-1/10/agent_output.json", "{not json")
    (tmp_path / "scenario_2/1").mkdir(parents=True)
    (tmp_path / "scenario_2/notes").mkdir(parents=True)
    (tmp_path / "other/1").mkdir(parents=True)
    runs = read_runs([tmp_path], ["1", "2"])
    assert [(run.incident, run.trial, run.state) for run in runs] == [
        ("1", "1", "Answered"), ("1", "2", "Answered"), ("1", "10", "Invalid"), ("2", "1", "Missing"),
    ]  # fmt: skip
    assert "agent_output.json:1:2" in runs[2].problem
    assert read_runs([tmp_path / "Scenario-1"], ["1", "2"]) == runs[:3]


def test_files_and_lines(tmp_path: Path) -> None:
    lines = "\n".join(json.dumps({**RECORD, "run_id": f"r{i}"}) for i in range(3))
    runs = read_runs(
        [write(tmp_path / "runs.jsonl", lines), write(tmp_path / "a.json", {**RECORD, "turns": 9})], ["shop-down"]
    )
    assert [run.trial for run in runs] == ["r0", "r1", "r2", "r1"]
    write(tmp_path / "records/deep/a.json", RECORD)
    write(tmp_path / "records/deep/other.json", {"x": 1})
    assert [run.trial for run in read_runs([tmp_path / "records"], ["shop-down"])] == ["r1"]
    alone = read_runs([write(tmp_path / "x.json", ITBENCH), write(tmp_path / "y.json", ITBENCH)], ["one"])
    assert [(run.incident, run.trial) for run in alone] == [("one", "1"), ("one", "2")]
    below = read_runs([write(tmp_path / "Scenario-3/x.json", ITBENCH)], ["3", "4"])
    assert below[0].incident == "3"


def test_invalid_line_is_reported_with_its_number(tmp_path: Path) -> None:
    path = write(tmp_path / "runs.jsonl", json.dumps(RECORD) + "\n\n" + json.dumps({**RECORD, "turns": "x"}))
    with pytest.raises(AuthoringError) as caught:
        read_runs([path], ["shop-down"])
    assert str(caught.value.findings[0].position).startswith(f"{path}:3:")


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("missing.json", None, "does not exist"),
        ("x.json", ITBENCH, "the incident of this answer is unknown"),
        ("x.json", {**RECORD, "scenario": "gone"}, "no ground truth for incident"),
        ("empty/readme.txt", "hello", "contains no runs"),
    ],
)
def test_invalid_run_file_is_refused(tmp_path: Path, name: str, data: object, message: str) -> None:
    path = tmp_path / name
    if data is not None:
        write(path, data)
    with pytest.raises(UsageError, match=message):
        read_runs([path.parent if path.suffix == ".txt" else path], ["one", "two"])


def test_empty_record_is_missing() -> None:
    assert RunRecord(incident="i", trial="1").state == "Missing"
