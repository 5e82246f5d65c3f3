"""Authors' regular expressions, matched by RE2 in linear time.

Python's `re` backtracks, which can take forever. RE2 has the syntax of PromQL, without lookaheads and backreferences:
https://github.com/google/re2/wiki/Syntax
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final, NamedTuple

#: Maximum program size of a pattern with its repetitions expanded.
MOST_STEPS: Final = 1_000


class Pattern(NamedTuple):
    """A compiled pattern."""

    text: str
    compiled: Any

    def found_in(self, text: str) -> bool:
        """Return whether it matches a part of the text."""
        return self.compiled.search(_encode(text)) is not None

    def matches(self, text: str) -> bool:
        """Return whether it matches the whole text."""
        return self.compiled.fullmatch(_encode(text)) is not None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its groups."""
        return tuple(name.decode() for name in self.compiled.groupindex)

    def groups(self, text: str) -> Iterator[dict[str, str]]:
        """Yield the named groups of each match; unmatched groups are empty."""
        names = {name.decode(): number for name, number in self.compiled.groupindex.items()}
        for match in self.compiled.finditer(_encode(text)):
            yield {name: (match[number] or b"").decode("utf-8", "replace") for name, number in names.items()}


@lru_cache(maxsize=128)
def compile_pattern(text: str) -> Pattern:
    """Compile a pattern.

    Raises:
        ValueError: RE2 rejects it, or it is too large.
    """
    import re2  # a compiled library, which only files with patterns need

    options = re2.Options()
    options.log_errors = False  # RE2 would print them to standard error
    try:
        compiled = re2.compile(_encode(text), options)
    except re2.error as error:
        reported = error.args[0] if error.args else ""
        said = reported.decode("utf-8", "replace") if isinstance(reported, bytes) else str(reported)
        raise ValueError(f"RE2 cannot parse it ({said[:100]})") from error
    steps = compiled.programsize
    if steps > MOST_STEPS:
        raise ValueError(f"it has {steps} steps with its repetitions expanded, more than {MOST_STEPS}")
    return Pattern(text, compiled)


def _encode(text: str) -> bytes:
    """Encode as UTF-8; lone surrogates, which templates can produce, become question marks."""
    return text.encode("utf-8", "replace")
