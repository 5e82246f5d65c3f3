"""Find word sequences that two texts share."""

from __future__ import annotations

import re
from typing import Final

_WORD: Final = re.compile(r"[a-z0-9][a-z0-9'-]*")
#: Words that any two texts share: "the list of the hotels" is no quotation.
_FUNCTION_WORDS: Final = frozenset(
    _WORD.findall(
        "a an the this that these those its their our your his her it they we he she i you of to in on at by for from "
        "with and or but as is are was were be been has have had do does did not no so than then there"
    )
)
#: Minimum number of other words in a quotation.
_TELLING: Final = 3


def find_repeated(text: str, source: str, least: int) -> str:
    """Return the longest run of words of ``source`` that ``text`` repeats; empty if shorter than ``least`` words.

    Case and punctuation are ignored, and so are runs of hardly anything but function words.
    """
    text_words, words = _split_words(text), _split_words(source)
    joined = f" {' '.join(text_words)} "
    best: list[str] = []
    for start in range(len(words)):
        end = start + max(least, len(best) + 1)
        while end <= len(words) and f" {' '.join(words[start:end])} " in joined:
            if sum(word not in _FUNCTION_WORDS for word in words[start:end]) >= min(_TELLING, least - 1):
                best = words[start:end]
            end += 1
    return " ".join(best)


def _split_words(text: str) -> list[str]:
    return _WORD.findall(text.lower())
