"""Records of Stirrup: one that Stirrup 0.2.1 itself made, with a script as its model, and what else may come."""

import json
from pathlib import Path

import pytest

from scenario_kit.errors import AuthoringError
from scenario_kit.scoring.files.outputs import read_runs
from scenario_kit.scoring.files.source import read_source
from scenario_kit.scoring.files.stirrup_records import is_stirrup_record, read_stirrup_record
from scenario_kit.scoring.runs.usage import TokenCounts

RECORD = Path(__file__).with_name("stirrup_record.json")
ANSWER = {"entities": [{"name": "shop/Service/cart", "contributing_factor": True}], "propagations": [],
          "alerts_explained": []}  # fmt: skip


def read(path):
    return read_stirrup_record(read_source(path))


@pytest.fixture
def change(tmp_path):
    """Write the record with other fields, and read it."""

    def build(**fields):
        document = json.loads(RECORD.read_text()) | fields
        path = tmp_path / "record.json"
        path.write_text(json.dumps({key: value for key, value in document.items() if value != "gone"}))
        return read(path)

    return build


def test_record_of_stirrup_itself():
    assert is_stirrup_record(json.loads(RECORD.read_text()))
    run = read(RECORD)
    assert (run.incident, run.trial, run.model, run.stop, run.state) == ("7", "a1", "scripted", "finish", "Answered")
    assert list(run.answer.claims) == ["shop/Service/cart"]
    assert (run.turns, run.tokens) == (3, TokenCounts(input=600, output=30, reasoning=15))
    assert [(call.name, call.valid, call.ok) for call in run.tool_calls] == [
        ("code_exec", True, True), ("code_exec", False, False), ("finish", True, True),
    ]  # fmt: skip
    assert "cart" in run.tool_calls[0].text
    assert run.times.wall == run.times.diagnosis == 25.0


def test_capped_run_has_no_answer(change):
    run = change(finish_params=None)
    assert (run.stop, run.state, run.times.diagnosis) == ("cap", "Missing", None)
    assert "cap" in run.problem


@pytest.mark.parametrize(
    ("finished", "state"),
    [
        (ANSWER, "Answered"),
        ({"answer": ANSWER}, "Answered"),
        ({"answer": json.dumps(ANSWER)}, "Answered"),
        ({"answer": "it is the cart"}, "Invalid"),
        ({"reason": "done", "paths": []}, "Invalid"),
        ({**ANSWER, "entities": []}, "Empty"),
    ],
)
def test_finish_parameters_decide_the_answer_state(change, finished, state):
    assert change(finish_params=finished).state == state


def test_summarised_turns_are_counted_once(change):
    (stretch,) = json.loads(RECORD.read_text())["history"]
    summary = {"role": "user", "kind": "summary", "content": "so far", "replaced_ids": ["m1"]}
    run = change(history=[stretch, [summary, *stretch[-2:]]])
    assert (run.turns, run.tokens.input, len(run.tool_calls)) == (3, 600, 3)


def test_flat_history_and_the_fields_of_older_versions(change):
    message = {"role": "assistant", "id": "x", "token_usage": {"input": 5, "output": 2},
               "tool_calls": [{"name": "code_exec", "arguments": "{}", "tool_call_id": "c"}]}  # fmt: skip
    run = change(history=[message], metadata="gone")
    assert (run.turns, run.tokens.output, run.model) == (1, 2, "")
    assert [(call.name, call.ok) for call in run.tool_calls] == [("code_exec", False)]


@pytest.mark.parametrize(
    ("history", "says"),
    [
        ([["x"]], "`history[0][0]` is a string, not an object"),
        ([[{"role": "assistant", "token_usage": {"input": "many"}}]], "`history[0][0].token_usage.input` is a string"),
        ([[{"role": "assistant", "request_start_time": "soon"}]], "`history[0][0].request_start_time` is a string"),
    ],
)
def test_mistakes_are_reported_with_position(change, history, says):
    with pytest.raises(AuthoringError) as caught:
        change(history=history)
    assert says in str([finding.message for finding in caught.value.findings])
    assert all(finding.position.line for finding in caught.value.findings)


def test_score_reads_stirrup_folders(tmp_path):
    folder = tmp_path / "runs"
    folder.mkdir()
    (folder / "one.json").write_text(RECORD.read_text())
    (folder / "notes.json").write_text("{}")
    (run,) = read_runs([folder], ["Scenario-7"])
    assert (run.incident, run.turns) == ("Scenario-7", 3)
