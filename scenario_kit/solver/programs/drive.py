"""A solver and an investigation, one message after the other."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from scenario_kit.solver.investigation import Investigation
from scenario_kit.solver.protocol.lines import BadLine
from scenario_kit.solver.protocol.messages import KitMessage, SolverMessage


class UnusableLine(NamedTuple):
    """A line that is no message."""

    line: bytes
    problem: BadLine


class SolverGone(Exception):
    """The solver has ended; the text says how."""


class SolverSilent(Exception):
    """The solver said nothing for as long as it may."""


class Solver(Protocol):
    """Whoever solves."""

    def tell(self, message: KitMessage) -> None:
        """Give the solver a message.

        Raises:
            SolverGone: it does not read any more.
        """

    def ask(self, patience: float | None) -> SolverMessage | UnusableLine:
        """Return its next message; ``patience`` are wall seconds.

        Raises:
            SolverGone: it has ended.
            SolverSilent: it says nothing.
        """

    def close(self) -> None:
        """End it, if it has not."""


def drive(investigation: Investigation, solver: Solver) -> None:
    """Let a solver work until the run is over. One that crashes has ended its run, with what it had answered before.

    Raises:
        InfrastructureError: what the incident rests on is not well; the run says nothing about the solver.
    """
    try:
        solver.tell(investigation.start())
        while not investigation.over:
            said = solver.ask(investigation.patience)
            if isinstance(said, UnusableLine):
                answer = investigation.refuse(said.line, said.problem)
            else:
                answer = investigation.handle(said)
            if answer is not None:
                solver.tell(answer)
    except SolverSilent as silence:
        investigation.expire(str(silence))
    except SolverGone as gone:
        investigation.lose(str(gone))
    finally:
        solver.close()
