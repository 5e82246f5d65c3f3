"""Reads container logs from files in CRI format, as a kubelet serves them.

Options: https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#get-read-log-of-the-specified-pod.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import parse_qs

from scenario_kit.lab.kubelet.pod import times
from scenario_kit.model.kubernetes.timestamp import parse_timestamp

_TRUE: Final = ("true", "1")


class LogOptions(NamedTuple):
    """Options of a request for a log; ``since`` in seconds since the epoch, ``tail`` in lines, ``limit`` in bytes."""

    follow: bool = False
    previous: bool = False
    timestamps: bool = False
    since: float | None = None
    tail: int | None = None
    limit: int | None = None


def parse_log_options(query: str, now: float) -> LogOptions:
    """Parse a query string; ``sinceSeconds`` counts back from ``now``.

    Raises:
        ValueError: an option has no valid value.
    """
    given = {key: values[-1] for key, values in parse_qs(query).items()}
    since = None
    if "sinceSeconds" in given:
        since = now - _parse_count("sinceSeconds", given["sinceSeconds"])
    elif "sinceTime" in given:
        since = parse_timestamp(given["sinceTime"])
    return LogOptions(
        follow=given.get("follow") in _TRUE,
        previous=given.get("previous") in _TRUE,
        timestamps=given.get("timestamps") in _TRUE,
        since=since,
        tail=_parse_count("tailLines", given["tailLines"]) if "tailLines" in given else None,
        limit=_parse_count("limitBytes", given["limitBytes"]) if "limitBytes" in given else None,
    )


def select_lines(lines: Iterable[bytes], options: LogOptions) -> Iterator[bytes]:
    """Yield what is shown of the lines of a file, oldest first; ``limit`` is left to ``limit_bytes``."""
    chosen = lines if options.tail is None else deque(lines, maxlen=options.tail)
    earliest = b"" if options.since is None else times.format_rfc3339_nano(options.since).encode()
    for line in chosen:
        # Times are formatted with the same length, so they are ordered as text.
        if line >= earliest:
            at, _stream, _tag, text = line.split(b" ", 3)
            yield at + b" " + text if options.timestamps else text


def limit_bytes(chunks: Iterable[bytes], limit: int | None) -> Iterator[bytes]:
    """Yield chunks up to a number of bytes in all; None is no limit."""
    left = limit
    for chunk in chunks:
        if left is None:
            yield chunk
            continue
        if left <= 0:
            return
        yield chunk[:left]
        left -= len(chunk)


def read_lines(file: Path) -> list[bytes]:
    """Read the lines of a file; none where there is no file."""
    try:
        return file.read_bytes().splitlines(keepends=True)
    except FileNotFoundError:
        return []


class LogTail:
    """Reads the new lines of a log on each call, even if its older half was truncated in between.

    Args:
        file: the log of a container instance.
        previous: where the log goes when the next instance starts.
    """

    def __init__(self, file: Path, previous: Path) -> None:
        self._file = file
        self._previous = previous
        self._inode = 0
        self._offset = 0
        self._last = b""

    def has_ended(self) -> bool:
        """Return whether another container instance has started."""
        try:
            return self._previous.stat().st_ino == self._inode
        except FileNotFoundError:
            return False

    def read(self) -> list[bytes]:
        """Return the lines since the last call."""
        try:
            with self._file.open("rb") as stream:
                found = os.fstat(stream.fileno())
                if found.st_ino != self._inode or found.st_size < self._offset:
                    content = stream.read()
                    at = content.rfind(self._last) if self._last else -1
                    self._inode, self._offset = found.st_ino, at + len(self._last) if at >= 0 else 0
                stream.seek(self._offset)
                lines = stream.read().splitlines(keepends=True)
        except FileNotFoundError:
            return []
        if lines:
            self._offset += sum(map(len, lines))
            self._last = lines[-1]
        return lines


def _parse_count(name: str, text: str) -> int:
    if not text.isdecimal():
        raise ValueError(f"{name} is {text!r}, expected a whole number of at least 0")
    return int(text)
