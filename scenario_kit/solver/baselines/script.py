"""In-process solvers: generators that yield messages and are sent the answers."""

from __future__ import annotations

from collections.abc import Callable, Generator

from scenario_kit.solver.programs.drive import SolverGone, UnusableLine
from scenario_kit.solver.protocol.messages import KitMessage, SolverMessage, StartMessage

#: A scripted solver: takes the start message, yields messages, and is sent their answers.
Script = Callable[[StartMessage], Generator[SolverMessage, KitMessage, None]]


class ScriptedSolver:
    """Runs a script as a solver; the solver exits when the script ends."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._running: Generator[SolverMessage, KitMessage, None] | None = None
        self._answer: KitMessage | None = None

    def tell(self, message: KitMessage) -> None:
        """Send a message to the script."""
        if isinstance(message, StartMessage):
            self._running = self._script(message)
        else:
            self._answer = message

    def ask(self, patience: float | None) -> SolverMessage | UnusableLine:
        """Return the script's next message."""
        del patience  # a script answers immediately
        assert self._running is not None, "tell() the start message first"
        try:
            if self._answer is None:
                return next(self._running)
            return self._running.send(self._answer)
        except StopIteration:
            raise SolverGone("the script has ended") from None

    def close(self) -> None:
        """End the script."""
        if self._running is not None:
            self._running.close()
