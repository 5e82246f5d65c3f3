"""Hostile programs: whatever they print or leave unread, the run ends, and what is kept has a limit."""

import os
import sys

import pytest

from scenario_kit.solver.programs import error_output, process
from scenario_kit.solver.programs.drive import drive
from scenario_kit.solver.programs.process import ProgramSolver
from scenario_kit.solver.session import SessionLimits

CALL = '{"type": "call", "tool": "exec_kubectl_cmd_safely", "arguments": {"cmd": "get pods"}}'
BRIEF = SessionLimits(turns=100_000, wall_seconds=1.0)


@pytest.fixture
def run(investigate, tmp_path, monkeypatch):
    """Run a program of Python against an investigation without a cluster; it is killed soon after its end."""
    monkeypatch.setattr(process, "_GRACE_SECONDS", 0.5)

    def solve(text, limits):
        investigation = investigate(limits=limits, wall=lambda: 5000.0)
        environment = {"PATH": os.environ["PATH"]}
        drive(
            investigation, ProgramSolver([sys.executable, "-c", text], environment, tmp_path, tmp_path / "solver.err")
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
