"""Terminal capabilities: colours and redrawing."""

from __future__ import annotations

import os
from typing import Any, Protocol

import typer


class _Stream(Protocol):
    def isatty(self) -> bool: ...


def is_plain() -> bool:
    """Return whether colours are disabled: ``NO_COLOR`` is set, or the terminal is dumb."""
    return bool(os.environ.get("NO_COLOR")) or is_dumb()


def is_dumb() -> bool:
    """Return whether ``TERM`` declares a terminal without cursor control."""
    return os.environ.get("TERM", "").lower() in ("dumb", "unknown")


def can_redraw(stream: _Stream) -> bool:
    """Return whether lines on a stream can be redrawn."""
    return stream.isatty() and not is_dumb()


def style_text(text: str, **style: Any) -> str:
    """Style text unless colours are disabled; the styles are dropped if the output is not a terminal."""
    return text if is_plain() else typer.style(text, **style)
