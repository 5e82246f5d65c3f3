"""Programs as solvers: real processes that crash, hang, babble, and are kept apart."""

import os
import sys
from pathlib import Path

import pytest

from scenario_kit.errors import UsageError
from scenario_kit.solver.programs.drive import drive
from scenario_kit.solver.programs.isolation import (
    Isolation,
    SolverView,
    can_isolate,
    choose_environment,
    choose_isolation,
    wrap_command,
)
from scenario_kit.solver.programs.process import ProgramSolver
from scenario_kit.solver.session import SessionLimits

GOOD = """
import json, sys
def say(**message): print(json.dumps(message), flush=True)
def hear(): return json.loads(sys.stdin.readline())
start = hear()
say(type="note", text="thinking")
say(type="call", tool="get_alerts", id="1")
assert hear()["id"] == "1"
say(type="submit", answer={"entities": [], "propagations": [], "alerts_explained": []})
assert hear()["stage"] == "mitigation"
say(type="submit")
assert hear()["type"] == "end"
"""


@pytest.fixture
def run(investigate, tmp_path):
    """Run a program of Python against an investigation without a cluster."""

    def solve(text, **given):
        investigation = investigate(**given)
        environment = {"PATH": os.environ["PATH"]}
        errors = tmp_path / "solver.err"
        drive(investigation, ProgramSolver([sys.executable, "-c", text], environment, tmp_path, errors))
        return investigation.state

    return solve


def test_program_solves(run):
    state = run(GOOD)
    assert (state.end, state.turns, state.answered) == ("finish", 3, True)


@pytest.mark.parametrize(
    ("text", "end", "reason"),
    [
        ("import sys; sys.exit(3)", "error", "exit code 3"),
        ("1/0", "error", "ZeroDivisionError"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "error", "signal 9"),
        ("", "error", "exit code 0"),
        ("while True: print('I think it is the cart')", "cap", "turns"),
        ("import sys; sys.stdout.write('x' * (5 << 20))", "error", "exit code 0"),
        (GOOD.split("say(type=\"submit\", answer")[0], "error", "exit code 0"),
    ],
)  # fmt: skip
def test_failed_program_has_no_answer(run, text, end, reason):
    state = run(text, limits=SessionLimits(turns=5))
    assert (state.end, state.answered) == (end, False)
    assert reason in state.reason


def test_program_crashing_after_its_answer_keeps_it(run):
    state = run(GOOD.split('say(type="submit")')[0])
    assert (state.end, state.answered) == ("error", True)


def test_silent_program_times_out(run, tmp_path):
    text = f"import os, time; open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid())); time.sleep(600)"
    state = run(text, limits=SessionLimits(wall_seconds=1.0), wall=lambda: 5000.0)
    assert state.end == "timeout"
    assert not Path(f"/proc/{(tmp_path / 'pid').read_text()}").exists()


@pytest.mark.parametrize("command", [["/nonexistent/program"], ["no-such-program-here"]])
def test_missing_program_is_a_usage_error(command, tmp_path):
    with pytest.raises(UsageError, match="there is no program"):
        ProgramSolver(command, {"PATH": os.environ["PATH"]}, tmp_path, tmp_path / "err")


def test_environment_has_named_variables_only():
    given = {"PATH": "/bin", "SECRET": "s", "KEY": "k", "KUBECONFIG": "x"}
    assert choose_environment(given, ["KEY"], Path("/w")) == {"PATH": "/bin", "KEY": "k", "HOME": "/w"}


def test_unavailable_isolation_is_reported(monkeypatch):
    from scenario_kit.solver.programs import isolation

    monkeypatch.setattr(isolation, "can_isolate", lambda: False)
    assert choose_isolation("full") is None
    assert choose_isolation("network") is None
    found = choose_isolation("auto")
    assert found is not None
    assert (found.mode, "can read what you can" in found.message) == ("none", True)


@pytest.mark.skipif(not can_isolate(), reason="this machine gives no namespaces: unshare is missing or refused")
def test_isolated_program_cannot_read_files_or_network(tmp_path):
    secret, home = tmp_path / "lab", tmp_path / "lab" / "runs" / "work"
    home.mkdir(parents=True)
    (secret / "truth").write_text("cart")
    look = f"""
import os, socket
print(os.listdir({str(secret)!r}), os.getcwd())
open("note", "w").write("x")
print(os.system("umount {secret} 2>/dev/null") != 0, len([p for p in os.listdir("/proc") if p.isdigit()]) < 4)
try: socket.create_connection(("127.0.0.1", 1), timeout=1)
except OSError as error: print(error.strerror)
"""
    line = wrap_command([sys.executable, "-c", look], Isolation("full", ""), SolverView(home, (secret,)))
    import subprocess

    done = subprocess.run(line, capture_output=True, text=True, timeout=30, check=False)
    assert done.stderr == ""
    assert done.stdout.splitlines() == [f"['runs'] {home}", "True True", "Network is unreachable"]
    assert (home / "note").exists(), "its own folder is its own"
