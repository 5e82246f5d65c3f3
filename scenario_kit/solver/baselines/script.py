"""A solver inside this process: a generator that yields messages and is sent what they are answered."""

from __future__ import annotations

from collections.abc import Callable, Generator

from scenario_kit.solver.programs.drive import SolverGone, UnusableLine
from scenario_kit.solver.protocol.messages import KitMessage, SolverMessage, StartMessage

#: What a scripted solver does: it gets the first message and the answers to its own, and yields messages.
Script = Callable[[StartMessage], Generator[SolverMessage, KitMessage, None]]


class ScriptedSolver:
    """Runs a script. One that ends has nothing more to say."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._running: Generator[SolverMessage, KitMessage, None] | None = None
        self._answer: KitMessage | None = None

    def tell(self, message: KitMessage) -> None:
        """Give the script a message."""
        if isinstance(message, StartMessage):
            self._running = self._script(message)
        else:
            self._answer = message

    def ask(self, patience: float | None) -> SolverMessage | UnusableLine:
        """Return the script's next message."""
        del patience  # it says something at once
        assert self._running is not None, "a script begins with the first message"
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
