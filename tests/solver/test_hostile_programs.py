"""Hostile programs: whatever they print or leave unread, the run ends, and what is kept has a limit."""

import os
import sys

import pytest

from scenario_kit.solver.programs import error_output, process
from scenario_kit.solver.programs.drive import drive
from scenario_kit.solver.programs.limits import DEFAULT_LIMITS, ProgramLimits
from scenario_kit.solver.programs.process import ProgramSolver
from scenario_kit.solver.session import SessionLimits

CALL = '{"type": "call", "tool": "exec_kubectl_cmd_safely", "arguments": {"cmd": "get pods"}}'
BRIEF = SessionLimits(turns=100_000, wall_seconds=1.0)


@pytest.fixture
def run(investigate, tmp_path, monkeypatch):
    """Run a program of Python against an investigation without a cluster; it is killed soon after its end."""
    monkeypatch.setattr(process, "_GRACE_SECONDS", 0.5)

    def solve(text, limits, allowed=DEFAULT_LIMITS):
        investigation = investigate(limits=limits, wall=lambda: 5000.0)
        environment = {"PATH": os.environ["PATH"]}
        drive(
            investigation,
            ProgramSolver([sys.executable, "-c", text], environment, tmp_path, tmp_path / "solver.err", allowed),
        )
        return investigation.state

    return solve


@pytest.mark.parametrize(
    ("text", "end"),
    [
        (f"while True: print('{CALL}', flush=True)", "timeout"),
        ("while True: print()", "timeout"),
        ("import time\nwhile True: print(flush=True); time.sleep(.01)", "timeout"),
        (f"import os, time; os.close(0)\nfor _ in range(9): print('{CALL}', flush=True)\ntime.sleep(60)", "error"),
        ("import os, time; os.close(1); time.sleep(60)", "error"),
    ],
)
def test_program_that_neither_reads_nor_speaks_is_ended(run, text, end):
    state = run(text, BRIEF)
    assert (state.end, state.answered) == (end, False)


@pytest.mark.parametrize(
    "text",
    [
        "import sys\nwhile True: sys.stdout.buffer.write(bytes(range(256)) * 1000)",
        "print('[' * 4_000_000)\nwhile True: print('x')",
        """while True: print('{"type": "note", "text": "' + 'x' * 100_000 + '"}')""",
        """while True: print('{"type": "usage", "tokens": {"input": ' + '9' * 4000 + '}}')""",
    ],
)
def test_babbling_program_uses_up_its_turns(run, text):
    state = run(text, SessionLimits(turns=3))
    assert (state.end, state.answered) == ("cap", False)


def test_notes_are_shortened(run, tmp_path):
    run("""print('{"type": "note", "text": "' + 'x' * 1_000_000 + '"}')""", SessionLimits(turns=3))
    assert "characters left out" in (tmp_path / "journal-0.jsonl").read_text()
    assert (tmp_path / "journal-0.jsonl").stat().st_size < 100_000


def test_standard_error_has_a_limit_and_its_end_is_shown(run, tmp_path, monkeypatch):
    monkeypatch.setattr(error_output, "LONGEST_ERRORS", 1000)
    state = run("import sys; sys.stderr.write('x' * 1_000_000 + 'the last words'); sys.exit(3)", SessionLimits())
    assert (tmp_path / "solver.err").stat().st_size == 1000
    assert state.reason.endswith("the last words")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of processes are those of Linux")
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("bytearray(10 << 30)", "MemoryError"),
        ("import os, time\nwhile True:\n    if not os.fork(): time.sleep(600)", "more than 60 (--solver-processes)"),
        (
            "import os, time\nwhile True:\n    if not os.fork(): os.setsid(); time.sleep(600)",
            "more than 60 (--solver-processes)",
        ),
        (
            "import os, time\nfor _ in range(4):\n    if not os.fork(): x = b'x' * (100 << 20); time.sleep(600)\n"
            "time.sleep(600)",
            "more than 256 (--solver-memory)",
        ),
        ("import os\nkept = [os.open('/', os.O_RDONLY) for _ in range(100)]", "Too many open files"),
        ("open('big', 'wb').write(bytes(2 << 20))", "File too large"),
    ],
    ids=["memory", "processes", "processes in sessions of their own", "memory of all", "open files", "file size"],
)
def test_program_beyond_its_limits_ends_as_a_fault_of_its_own(run, text, says):
    allowed = ProgramLimits(memory=256, processes=60, open_files=80, file_size=1)
    state = run(text, SessionLimits(wall_seconds=60.0), allowed)
    assert (state.end, state.answered) == ("error", False)
    assert says in state.reason


def test_program_within_its_limits_is_left_alone(run):
    text = """
import json, os, resource, sys, time
sys.stdin.readline()
assert resource.getrlimit(resource.RLIMIT_CORE) == (0, 0)
assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] <= 4096
for _ in range(9):
    if not os.fork():
        time.sleep(0.5)
        os._exit(0)
for _ in range(9):
    os.wait()
print(json.dumps({"type": "stop", "reason": "done"}), flush=True)
sys.stdin.readline()
"""
    state = run(text, SessionLimits())
    assert state.reason == "done"
