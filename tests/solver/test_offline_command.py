"""``solve --snapshot``: scores, reachable services, and refusals."""

import json
import sys
from pathlib import Path

import pytest

from scenario_kit.cli import run
from scenario_kit.solver.programs.isolation import can_isolate

sys.path.insert(0, str(Path(__file__).parent))
import recorded

LOOK = """
import json, os, sys
hear = lambda: json.loads(sys.stdin.readline())
say = lambda **message: print(json.dumps(message), flush=True)
start = hear()
seen = {"tools": [each["name"] for each in start["tools"]], "stages": start["stages"], "brief": start["brief"]}
folder = os.environ["SNAPSHOT"]
seen["files"] = sorted(os.listdir(folder))
for name, path in (("truth", TRUTH), ("enclosed", folder + "/ground_truth.yaml")):
    try:
        seen[name] = open(path).read()
    except OSError as error:
        seen[name] = type(error).__name__
try:
    open(folder + "/new", "w")
    seen["writes"] = True
except OSError:
    seen["writes"] = False
say(type="note", text=json.dumps(seen))
say(type="call", tool="wait", arguments={"seconds": 5})
assert not hear()["ok"]
say(type="submit", answer={"entities": [{"name": "shop/Service/cart", "contributing_factor": True}],
                           "propagations": [], "alerts_explained": []})
assert hear()["type"] == "end"
"""


@pytest.fixture
def snapshot(tmp_path):
    return recorded.write_snapshot_folder(tmp_path / "snapshots")


def solve(snapshot, tmp_path, *more):
    return run(["solve", "--snapshot", str(snapshot), "--runs", str(tmp_path / "runs"), "--format", "json", *more])


def test_reference_solvers_score_as_expected(snapshot, tmp_path, capsys):
    assert solve(snapshot, tmp_path, "--baseline", "oracle", "--baseline", "nop") == 0
    message = json.loads(capsys.readouterr().out)
    means = {name: message[name]["metrics"]["recall_gated_precision"]["mean"] for name in message}
    assert means == {"oracle": 1.0, "nop": 0.0}
    assert len(message["oracle"]["runs"]) == 3
    record = json.loads((tmp_path / "runs" / "7" / "oracle" / "1" / "record.json").read_text())
    assert "resolved" not in record
    assert record["first_alert_ts"] < record["start"]


def test_folder_of_snapshots_is_solved_and_scored(snapshot, tmp_path, capsys):
    assert solve(snapshot.parent, tmp_path, "--baseline", "nop", "--repeats", "1") == 0
    capsys.readouterr()
    truths = str(snapshot.parent / "truths")
    assert solve(snapshot, tmp_path, "--truth", truths, "--baseline", "oracle", "--repeats", "1") == 0
    assert json.loads(capsys.readouterr().out)["oracle"]["metrics"]["recall_gated_precision"]["mean"] == 1.0


def test_program_reads_the_snapshot_and_no_truth(snapshot, tmp_path, capsys):
    if not can_isolate():
        pytest.skip("this machine does not allow namespaces (unshare)")
    (snapshot / "ground_truth.yaml").write_text(recorded.TRUTH)
    recorded.write_manifest(snapshot)
    program = tmp_path / "look.py"
    truth = snapshot.parent / "truths" / snapshot.name / "ground_truth.yaml"
    program.write_text(LOOK.replace("TRUTH", repr(str(truth)), 1))
    command = f"{sys.executable} {program}"
    assert solve(snapshot, tmp_path, "--solver", command, "--label", "look", "--repeats", "1") == 0
    assert json.loads(capsys.readouterr().out)["look"]["metrics"]["recall_gated_precision"]["mean"] == 1.0
    journal = (tmp_path / "runs" / "7" / "look" / "1" / "journal.jsonl").read_text().splitlines()
    notes = [json.loads(line)["message"] for line in journal if '"type":"note"' in line]
    seen = json.loads(notes[0]["text"])
    assert "manifest.json" in seen["files"]
    assert (seen["truth"], seen["enclosed"], seen["writes"]) == ("FileNotFoundError", "", False)
    assert "wait" not in seen["tools"]
    assert seen["stages"] == ["diagnosis"]
    assert "Service" not in seen["brief"]


@pytest.mark.parametrize(
    ("program", "fix"), [("recent-change", "--baseline recent-change"), ("./no-such-solver", "give its path")]
)
def test_missing_program_is_an_error_before_any_run(program, fix, snapshot, tmp_path, capsys):
    assert solve(snapshot, tmp_path, "--solver", program) == 3
    message = capsys.readouterr().err
    assert f"there is no program '{program}'" in message
    assert fix in message
    assert not (tmp_path / "runs").exists()


def test_limits_end_a_run(snapshot, tmp_path):
    assert solve(snapshot, tmp_path, "--baseline", "loudest-alert", "--repeats", "1", "--turns", "2") == 0
    record = json.loads((tmp_path / "runs" / "7" / "loudest-alert" / "1" / "record.json").read_text())
    assert (record["stop_reason"], record["turns"], "answer" in record) == ("cap", 2, False)
    assert solve(snapshot, tmp_path, "--baseline", "spectrum", "--repeats", "1", "--seconds", "20") == 0
    record = json.loads((tmp_path / "runs" / "7" / "spectrum" / "1" / "record.json").read_text())
    assert record["stop_reason"] == "timeout"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--baseline", "nop"], "what is to be solved?"),
        (["x.yaml", "--snapshot", "y", "--baseline", "nop"], "what is to be solved?"),
        (["x.yaml", "--truth", "y", "--baseline", "nop"], "--truth belongs to --snapshot"),
        (["--snapshot", "nowhere", "--baseline", "nop"], "folder nowhere does not exist"),
        (["--snapshot", ".", "--baseline", "nop"], "holds no snapshot"),
        (["--snapshot", ".", "--baseline", "nop", "--clock", "wall"], "a snapshot has no wall clock"),
    ],
)
def test_bad_commands(arguments, says, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run(["solve", *arguments]) == 3
    assert says in capsys.readouterr().err


def test_missing_truth_is_a_usage_error(snapshot, tmp_path, capsys):
    (snapshot.parent / "truths").rename(snapshot.parent / "elsewhere")
    assert solve(snapshot, tmp_path, "--baseline", "nop") == 3
    assert "no truth of" in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


def test_damaged_snapshot_is_not_solved(snapshot, tmp_path, capsys):
    (snapshot / "otel_logs_raw.tsv").write_text("x\n")
    assert solve(snapshot, tmp_path, "--baseline", "nop", "--repeats", "1") == 1
    assert "otel_logs_raw.tsv was changed" in capsys.readouterr().err


def test_run_of_another_version_is_not_counted(snapshot, tmp_path, capsys):
    assert solve(snapshot, tmp_path, "--baseline", "nop", "--repeats", "1") == 0
    path = tmp_path / "runs" / "7" / "nop" / "1" / "record.json"
    record = json.loads(path.read_text())
    now = record["scenario"]["digest"]
    assert solve(snapshot, tmp_path, "--baseline", "nop", "--repeats", "1") == 0
    record["scenario"]["digest"] = "f" * 64
    path.write_text(json.dumps(record))
    capsys.readouterr()
    assert solve(snapshot, tmp_path, "--baseline", "nop", "--repeats", "2") == 3
    err = " ".join(capsys.readouterr().err.split())
    assert "another version" in err
    assert "f" * 64 in err
    assert now in err
    assert "--runs" in err
    assert not path.parent.with_name("2").exists()
