"""Shorten texts and lists for messages."""

from __future__ import annotations

from collections.abc import Sequence


def cut_text(text: str, most: int) -> str:
    """Shorten a text; an ellipsis tells that it goes on."""
    return text if len(text) <= most else text[: most - 1] + "…"


def shorten_text(text: str, most: int = 60) -> str:
    """Shorten a text, and escape unprintable characters."""
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in cut_text(text, most))


def shorten_list(texts: Sequence[str], most: int, joint: str = ", ") -> str:
    """Join the first texts and count the others: ``a, b and 3 more``, or ``a; b; and 3 more``."""
    shown, rest = joint.join(texts[:most]), len(texts) - most
    return shown if rest <= 0 else f"{shown}{' ' if joint == ', ' else joint}and {rest} more"
