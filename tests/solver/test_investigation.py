"""A run without a cluster: time that calls cost, a journal of every message, a record that can be scored."""

import json

import pytest

from scenario_kit.errors import AuthoringError, LabError
from scenario_kit.scoring.files.run_records import read_run_record
from scenario_kit.scoring.files.source import read_source
from scenario_kit.scoring.runs.usage import TokenCounts
from scenario_kit.solver.baselines.catalogue import BASELINES
from scenario_kit.solver.baselines.script import ScriptedSolver
from scenario_kit.solver.programs.drive import drive
from scenario_kit.solver.protocol.lines import BadLine, decode_solver_line
from scenario_kit.solver.protocol.messages import (
    CallMessage,
    EndMessage,
    NoteMessage,
    RefusalMessage,
    StageMessage,
    SubmitMessage,
    UsageMessage,
)
from scenario_kit.solver.records.journal import BadLineEntry, Journal, read_journal
from scenario_kit.solver.records.run_record import IncidentTimes, RunIdentity, RunOutcome, build_run_record
from scenario_kit.solver.session import SessionLimits

IDENTITY = RunIdentity(
    run_id="x-1", scenario="cart-down", digest="d", solver="x", repeat=1, seed=1, version="0",
)  # fmt: skip


def test_turn_and_wait_cost_their_seconds(investigate, clock):
    run = investigate()
    run.start()
    run.handle(NoteMessage(text="hm"))
    assert clock.at == run.began
    result = run.handle(CallMessage(tool="get_alerts", id="a"))
    assert (clock.at - run.began, result.id, result.ok, result.turns_left) == (15, "a", True, 99)
    result = run.handle(CallMessage(tool="wait", arguments={"seconds": 60}))
    assert (clock.at - run.began, result.now) == (90, "2025-10-09T08:54:50Z")
    run.handle(CallMessage(tool="nonsense"))
    assert clock.at - run.began == 105, "a call that cannot be used takes its time, too"


def test_wall_clock_is_not_pushed(investigate, clock):
    clock.mode = "wall"
    run = investigate()
    run.handle(CallMessage(tool="get_alerts"))
    assert clock.at == run.began
    run.handle(CallMessage(tool="wait", arguments={"seconds": 60}))
    assert clock.at - run.began == 60


def test_wall_clock_turns_run_due_work(investigate, clock):
    clock.mode = "wall"
    requests = []
    clock.advance = requests.append
    run = investigate()
    run.handle(CallMessage(tool="get_alerts"))
    run.handle(NoteMessage(text="this is no turn"))
    run.handle(CallMessage(tool="wait", arguments={"seconds": 60}))
    assert requests == [0.0, 0.0, 60.0]


def test_start_message_has_brief_and_tools(investigate):
    start = investigate(SessionLimits(turns=7, tokens=9)).start()
    assert (start.brief, start.namespaces, start.limits.turns, start.limits.tokens) == ("It is slow.", ("shop",), 7, 9)
    assert "contributing_factor" in start.answer
    assert [tool.name for tool in start.tools][:3] == ["exec_kubectl_cmd_safely", "get_metrics", "get_alerts"]


def test_lab_error_does_not_end_the_run(investigate, clock):
    run = investigate()

    def fail(_):
        raise LabError("gone")

    clock.advance = fail
    with pytest.raises(LabError):
        run.handle(CallMessage(tool="get_alerts"))
    assert not run.over


def test_record_of_a_run_is_scored(investigate, clock, tmp_path):
    run = investigate()
    run.start()
    run.handle(UsageMessage(tokens=TokenCounts(input=10, output=5), model="m"))
    run.handle(CallMessage(tool="exec_kubectl_cmd_safely", arguments={"cmd": "get pods"}))
    run.handle(CallMessage(tool="exec_kubectl_cmd_safely", arguments={"cmd": "edit x"}))
    assert isinstance(run.refuse(b"I think", BadLine("no JSON", "JSON")), RefusalMessage)
    answer = {"entities": [{"name": "shop/Deployment/cart", "contributing_factor": True}], "propagations": [],
              "alerts_explained": []}  # fmt: skip
    assert isinstance(run.handle(SubmitMessage(answer=answer)), StageMessage)
    assert run.handle(SubmitMessage()) == EndMessage(reason="finish")
    journal = read_journal(tmp_path / "journal-0.jsonl")
    times = IncidentTimes(handed_over=run.began, ended=clock.at, first_fault=run.began - 300)
    outcome = RunOutcome(resolved=True, changed=("shop/Service/cart",), isolation="none")
    record = build_run_record(IDENTITY, SessionLimits(), run.state, times, outcome, journal)

    path = tmp_path / "record.json"
    path.write_text(json.dumps(record))
    read = read_run_record(read_source(path))
    assert (read.incident, read.trial, read.stop, read.turns, read.model) == ("cart-down", "x-1", "finish", 5, "m")
    assert read.answer.claims == ("shop/Deployment/cart",)
    assert [(call.valid, call.ok) for call in read.tool_calls] == [(True, True), (False, False)]
    assert "ran get/pods" in read.tool_calls[0].text
    assert (read.tokens.total, read.resolved, read.changed) == (15, True, ("shop/Service/cart",))
    assert (read.times.wall, read.times.diagnosis, read.times.mitigation) == (75, 45, 60)


def test_run_without_answer_gives_record_without_answer(investigate, tmp_path):
    run = investigate()
    run.lose("the solver ended with exit code 1")
    times = IncidentTimes(handed_over=run.began, ended=run.began)
    record = build_run_record(IDENTITY, SessionLimits(), run.state, times, RunOutcome(resolved=False), [])
    path = tmp_path / "record.json"
    path.write_text(json.dumps(record))
    read = read_run_record(read_source(path))
    assert (read.state, read.stop, read.answer) == ("Missing", "error", None)
    assert "answer" not in record
    assert "tokens" not in record


def test_journal_survives_a_killed_writer(tmp_path):
    path = tmp_path / "j.jsonl"
    journal = Journal(path)
    journal.write(BadLineEntry(now=1.0, wall=2.0, text="x", problem="no JSON"))
    journal.close()
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"type": "mess')
    assert len(read_journal(path)) == 1
    path.write_bytes(b"{}\n" + whole)
    with pytest.raises(AuthoringError, match=r"j\.jsonl:1: "):
        read_journal(path)
    with pytest.raises(FileExistsError):
        Journal(path)


@pytest.mark.parametrize("name", BASELINES)
def test_baseline_always_ends_its_run(investigate, name):
    run = investigate()
    drive(run, ScriptedSolver(BASELINES[name].script))
    assert run.over
    assert run.state.answer == {"entities": [], "propagations": [], "alerts_explained": []}
    assert run.state.end == "finish"


def test_baseline_stops_at_the_cap(investigate):
    run = investigate(SessionLimits(turns=1))
    drive(run, ScriptedSolver(BASELINES["spectrum"].script))
    assert (run.state.end, run.state.answered) == ("cap", False)


def test_invalid_line_is_a_bad_line():
    with pytest.raises(BadLine):
        decode_solver_line(b"{")
