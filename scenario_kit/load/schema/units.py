"""Read amounts that are written with a unit, where the name of the field already says which unit it counts in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from scenario_kit.model.kubernetes.duration import parse_seconds
from scenario_kit.model.kubernetes.quantity import MEBIBYTE, parse_exact

_INTEGER: Final = re.compile(r"[-+]?[0-9]{1,18}")
#: Words for units of time, longer ones first.
_WORDS: Final[Mapping[str, str]] = {
    "seconds": "s", "second": "s", "secs": "s", "sec": "s", "minutes": "m", "minute": "m", "mins": "m", "min": "m",
    "hours": "h", "hour": "h", "hrs": "h",
}  # fmt: skip
_WORD: Final = re.compile("|".join(_WORDS))


def convert_to_unit(name: str, written: Any) -> int | None:
    """Return the integer that a text or number means in the field of this name; None if that is not certain.

    ``90s`` is 90000 in ``latencyMilliseconds``, ``1.5Gi`` is 1536 in ``memoryMebibytes``, and ``40%`` is 40 in
    ``lossPercent``.
    """
    if isinstance(written, float):
        return int(written) if written.is_integer() else None
    if not isinstance(written, str):
        return None
    text = written.strip()
    if not text or _INTEGER.fullmatch(text):
        return int(text) if text else None
    amount = _read_amount(name, text)
    return int(amount) if amount is not None and amount == int(amount) else None


def _read_amount(name: str, text: str) -> Decimal | None:
    if name.endswith("Percent"):
        return _read_number(text.removesuffix("%")) if text.endswith("%") else None
    if name.endswith(("Seconds", "Milliseconds")):
        milliseconds = _read_milliseconds(text)
        if milliseconds is None or name.endswith("Milliseconds"):
            return milliseconds
        return milliseconds / 1000
    if not text[-1:].isalpha():
        return None
    amount = _read_number(text)
    if amount is not None and name.endswith("Mebibytes"):
        return amount / MEBIBYTE
    if amount is not None and name.endswith("Millicores"):
        return amount * 1000
    return amount if name.endswith("Bytes") else None


def _read_number(text: str) -> Decimal | None:
    try:
        return parse_exact(text.strip())
    except (ValueError, ArithmeticError):
        return None


def _read_milliseconds(text: str) -> Decimal | None:
    short = _WORD.sub(lambda match: _WORDS[match[0]], text.lower()).replace(" ", "")
    try:
        return Decimal(round(parse_seconds(short) * 1e6)) / 1000
    except ValueError:
        return None
