"""Asynchronous writes: events and log objects, in order within a namespace."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

_LOG = logging.getLogger(__name__)
#: A write to a deleted namespace takes the API server twenty times as long; other namespaces must not wait for it.
_WORKERS = 4


class KeyedWriteQueue:
    """A queue of calls, sequential per key, concurrent and fair between keys.

    An exception in a call is re-raised by the next ``check`` or ``flush`` of its key.
    """

    def __init__(self, name: str) -> None:
        self._pool = ThreadPoolExecutor(_WORKERS, thread_name_prefix=name)
        self._changed = threading.Condition()
        self._queues: dict[str, deque[Callable[[], None]]] = {}  # the first call of each is running or about to
        self._failures: dict[str, Exception] = {}

    def put(self, key: str, call: Callable[[], None]) -> None:
        """Queue a call."""
        with self._changed:
            queue = self._queues.setdefault(key, deque())
            queue.append(call)
            if len(queue) == 1:
                self._pool.submit(self._work, key)

    def flush(self, key: str | None = None, seconds: float | None = None) -> bool:
        """Wait until the queue of a key (None: all keys) is empty; return False on timeout.

        Raises:
            Exception: raised by a call; see ``check``.
        """
        with self._changed:
            done = self._changed.wait_for(lambda: not self._queues if key is None else key not in self._queues, seconds)
        for each in list(self._failures) if key is None else [key]:
            self.check(each)
        return done

    def check(self, key: str) -> None:
        """Raise the exception of a call for the key since the last check."""
        failure = self._failures.pop(key, None)
        if failure is not None:
            raise failure

    def drop(self, key: str) -> None:
        """Discard queued calls and failures of a key."""
        with self._changed:
            self._failures.pop(key, None)
            queue = self._queues.get(key)
            while queue and len(queue) > 1:
                queue.pop()

    def close(self) -> None:
        """Finish queued calls and stop the threads."""
        with self._changed:
            self._changed.wait_for(lambda: not self._queues)
        self._pool.shutdown()

    def _work(self, key: str) -> None:
        with self._changed:
            call = self._queues[key][0]
        try:
            call()
        except Exception as error:  # noqa: BLE001 - raised to the next caller; the threads serve all pods
            _LOG.exception("cannot write an event or a log object")
            self._failures[key] = error
        with self._changed:
            queue = self._queues[key]
            queue.popleft()
            if queue:
                self._pool.submit(self._work, key)
            else:
                del self._queues[key]
                self._changed.notify_all()
