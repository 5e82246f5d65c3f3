"""The message loop between a solver and an investigation."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from scenario_kit.solver.investigation import Investigation
from scenario_kit.solver.protocol.lines import BadLine
from scenario_kit.solver.protocol.messages import KitMessage, SolverMessage


class UnusableLine(NamedTuple):
    """A line that is not a message."""

    line: bytes
    problem: BadLine


class SolverGone(Exception):
    """The solver exited; the message has the exit status."""


class SolverSilent(Exception):
    """The solver timed out."""


class Solver(Protocol):
    """A solver: a program, a script or an MCP client."""

    def tell(self, message: KitMessage) -> None:
        """Send the solver a message.

        Raises:
            SolverGone: it has exited.
        """

    def ask(self, patience: float | None) -> SolverMessage | UnusableLine:
        """Return the solver's next message; ``patience`` is the timeout in wall seconds.

        Raises:
            SolverGone: it has exited.
            SolverSilent: it timed out.
        """

    def close(self) -> None:
        """Stop the solver."""


def drive(investigation: Investigation, solver: Solver) -> None:
    """Exchange messages until the run is over. A crash of the solver ends the run; earlier answers count.

    Raises:
        InfrastructureError: the incident's infrastructure failed; the run does not count for the solver.
    """
    try:
        solver.tell(investigation.start())
        while not investigation.over:
            message = solver.ask(investigation.patience)
            if isinstance(message, UnusableLine):
                reply = investigation.refuse(message.line, message.problem)
            else:
                reply = investigation.handle(message)
            if reply is not None:
                solver.tell(reply)
    except SolverSilent as silence:
        investigation.expire(str(silence))
    except SolverGone as gone:
        investigation.lose(str(gone))
    finally:
        solver.close()
