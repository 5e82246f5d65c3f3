"""A person as a solver: the brief, a prompt with the incident's clock, and short commands for the tools."""

from __future__ import annotations

import shlex
from typing import Any, Final

import typer

from scenario_kit.cli.terminal.output import fold_text, make_printable
from scenario_kit.cli.terminal.terminal import style_text
from scenario_kit.solver.programs.drive import SolverGone
from scenario_kit.solver.protocol.messages import (
    CallMessage,
    EndMessage,
    EscalateMessage,
    KitMessage,
    NoteMessage,
    RefusalMessage,
    ResultMessage,
    SolverMessage,
    StageMessage,
    StartMessage,
    StopMessage,
    SubmitMessage,
)

HELP: Final = """\
kubectl …              one command; a manifest: kubectl apply -f - <<EOF, lines, EOF
alerts                 what is pending or firing
metrics QUERY          PromQL, now
services               services that have traces; calls: who calls whom
traces SERVICE         its newest traces; errors SERVICE: those that failed
logs {app="cart"}      lines of the last 15 minutes, |= "text" chooses some
wait SECONDS           lets time pass
note TEXT              a thought, for the record
submit NAME…           diagnosis: root causes as Kind/name; none: nothing is wrong. Mitigation: submit alone
escalate REASON        hand over to somebody else
quit                   stop"""


class BadInput(ValueError):
    """A line that means nothing; the text says why."""


def parse_input(line: str, stage: str, namespace: str) -> SolverMessage | None:
    """Parse what a person typed; None for what needs no message (help, an empty line).

    Raises:
        BadInput: it is none of the commands.
    """
    word, _, rest = line.strip().partition(" ")
    rest = rest.strip()
    simple = {"alerts": "get_alerts", "services": "get_services", "calls": "get_dependency_graph"}
    if word in simple:
        return CallMessage(tool=simple[word])
    match word:
        case "" | "help" | "?":
            return None
        case "kubectl" | "k":
            return CallMessage(tool="exec_kubectl_cmd_safely", arguments={"cmd": rest})
        case "metrics" | "logs":
            return CallMessage(tool=f"get_{word}", arguments={"query": rest})
        case "traces" | "errors":
            return CallMessage(tool="get_traces", arguments={"service": rest, "errors": word == "errors"})
        case "wait":
            return CallMessage(tool="wait", arguments={"seconds": _parse_seconds(rest)})
        case "note":
            return NoteMessage(text=rest)
        case "submit":
            return SubmitMessage(answer=_build_answer(rest, namespace) if stage == "diagnosis" else None)
        case "escalate":
            return EscalateMessage(reason=rest)
        case "quit" | "exit":
            return StopMessage(reason="the person stopped")
    raise BadInput(f"{word!r} is no command; help lists them")


def _parse_seconds(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise BadInput("wait takes a number of seconds, for example: wait 60") from None


def _build_answer(text: str, namespace: str) -> dict[str, Any]:
    try:
        names = shlex.split(text)
    except ValueError as error:
        raise BadInput(f"the quotes do not match: {error}") from error
    if wrong := [name for name in names if "/" not in name]:
        raise BadInput(f"{wrong[0]!r} has no kind: write Deployment/{wrong[0]}, Service/{wrong[0]} …")
    full = [name if name.count("/") > 1 else f"{namespace}/{name}" for name in names]
    entities = [{"name": name, "contributing_factor": True, "reasoning": "", "evidence": ""} for name in full]
    return {"entities": entities, "propagations": [], "alerts_explained": []}


class PersonSolver:
    """Asks at the terminal. Implements ``Solver``."""

    def __init__(self) -> None:
        self._stage, self._namespace = "diagnosis", ""
        self._now, self._left = "", 0

    def tell(self, message: KitMessage) -> None:
        """Show a message."""
        match message:
            case StartMessage():
                self._begin(message)
            case ResultMessage():
                self._now, self._left = message.now, message.turns_left
                typer.echo(make_printable(message.content))
            case StageMessage():
                self._now, self._left, self._stage = message.now, message.turns_left, message.stage
                _say("Your diagnosis is taken. Now repair the app, and submit; or quit.")
            case RefusalMessage():
                self._left = message.turns_left
                typer.echo(f"{message.problem}: {message.fix}")
            case EndMessage():
                _say(f"The run is over: {message.reason}. {message.message}".rstrip())

    def ask(self, patience: float | None) -> SolverMessage:
        """Read until a line means something."""
        del patience  # whoever sits here sees the clock; the next message finds the time over
        while True:
            try:
                line = _read(f"{self._now[11:19]} {self._stage}, {self._left} turns left> ")
                message = parse_input(line, self._stage, self._namespace)
            except EOFError:
                raise SolverGone("the terminal was closed") from None
            except BadInput as problem:
                typer.echo(str(problem))
                continue
            if message is not None:
                return message
            typer.echo(HELP)

    def close(self) -> None:
        """Nothing is held."""

    def _begin(self, start: StartMessage) -> None:
        self._namespace, self._now, self._left = start.namespaces[0], start.now, start.limits.turns
        self._stage = start.stages[0]
        _say(start.brief)
        typer.echo(f"Namespaces: {', '.join(start.namespaces)}. Every command costs {start.seconds_per_call:g} s.")
        typer.echo(HELP)


def _read(prompt: str) -> str:
    """Read a line, and with ``<<MARK`` in it the lines up to that mark."""
    line = input(prompt)
    if "<<" not in line:
        return line
    mark = line.rpartition("<<")[2].strip(" -'\"")
    lines = [line]
    while mark and lines[-1].strip() != mark:
        lines.append(input("> "))
    return "\n".join(lines)


def _say(text: str) -> None:
    typer.echo(style_text(fold_text(make_printable(text)), bold=True))
