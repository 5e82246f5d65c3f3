"""Interactive solver: brief, prompt with the incident's clock, and short commands for the tools."""

from __future__ import annotations

import shlex
from typing import Any, Final

import typer

from scenario_kit.cli.terminal.output import make_printable, show_title
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
    build_answer,
)

HELP: Final = """\
kubectl …              one command; a manifest: kubectl apply -f - <<EOF, lines, EOF
alerts                 pending and firing alerts
metrics QUERY          PromQL, now
services               services with traces; calls: the dependency graph
traces SERVICE         newest traces of a service; errors SERVICE: failed ones only
logs {app="cart"}      lines of the last 15 minutes; filter with |= "text"
wait SECONDS           let time pass
note TEXT              add a note to the record
submit NAME…           diagnosis: root causes as Kind/name; no names: nothing is wrong. Mitigation: submit without names
escalate NAME REASON   hand over to the owners of Kind/name, and say why; submit first what you know
quit                   stop"""


class BadInput(ValueError):
    """An invalid input line."""


def parse_input(line: str, stage: str, namespace: str) -> SolverMessage | None:
    """Parse an input line; None for help and empty lines.

    Raises:
        BadInput: not a command, or invalid arguments.
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
            return SubmitMessage(answer=_parse_answer(rest, namespace) if stage == "diagnosis" else None)
        case "escalate":
            return _build_escalation(rest, namespace)
        case "quit" | "exit":
            return StopMessage(reason="the person stopped")
    raise BadInput(f"unknown command {word!r}; type help")


def _parse_seconds(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise BadInput("wait takes a number of seconds, for example: wait 60") from None


def _build_escalation(text: str, namespace: str) -> EscalateMessage:
    """Build an escalation; the first word is an addressee if it has a kind."""
    first, _, rest = text.partition(" ")
    if "/" not in first:
        return EscalateMessage(reason=text)
    if not rest.strip():
        raise BadInput(f"say why the owners of {first} have to take over: escalate {first} REASON")
    return EscalateMessage(to=_complete_name(first, namespace), reason=rest.strip())


def _complete_name(name: str, namespace: str) -> str:
    return name if name.count("/") > 1 else f"{namespace}/{name}"


def _parse_answer(text: str, namespace: str) -> dict[str, Any]:
    try:
        names = shlex.split(text)
    except ValueError as error:
        raise BadInput(f"unbalanced quotes: {error}") from error
    if wrong := [name for name in names if "/" not in name]:
        raise BadInput(f"{wrong[0]!r} has no kind: write Deployment/{wrong[0]}, Service/{wrong[0]} …")
    return build_answer(_complete_name(name, namespace) for name in names)


class PersonSolver:
    """Prompts at the terminal. Implements ``Solver``."""

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
                show_title("Diagnosis accepted. Now repair the app and submit, or quit.")
            case RefusalMessage():
                self._left = message.turns_left
                typer.echo(f"{message.problem}: {message.fix}")
            case EndMessage():
                show_title(f"The run is over: {message.reason}. {message.message}".rstrip())

    def ask(self, patience: float | None) -> SolverMessage:
        """Prompt until the input is valid."""
        del patience  # the prompt shows the clock; the next message ends a run that is over time
        while True:
            try:
                line = _read(f"{self._now[11:19]} {self._stage}, {self._left} turns left> ")
                message = parse_input(line, self._stage, self._namespace)
            except EOFError:
                raise SolverGone("the terminal was closed") from None
            except BadInput as error:
                typer.echo(str(error))
                continue
            if message is not None:
                return message
            typer.echo(HELP)

    def close(self) -> None:
        """Do nothing: there is nothing to release."""

    def _begin(self, start: StartMessage) -> None:
        self._namespace, self._now, self._left = start.namespaces[0], start.now, start.limits.turns
        self._stage = start.stages[0]
        show_title(start.brief)
        typer.echo(f"Namespaces: {', '.join(start.namespaces)}. Each command takes {start.seconds_per_call:g} s.")
        typer.echo(HELP)


def _read(prompt: str) -> str:
    """Read a line; after ``<<MARK``, also the following lines up to the mark."""
    line = input(prompt)
    if "<<" not in line:
        return line
    mark = line.rpartition("<<")[2].strip(" -'\"")
    lines = [line]
    while mark and lines[-1].strip() != mark:
        lines.append(input("> "))
    return "\n".join(lines)
