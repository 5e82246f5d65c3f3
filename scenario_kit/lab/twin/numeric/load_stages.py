"""How load changes over time: ``percent:seconds`` after ``percent:seconds``, over and over.

Each stage leads in a straight line to its percentage of the usual load within its seconds, from where the one before
ended; the first begins at 100 %, as does every new round. Zero seconds are a jump.
"""

from __future__ import annotations

from functools import lru_cache


@lru_cache(maxsize=32)
def parse_stages(text: str) -> tuple[tuple[float, float], ...]:
    """Parse share of the usual load and seconds of each stage; none where the text is not a list of them."""
    try:
        pairs = [part.split(":") for part in text.split()]
        found = tuple((float(percent) / 100.0, float(seconds)) for percent, seconds in pairs)
    except ValueError:
        return ()
    if sum(seconds for _, seconds in found) <= 0.0 or min(min(pair) for pair in found) < 0.0:
        return ()
    return found


def find_share(text: str, seconds: float) -> float:
    """Find the share of the usual load ``seconds`` after the start; 1 where the text has no stages."""
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
