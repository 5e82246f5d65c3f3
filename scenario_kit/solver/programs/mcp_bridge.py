"""Between a server that is called at any time and a run that takes one message after the other."""

from __future__ import annotations

import queue
import threading
from typing import Final

from scenario_kit.solver.programs.drive import SolverGone, SolverSilent, UnusableLine
from scenario_kit.solver.protocol.messages import EndMessage, KitMessage, SolverMessage, StartMessage

#: Wall seconds between two looks whether the run is still on.
_LOOK: Final = 0.2


class CallBridge:
    """Implements ``Solver`` for callers in other threads. Calls wait for the hand-over, and for each other."""

    def __init__(self) -> None:
        self._asked: queue.Queue[SolverMessage | None] = queue.Queue()
        self._answers: queue.Queue[KitMessage] = queue.Queue()
        self._turn = threading.Lock()
        self._handed_over = threading.Event()
        self._over = threading.Event()
        self._start: StartMessage | None = None
        self._end = EndMessage(reason="error", message="the run has ended")

    def wait_start(self) -> StartMessage | EndMessage:
        """Return the first message, once the incident is handed over."""
        while not self._handed_over.wait(_LOOK):
            if self._over.is_set():
                return self._end
        return self._start or self._end

    def request(self, message: SolverMessage) -> KitMessage:
        """Say something as the solver, and return what it is answered."""
        with self._turn:
            if isinstance(self.wait_start(), EndMessage):
                return self._end
            if self._over.is_set():
                return self._end
            self._asked.put(message)
            while True:
                try:
                    return self._answers.get(timeout=_LOOK)
                except queue.Empty:
                    if self._over.is_set() and self._answers.empty():
                        return self._end

    def hang_up(self) -> None:
        """Tell the run that nobody calls any more."""
        self._asked.put(None)

    def fail(self, because: str) -> None:
        """Tell callers that there is no run: what it rests on has failed."""
        self._end = EndMessage(reason="error", message=because)
        self._over.set()

    def tell(self, message: KitMessage) -> None:
        """Give the solver a message."""
        if isinstance(message, StartMessage):
            self._start = message
            self._handed_over.set()
            return
        if isinstance(message, EndMessage):
            self._end = message
        self._answers.put(message)

    def ask(self, patience: float | None) -> SolverMessage | UnusableLine:
        """Return the next call."""
        try:
            message = self._asked.get(timeout=patience)
        except queue.Empty:
            raise SolverSilent("the solver said nothing until its time was over") from None
        if message is None:
            raise SolverGone("the solver closed the connection")
        return message

    def close(self) -> None:
        """Let callers know that it is over."""
        self._over.set()
