"""Times in chaos objects as the programs read them that act on them; not all durations of Go are.

The daemon passes a time to tc if it is greater than ``0ms`` by the order of words. tc (iproute2 6.1) has no minutes,
and counts 274 s at most. The injectors for files and HTTP read whole numbers with units.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from scenario_kit.model.base import Object
from scenario_kit.model.chaos.kinds import get_experiment
from scenario_kit.model.kubernetes.duration import parse_seconds

_NOTHING: Final = "0ms"
_UNITS: Final = {
    "": 1e-6, "us": 1e-6, "usec": 1e-6, "usecs": 1e-6, "ms": 1e-3, "msec": 1e-3, "msecs": 1e-3, "s": 1.0, "sec": 1.0,
    "secs": 1.0,
}  # fmt: skip
_TC_TIME: Final = re.compile(
    rf"(\d{{1,18}}(?:\.\d*)?|\.\d+)({'|'.join(sorted(_UNITS, key=len, reverse=True))})", re.IGNORECASE
)
#: The ticks of tc's clock, which it counts in 32 bits.
_TICKS_PER_SECOND: Final = 15.625e6
_WHOLE: Final = re.compile(r"(?:\d{1,18}\s*(?:ns|us|ms|s|m|h)\s*)+")


class MisreadTime(NamedTuple):
    """A time that has no effect, or makes an experiment fail: its keys in the spec, and what is expected there."""

    keys: tuple[str, ...]
    value: str
    expected: str


def is_passed_to_tc(text: str) -> bool:
    """Return whether the daemon passes a time to tc."""
    return text > _NOTHING


def parse_tc_seconds(text: str) -> float:
    """Parse a time as tc does, into seconds.

    Raises:
        ValueError: tc refuses it, with these words; it calls every time a latency.
    """
    match = _TC_TIME.fullmatch(text)
    seconds = float(match[1]) * _UNITS[match[2].lower()] if match else -1.0
    if seconds < 0.0 or seconds * _TICKS_PER_SECOND >= 2.0**32:
        large = f"Illegal {int(seconds * 1e6)} time (too large)\n" if seconds > 0.0 else ""
        raise ValueError(f'{large}Illegal "latency"')
    return seconds


def parse_whole_seconds(text: str) -> float:
    """Parse a duration of whole numbers with units, such as ``1m30s``, into seconds; ``1.5s`` is none.

    Raises:
        ValueError: not such a duration.
    """
    if _WHOLE.fullmatch(text) is None:
        raise ValueError(f"{text!r} is no duration")
    return parse_seconds("".join(text.split()))


def find_misread_times(obj: Object) -> Iterator[MisreadTime]:
    """Yield the times of a chaos object, or of the one that a Schedule starts, that do not mean what they say."""
    kind, spec, _ = get_experiment(obj)
    if kind == "NetworkChaos" and isinstance(delay := spec.get("delay"), Mapping):
        for name in ("latency", "jitter"):
            if isinstance(text := delay.get(name), str) and not _is_for_tc(text):
                yield MisreadTime(
                    ("delay", name), text, "a number from 1 with s, ms or us, at most 274s, such as 500ms"
                )
    elif kind in ("HTTPChaos", "IOChaos") and isinstance(text := spec.get("delay"), str) and text:
        try:
            parse_whole_seconds(text)
        except ValueError:
            yield MisreadTime(("delay",), text, "whole numbers with units, such as 1500ms or 1m30s")


def _is_for_tc(text: str) -> bool:
    """Return whether a time means to tc what it means to Go; no time at all is fine."""
    if not is_passed_to_tc(text):
        return re.search(r"[1-9]", text) is None
    try:
        parse_tc_seconds(text)
    except ValueError:
        return False
    return True
