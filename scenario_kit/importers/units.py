"""Convert values of other formats to the units of fault parameters.

Durations have Go's syntax (time.ParseDuration), as in Chaos Mesh and Litmus; rates have that of ``tc``.
"""

from __future__ import annotations

import re
from typing import Any, Final, Literal

from scenario_kit.model.kubernetes.duration import parse_seconds

Unit = Literal["Milliseconds", "Seconds", "Percent", "Share", "Integer", "Text", "Texts", "Kilobits", "Flag", "Object"]
_RATE: Final = re.compile(r"([0-9]*\.?[0-9]+)\s*([kmgt]?)(bit|bps)")
_PREFIX: Final = {"": 1e-3, "k": 1.0, "m": 1e3, "g": 1e6, "t": 1e9}


def parse_go_duration(value: Any) -> float:
    """Parse a duration to seconds; a bare number is seconds.

    Raises:
        ValueError: it is not a duration.
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    text = str(value).strip()
    sign = -1.0 if text.startswith("-") else 1.0
    text = text.lstrip("+-")
    if re.fullmatch(r"[0-9]+(\.[0-9]+)?", text):
        return sign * float(text)
    if not text:
        raise ValueError("'' is not a duration such as 250ms or 1m30s")
    return sign * parse_seconds(text)


def convert_value(value: Any, unit: Unit) -> Any:
    """Convert a value to a parameter of this unit.

    Raises:
        ValueError: it cannot be converted.
    """
    match unit:
        case "Milliseconds":
            return round(parse_go_duration(value) * 1000)
        case "Seconds":
            return round(parse_go_duration(value))
        case "Percent":
            return round(_parse_number(str(value).strip().removesuffix("%")))
        case "Share":  # a fraction, unless it has a percent sign
            return round(_parse_share(str(value).strip()))
        case "Integer":
            return round(_parse_number(value))
        case "Kilobits":
            return _parse_rate(value)
        case "Texts":
            return _list_texts(value)
        case "Flag":
            return str(value).strip().lower() in ("true", "1", "yes", "on")
        case "Object":
            if not isinstance(value, dict):
                raise ValueError("it is not an object")
            return value
        case "Text":
            if isinstance(value, dict | list):
                raise ValueError("it is not a string")
            return str(value)


def _parse_number(value: Any) -> float:
    try:
        number = float(str(value).strip())
    except ValueError:
        raise ValueError(f"'{str(value)[:40]}' is not a number") from None
    if number != number or abs(number) > 1e15:
        raise ValueError(f"'{str(value)[:40]}' is not a usable number")
    return number


def _parse_share(text: str) -> float:
    """Parse a fraction to percent; with a percent sign, or above 1, it is percent already."""
    number = _parse_number(text.removesuffix("%"))
    return number if text.endswith("%") or number > 1 else number * 100


def _parse_rate(value: Any) -> int:
    """Parse a rate in the syntax of ``tc``, where ``bps`` is bytes per second, to kilobits per second."""
    match = _RATE.fullmatch(str(value).strip().lower())
    if match is None:
        raise ValueError(f"'{str(value)[:40]}' is not a rate such as 100kbit or 1mbps")
    return max(1, round(float(match[1]) * _PREFIX[match[2]] * (8 if match[3] == "bps" else 1)))


def _list_texts(value: Any) -> list[str]:
    parts = value if isinstance(value, list) else re.split(r"[,\s]+", str(value).strip("[] "))
    return [text for part in parts if (text := str(part).strip("\"' "))]
