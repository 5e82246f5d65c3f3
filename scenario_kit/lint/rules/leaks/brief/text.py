"""Normalise a brief, and find names in it however their words are joined."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

#: Minus signs, which Unicode does not count among its dashes (category Pd).
_MINUS: Final = frozenset("\u2212\u00ad\u2043")
_SENTENCE_END: Final = re.compile(r"(?<=[.!?:;\u2026])\s+|\n+")
#: What may stand between two words of a name: ``product-catalog``, ``product_catalog``, ``product catalog``.
_JOINT: Final = r"[\s._/\-]{0,2}"
#: How the name of a component goes on in prose: carts, the catalogue, its checkout's.
_ENDING: Final = r"(?:s|ue|ues|['\u2019]s)?"
_WORD_OF_NAME: Final = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")


def normalize_text(text: str) -> str:
    """Return the text as it is read: no zero-width characters, letters and dashes in their usual shape."""
    usual = unicodedata.normalize("NFKC", text)
    visible = (c for c in usual if unicodedata.category(c) != "Cf")
    return "".join("-" if unicodedata.category(c) == "Pd" or c in _MINUS else c for c in visible)


def split_sentences(text: str) -> list[str]:
    """Split a text after full stops, colons and line ends; abbreviations may split a sentence early."""
    return [sentence for sentence in _SENTENCE_END.split(text) if sentence.strip()]


def contains_word(text: str, word: str) -> bool:
    """Return whether the text has a word or phrase as such, whatever its case."""
    if text.isascii() and word.lower() not in text.lower():
        return False  # most are not: a pattern for each is the slowest part of the rule
    return re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text, re.IGNORECASE) is not None


@lru_cache(maxsize=512)
def name_pattern(name: str) -> str:
    """Return the regular expression of a name: its words with any joint between them, and the endings of prose."""
    return rf"{_JOINT.join(map(re.escape, split_name(name)))}{_ENDING}"


def contains_name(text: str, name: str) -> bool:
    """Return whether the text names a component or object, however its words are joined."""
    return bool(name) and re.search(rf"(?<!\w){name_pattern(name)}(?!\w)", text, re.IGNORECASE) is not None


def count_name(text: str, name: str) -> int:
    """Count how often the text names a component or object."""
    return len(re.findall(rf"(?<![\w]){name_pattern(name)}(?!\w)", text, re.IGNORECASE))


def split_name(name: str) -> tuple[str, ...]:
    """Split a name into its words: at hyphens, dots, underscores and where a capital follows a small letter."""
    return tuple(word for part in re.split(r"[\W_]+", name) for word in _WORD_OF_NAME.findall(part))


def find_phrases(text: str, phrases: tuple[str, ...]) -> Iterator[str]:
    """Yield the phrases that the text contains."""
    yield from (phrase for phrase in phrases if contains_word(text, phrase))
