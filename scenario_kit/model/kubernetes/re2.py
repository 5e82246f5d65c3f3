"""Regular expressions that an author wrote, matched by RE2: in time that grows with the text and with nothing else.

Python's own matcher tries every way to split a text among repeats, which can take for ever. RE2 has the syntax that
PromQL has: no lookaheads and no backreferences. https://github.com/google/re2/wiki/Syntax
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final, NamedTuple

#: Steps that a pattern may have once its repeats are written out: each may have to look at each letter of a text.
MOST_STEPS: Final = 1_000


class Pattern(NamedTuple):
    """A pattern that can be matched."""

    text: str
    compiled: Any

    def found_in(self, text: str) -> bool:
        """Return whether it matches some part of the text."""
        return self.compiled.search(_encode(text)) is not None

    def matches(self, text: str) -> bool:
        """Return whether it matches the whole text."""
        return self.compiled.fullmatch(_encode(text)) is not None

    def groups(self, text: str) -> Iterator[dict[str, str]]:
        """Return the named groups of each match in the text; of a group that took no part, an empty text."""
        names = {name.decode(): number for name, number in self.compiled.groupindex.items()}
        for match in self.compiled.finditer(_encode(text)):
            yield {name: (match[number] or b"").decode("utf-8", "replace") for name, number in names.items()}


@lru_cache(maxsize=128)
def compile_pattern(text: str) -> Pattern:
    """Compile a pattern to match with.

    Raises:
        ValueError: RE2 cannot read it, or it has too many steps; the message says which.
    """
    import re2  # a compiled library, which only files with patterns need

    options = re2.Options()
    options.log_errors = False  # on standard error, where it would stand beside the finding
    try:
        compiled = re2.compile(_encode(text), options)
    except re2.error as error:
        reported = error.args[0] if error.args else ""
        said = reported.decode("utf-8", "replace") if isinstance(reported, bytes) else str(reported)
        raise ValueError(f"RE2 cannot read it ({said[:100]})") from error
    steps = compiled.programsize
    if steps > MOST_STEPS:
        raise ValueError(f"it has {steps} steps once its repeats are written out, more than {MOST_STEPS}")
    return Pattern(text, compiled)


def _encode(text: str) -> bytes:
    """Encode a half of a surrogate pair, which templates can write, has no UTF-8: a question mark stands for it."""
    return text.encode("utf-8", "replace")
