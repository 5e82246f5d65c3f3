"""Bridge between the concurrent calls of an MCP server and the sequential messages of a run."""

from __future__ import annotations

import queue
import threading
from typing import Final

from scenario_kit.solver.programs.drive import SolverGone, SolverSilent, UnusableLine
from scenario_kit.solver.protocol.messages import EndMessage, KitMessage, SolverMessage, StartMessage

#: Polling interval for the end of the run, in wall seconds.
_POLL_SECONDS: Final = 0.2


class CallBridge:
    """Implements ``Solver`` for callers in other threads. Calls wait for the hand-over and are serialized."""

    def __init__(self) -> None:
        self._asked: queue.Queue[SolverMessage | None] = queue.Queue()
        self._answers: queue.Queue[KitMessage] = queue.Queue()
        self._turn = threading.Lock()
        self._handed_over = threading.Event()
        self._over = threading.Event()
        self._start: StartMessage | None = None
        self._end = EndMessage(reason="error", message="the run has ended")

    def wait_start(self) -> StartMessage | EndMessage:
        """Wait for the hand-over and return the start message."""
        while not self._handed_over.wait(_POLL_SECONDS):
            if self._over.is_set():
                return self._end
        return self._start or self._end

    def request(self, message: SolverMessage) -> KitMessage:
        """Send a message as the solver and return its answer."""
        with self._turn:
            if isinstance(self.wait_start(), EndMessage):
                return self._end
            if self._over.is_set():
                return self._end
            self._asked.put(message)
            while True:
                try:
                    return self._answers.get(timeout=_POLL_SECONDS)
                except queue.Empty:
                    if self._over.is_set() and self._answers.empty():
                        return self._end

    def hang_up(self) -> None:
        """Signal that the client has disconnected."""
        self._asked.put(None)

    def fail(self, because: str) -> None:
        """End all calls with an error, because the infrastructure failed."""
        self._end = EndMessage(reason="error", message=because)
        self._over.set()

    def tell(self, message: KitMessage) -> None:
        """Pass a message to the waiting caller."""
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
            raise SolverSilent("the solver sent no message before the timeout") from None
        if message is None:
            raise SolverGone("the solver closed the connection")
        return message

    def close(self) -> None:
        """Signal callers that the run is over."""
        self._over.set()
