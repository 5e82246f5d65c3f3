"""What a terminal can show: colours, and lines that change in place."""

from __future__ import annotations

import os
from typing import Any, Protocol

import typer


class _Stream(Protocol):
    def isatty(self) -> bool: ...


def is_plain() -> bool:
    """Return whether text is wanted without colours: ``NO_COLOR`` is set to anything, or the terminal is a dumb one."""
    return bool(os.environ.get("NO_COLOR")) or is_dumb()


def is_dumb() -> bool:
    """Return whether the terminal says of itself that it only prints."""
    return os.environ.get("TERM", "").lower() in ("dumb", "unknown")


def can_redraw(stream: _Stream) -> bool:
    """Return whether lines that were written to a stream can be drawn again."""
    return stream.isatty() and not is_dumb()


def style_text(text: str, **style: Any) -> str:
    """Return the text in a style, where styles are wanted; they are dropped where the output is no terminal."""
    return text if is_plain() else typer.style(text, **style)
