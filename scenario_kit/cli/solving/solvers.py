"""Choice of solver: a program, a person, an MCP client, a baseline, or one of the two that check the scoring."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from scenario_kit.catalog import find_data_root
from scenario_kit.cli.solving.folders import ERRORS, WORK, name_solver
from scenario_kit.cli.solving.incidents import PlayedIncident
from scenario_kit.cli.solving.person import PersonSolver
from scenario_kit.errors import UsageError
from scenario_kit.lab.host.state import find_home
from scenario_kit.solver.baselines.catalogue import BASELINES
from scenario_kit.solver.baselines.script import Script, ScriptedSolver
from scenario_kit.solver.programs.drive import Solver
from scenario_kit.solver.programs.isolation import (
    Isolation,
    SolverView,
    choose_environment,
    choose_isolation,
    wrap_command,
)
from scenario_kit.solver.programs.limits import ProgramLimits
from scenario_kit.solver.programs.mcp_bridge import CallBridge
from scenario_kit.solver.programs.process import ProgramSolver
from scenario_kit.solver.protocol.messages import (
    CallMessage,
    KitMessage,
    SolverMessage,
    StartMessage,
    StopMessage,
    SubmitMessage,
    build_answer,
)

#: The environment variable with the path of the snapshot.
SNAPSHOT_VARIABLE: Final = "SNAPSHOT"
_APART = Isolation("full", "the solver is built in and only uses protocol messages")
_KNOWING = Isolation("none", "the oracle reads the ground truth")


class SolverChoice(NamedTuple):
    """A solver: its name, its isolation, and the function that starts it for an incident in a folder.

    With ``counts_on``, each invocation of the command adds one run.
    """

    name: str
    isolation: Isolation
    start: Callable[[PlayedIncident, Path], Solver]
    counts_on: bool = False


def choose_program(
    command: str, label: str, mode: str, passed: Sequence[str], runs: Path, limits: ProgramLimits
) -> SolverChoice:
    """Choose a program as solver.

    Raises:
        UsageError: an invalid command line, a program that does not exist, or an isolation that this machine does not
            support.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"--solver {command!r}: {error}", fix="close every quote") from error
    if not words:
        raise UsageError("--solver is empty", fix="--solver 'python my_solver.py'")
    if shutil.which(words[0]) is None:
        fix = f"--baseline {words[0]}" if words[0] in BASELINES else "give its path, or put it on PATH"
        raise UsageError(f"--solver: there is no program {words[0]!r}", fix=fix)
    isolation = choose_isolation(mode)  # type: ignore[arg-type]  # it is one of the choices
    if isolation is None:
        raise UsageError(
            f"--isolation {mode} is not supported on this machine",
            fix="run as root, install util-linux, or --isolation none",
        )
    missing = [name for name in passed if name not in os.environ]
    if missing:
        raise UsageError(
            f"variables of --pass-env are not set: {', '.join(missing)}", fix="set them, or remove the option"
        )

    def start(played: PlayedIncident, folder: Path) -> Solver:
        home = (folder / WORK).resolve()
        readable = (played.readable,) if played.readable is not None else ()
        view = SolverView(home, (*_list_hidden(runs), *played.hidden), readable)
        line = wrap_command(words, isolation, view)
        environment = choose_environment(os.environ, passed, home)
        if played.readable is not None:
            environment[SNAPSHOT_VARIABLE] = str(played.readable)
        return ProgramSolver(line, environment, home, folder / ERRORS, limits)

    return SolverChoice(name_solver(label, words), isolation, start)


def _list_hidden(runs: Path) -> list[Path]:
    """List the folders hidden from solvers: labs with their credentials, ground truths, other runs."""
    root = find_data_root()
    candidates = [find_home(), root / "catalog", root / "tests", root / ".git", runs.resolve(), Path.home() / ".kube"]
    return [folder for folder in candidates if folder.is_dir()]


def choose_person(label: str) -> SolverChoice:
    """Choose the user at the terminal as solver.

    Raises:
        UsageError: there is no terminal.
    """
    if not sys.stdin.isatty():
        raise UsageError("--human requires a terminal", fix="pass a program with --solver")
    apart = Isolation("none", "the solver is a person at this machine")
    return SolverChoice(name_solver(label or "human", ()), apart, lambda *_: PersonSolver(), counts_on=True)


def choose_callers(bridge: CallBridge, label: str) -> SolverChoice:
    """Choose the client of an MCP server as solver."""
    apart = Isolation("none", "the solver is an MCP client that runs elsewhere")
    return SolverChoice(name_solver(label, ()), apart, lambda *_: bridge, counts_on=True)


def choose_baseline(name: str) -> SolverChoice:
    """Choose a built-in solver.

    Raises:
        UsageError: unknown baseline.
    """
    if name == "oracle":
        return SolverChoice(name, _KNOWING, lambda played, _folder: ScriptedSolver(_build_oracle(played)))
    if name == "nop":
        return SolverChoice(name, _APART, lambda _played, _folder: ScriptedSolver(_do_nothing))
    if name not in BASELINES:
        raise UsageError(f"unknown baseline {name!r}", fix=f"one of: {', '.join((*BASELINES, 'oracle', 'nop'))}")
    return SolverChoice(name, _APART, lambda _played, _folder: ScriptedSolver(BASELINES[name].script))


def _do_nothing(_: StartMessage) -> Generator[SolverMessage, KitMessage, None]:
    """Stop at once; doing nothing must score nothing."""
    yield StopMessage(reason="nothing was done")


def _build_oracle(played: PlayedIncident) -> Script:
    """Build a script that submits the ground truth and applies the documented solution."""

    def solve(start: StartMessage) -> Generator[SolverMessage, KitMessage, None]:
        yield SubmitMessage(answer=build_answer(played.roots))
        if "mitigation" in start.stages:
            played.incident.repair()
            yield CallMessage(tool="wait", arguments={"seconds": 60})
            yield SubmitMessage()

    return solve
