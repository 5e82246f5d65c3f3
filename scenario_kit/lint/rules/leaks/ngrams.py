"""Find word sequences that two texts share."""

from __future__ import annotations

import re
from typing import Final

_WORD: Final = re.compile(r"[a-z0-9][a-z0-9'-]*")


def find_repeated(text: str, source: str, least: int) -> str:
    """Return the longest run of words of ``source`` that ``text`` repeats; empty if shorter than ``least`` words.

    Case and punctuation are ignored.
    """
    text_words, words = _split_words(text), _split_words(source)
    joined = f" {' '.join(text_words)} "
    best: list[str] = []
    for start in range(len(words)):
        end = start + max(least, len(best) + 1)
        while end <= len(words) and f" {' '.join(words[start:end])} " in joined:
            best = words[start:end]
            end += 1
    return " ".join(best)


def _split_words(text: str) -> list[str]:
    return _WORD.findall(text.lower())
