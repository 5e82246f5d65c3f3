"""Supervised threads: if one dies, the process ends, which the lab's health checks detect."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

_LOG = logging.getLogger(__name__)


class Threads:
    """Start threads that run until ``stop`` is set. ``failure`` names the first thread that died, and why.

    ``on_stop`` is called after a failure has set ``stop``, for other blocking waits.
    """

    def __init__(self) -> None:
        self.stop = threading.Event()
        self.on_stop: Callable[[], None] = lambda: None
        self._lock = threading.Lock()
        self._failure = ""

    @property
    def failure(self) -> str:
        """The first failure; empty if none."""
        with self._lock:
            return self._failure

    def spawn(self, name: str, main: Callable[[], None]) -> None:
        """Start a thread."""
        threading.Thread(target=self._run, args=(name, main), name=name, daemon=True).start()

    def _run(self, name: str, main: Callable[[], None]) -> None:
        try:
            main()
            problem = "returned"
        except Exception as error:  # noqa: BLE001 - nothing above could: the process ends because of it
            problem = f"{type(error).__name__}: {error}"
            if not self.stop.is_set():
                _LOG.exception("thread %s failed", name)
        if not self.stop.is_set():
            with self._lock:
                self._failure = self._failure or f"thread {name}: {problem}"
            _LOG.critical("thread %s died (%s); the lab server exits", name, problem)
            self.stop.set()
            self.on_stop()
