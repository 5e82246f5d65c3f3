"""Load stages: a repeating sequence of ``percent:seconds``.

Each stage ramps linearly to its percentage of the normal load, from the end of the previous stage; the first stage of
each round starts at 100 %. Zero seconds are a jump.
"""

from __future__ import annotations

from functools import lru_cache


@lru_cache(maxsize=32)
def parse_stages(text: str) -> tuple[tuple[float, float], ...]:
    """Parse the share of the normal load and the seconds of each stage; empty for invalid text."""
    try:
        pairs = [part.split(":") for part in text.split()]
        found = tuple((float(percent) / 100.0, float(seconds)) for percent, seconds in pairs)
    except ValueError:
        return ()
    if sum(seconds for _, seconds in found) <= 0.0 or min(min(pair) for pair in found) < 0.0:
        return ()
    return found


def find_share(text: str, seconds: float) -> float:
    """Return the share of the normal load ``seconds`` after the start; 1 without stages."""
    found = parse_stages(text)
    if not found:
        return 1.0
    left = max(seconds, 0.0) % sum(length for _, length in found)
    before = 1.0
    for target, length in found:
        if left < length:
            return before + (target - before) * left / length
        left -= length
        before = target
    return before
