"""Runs as ATIF trajectories: the specification's requirements, and the place of every message."""

import json
from datetime import datetime
from pathlib import Path

import pytest

from scenario_kit.scoring.runs.usage import TokenCounts
from scenario_kit.solver.protocol.lines import BadLine
from scenario_kit.solver.protocol.messages import (
    CallMessage,
    EscalateMessage,
    NoteMessage,
    StopMessage,
    SubmitMessage,
    UsageMessage,
)
from scenario_kit.solver.records.journal import read_journal
from scenario_kit.solver.records.run_record import RunIdentity
from scenario_kit.solver.records.trajectory import build_trajectory

#: What Harbor's own model is tried on: tests/peers/test_trajectory.py.
EXAMPLE = Path(__file__).with_name("trajectory.json")
IDENTITY = RunIdentity(
    run_id="me-1", scenario="cart-down", digest="d", solver="me", repeat=1, seed=3, version="0.1.0"
)  # fmt: skip
AGENT_ONLY = ("model_name", "reasoning_effort", "reasoning_content", "tool_calls", "metrics")
TOP = {"schema_version", "session_id", "trajectory_id", "agent", "steps", "final_metrics", "extra"}
STEP = {"step_id", "timestamp", "source", "message", "tool_calls", "observation", "metrics", "extra"}


def check_atif(document):
    """Check the rules of the specification, independently of what builds it."""
    assert set(document) <= TOP
    assert document["schema_version"] == "ATIF-v1.8"
    assert set(document["agent"]) <= {"name", "version", "model_name", "tool_definitions", "extra"}
    assert document["steps"]
    for number, step in enumerate(document["steps"], start=1):
        assert set(step) <= STEP
        assert step["step_id"] == number
        assert isinstance(step["message"], str)
        datetime.fromisoformat(step["timestamp"])
        if step["source"] != "agent":
            assert not set(AGENT_ONLY) & set(step)
        calls = [each["tool_call_id"] for each in step.get("tool_calls", ())]
        for each in step.get("observation", {"results": ()})["results"]:
            assert each["source_call_id"] in calls
            assert set(each) <= {"source_call_id", "content", "extra"}
    return document


@pytest.fixture
def play(investigate):
    """Say these messages, and build the trajectory."""

    def run(*messages):
        investigation = investigate()
        investigation.start()
        for message in messages:
            if isinstance(message, bytes):
                investigation.refuse(message, BadLine("no JSON", "send JSON"))
            else:
                investigation.handle(message)
        lines = read_journal(investigation._journal.path)
        return check_atif(build_trajectory(IDENTITY, investigation.state, lines))

    return run


def test_whole_run_reports_every_scenario(play):
    answer = {"entities": [], "propagations": [], "alerts_explained": []}
    found = play(
        UsageMessage(tokens=TokenCounts(input=10), model="m-1"),
        NoteMessage(text="first the alerts"),
        CallMessage(tool="get_alerts", id="x"),
        UsageMessage(tokens=TokenCounts(input=100, cached=50, output=7, reasoning=3), model="m-1"),
        CallMessage(tool="get_metrics", id="x", arguments={"query": "sum("}),
        SubmitMessage(answer=answer),
        SubmitMessage(),
    )
    steps = found["steps"]
    assert [step["source"] for step in steps] == ["user", "agent", "agent", "agent", "agent"]
    assert steps[0]["message"].startswith("It is slow.")
    assert steps[1]["message"] == "first the alerts"
    assert steps[1]["observation"]["results"][0]["content"] == '{"items":[],"left_out":0}'
    assert steps[1]["metrics"] == {"prompt_tokens": 160, "completion_tokens": 10, "cached_tokens": 50}
    assert steps[2]["observation"]["results"][0]["extra"] == {"ok": False, "valid": False}
    assert [step["tool_calls"][0]["function_name"] for step in steps[3:]] == ["submit", "submit"]
    assert steps[3]["tool_calls"][0]["arguments"] == {"answer": answer}
    assert steps[3]["observation"]["results"][0]["content"] == "mitigation"
    assert len({step["tool_calls"][0]["tool_call_id"] for step in steps[1:]}) == 4
    assert steps[1]["extra"] != steps[4]["extra"], "the incident's time goes on"
    assert found["agent"]["model_name"] == "m-1"
    assert {tool["function"]["name"] for tool in found["agent"]["tool_definitions"]} >= {"get_alerts", "wait"}
    assert found["final_metrics"] == {
        "total_steps": 5, "total_prompt_tokens": 160, "total_completion_tokens": 10, "total_cached_tokens": 50,
    }  # fmt: skip
    assert found["extra"]["stop_reason"] == "finish"
    assert found == json.loads(EXAMPLE.read_text()), "tests/solver/trajectory.json is this run"


@pytest.mark.parametrize(
    ("messages", "last"),
    [
        ([StopMessage(reason="enough")], ("agent", "stop", "enough")),
        ([EscalateMessage(reason="ask the owner")], ("agent", "escalate", "ask the owner")),
        ([b"I think it is the cart"], ("system", None, None)),
        ([NoteMessage(text="hm")], ("agent", None, None)),
    ],
)
def test_last_step_records_the_end_of_the_run(play, messages, last):
    step = play(*messages)["steps"][-1]
    source, function, says = last
    assert step["source"] == source
    if function:
        assert step["tool_calls"][0]["function_name"] == function
        assert step["observation"]["results"][0]["content"] == says


def test_invalid_message_is_recorded_and_refused(play):
    message, refused = play(b"I think it is the cart")["steps"][1:]
    assert (message["message"], message["source"]) == ("I think it is the cart", "agent")
    assert refused["message"] == "refusal: no JSON"


def test_run_without_usage_has_no_token_metrics(play):
    found = play(CallMessage(tool="get_alerts"))
    assert found["final_metrics"] == {"total_steps": 2}
    assert "metrics" not in found["steps"][1]
