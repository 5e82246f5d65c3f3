"""The standard error of a program, copied to a file of limited size."""

from __future__ import annotations

import contextlib
import threading
from pathlib import Path
from typing import IO, Final

#: Maximum size of the file in bytes; what a program writes beyond it is dropped.
LONGEST_ERRORS: Final = 8 << 20
_TAIL: Final = 500
_CHUNK: Final = 64 * 1024


class ErrorOutput:
    """Copies a stream to a file in a thread, and keeps the end of it."""

    def __init__(self, stream: IO[bytes], path: Path) -> None:
        self._stream, self._path = stream, path
        self._tail = b""
        self._thread = threading.Thread(target=self._copy, daemon=True)
        self._thread.start()

    def read_tail(self, patience: float) -> str:
        """Return the end of what was written, after waiting for the end of the stream."""
        self._thread.join(patience)
        return self._tail.decode(errors="replace").strip()

    def _copy(self) -> None:
        room = LONGEST_ERRORS
        with contextlib.suppress(OSError, ValueError), self._path.open("wb") as file:
            while part := self._stream.read1(_CHUNK):  # type: ignore[attr-defined]  # it is buffered
                file.write(part[:room])
                file.flush()
                room -= min(room, len(part))
                self._tail = (self._tail + part)[-_TAIL:]
