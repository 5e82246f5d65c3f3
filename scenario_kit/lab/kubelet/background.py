"""Writes that nobody waits for: events and log objects, in order, in one thread."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable

_LOG = logging.getLogger(__name__)


class Background:
    """A queue of calls. What a call raises is raised to whoever comes next."""

    def __init__(self, name: str) -> None:
        self._queue: queue.Queue[Callable[[], None] | None] = queue.Queue()
        self._failure: Exception | None = None
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    def put(self, call: Callable[[], None]) -> None:
        """Queue a call."""
        self._queue.put(call)

    def flush(self) -> None:
        """Wait until everything queued is done, then ``check``."""
        self._queue.join()
        self.check()

    def check(self) -> None:
        """Raise what a call raised since the last check."""
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    def close(self) -> None:
        """Finish what is queued and end the thread."""
        self._queue.put(None)
        self._thread.join()

    def _work(self) -> None:
        while (call := self._queue.get()) is not None:
            try:
                call()
            except Exception as error:  # noqa: BLE001 - raised to the next caller; the thread serves all pods
                _LOG.exception("the kubelet could not write an event or a log object")
                self._failure = error
            finally:
                self._queue.task_done()
        self._queue.task_done()
