"""Normalise a brief, and find names in it regardless of how their words are joined."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

#: Minus signs outside of the Unicode category of dashes (Pd).
_MINUS: Final = frozenset("\u2212\u00ad\u2043")
#: What makes a digit the picture of a key.
_KEYCAP: Final = re.compile("\ufe0f?\u20e3")
_SENTENCE_END: Final = re.compile(r"(?<=[.!?:;\u2026])\s+|\n+")
#: Separators within a name: ``product-catalog``, ``product_catalog``, ``product catalog``.
_JOINT: Final = r"[\s._/\-]{0,2}"
#: Endings of a component's name in prose: carts, the catalogue, checkout's.
_ENDING: Final = r"(?:s|ue|ues|['\u2019]s)?"
_WORD_OF_NAME: Final = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")


#: The joiner of emoji and the selector of their presentation, and the categories of what they follow.
_OF_EMOJI: Final = ("\u200d", "\ufe0f")
_EMOJI: Final = ("So", "Sk", "Sm", "Mn", "Po", "Pd", "Nd")
#: The letters that have an emoji presentation (Unicode emoji-variation-sequences.txt).
_LETTERS: Final = ("\u2139",)
#: Runs of kinds of characters (``_classify``) that no prose has.
_UNUSUAL: Final = re.compile(r"s(?:o?s){3,}|f{5,}|b{2,}|(?:wm){3,}|c")

#: More blanks than separate words, and more line ends than separate paragraphs.
_BLANKS: Final = re.compile(r"[^\S\n]{8,}|(?:[^\S\n]*\n){5,}")


def normalize_text(text: str) -> str:
    """Return the text as displayed: without zero-width characters, with standard letters, digits and dashes."""
    usual = _KEYCAP.sub("", unicodedata.normalize("NFKC", text))
    visible = (c for c in usual if unicodedata.category(c) != "Cf")
    return "".join("-" if unicodedata.category(c) == "Pd" or c in _MINUS else c for c in visible)


def find_invisible(text: str) -> Iterator[str]:
    """Yield the characters of a brief that nobody sees, which may spell anything (Unicode TR 36, 2.10.4; TR 51).

    Joiners and variation selectors of emoji are visible by their effect.
    """
    before = ""
    for character in text:
        code, category = ord(character), unicodedata.category(character)
        selects = 0xFE00 <= code <= 0xFE0F or 0xE0100 <= code <= 0xE01EF
        of_emoji = character in _OF_EMOJI and (unicodedata.category(before or " ") in _EMOJI or before in _LETTERS)
        if (selects or category in ("Cf", "Co", "Cn")) and not of_emoji:
            yield f"U+{code:04X}, which nobody sees"
        before = character


def find_blanks(text: str) -> Iterator[str]:
    """Yield runs of blanks and empty lines, which may spell anything, or move a part of the text out of sight."""
    for found in _BLANKS.finditer(text):
        lines = found.group().count("\n")
        yield f"{lines} line ends" if lines else f"{len(found.group())} blanks"


def find_unusual(text: str) -> Iterator[str]:
    """Yield runs of signs that stand for letters: styled letters, flags, Braille, marks on each letter, and controls.

    Single ones are usual: a trademark, a flag, an accent.
    """
    forms = "".join(_classify(character) for character in unicodedata.normalize("NFC", text))
    composed = unicodedata.normalize("NFC", text)
    for found in _UNUSUAL.finditer(forms):
        shown = composed[found.start() : found.end()]
        codes = " ".join(f"U+{ord(c):04X}" for c in shown[:3])
        yield f"{codes}{' …' if len(shown) > 3 else ''}, which stand for letters"


def _classify(character: str) -> str:
    """Return one letter for the kind of a character: styled letter, flag, Braille, mark, control, word or other."""
    code, category = ord(character), unicodedata.category(character)
    if 0x1F1E6 <= code <= 0x1F1FF:
        return "f"
    if 0x2800 <= code <= 0x28FF:
        return "b"
    if category in ("Mn", "Me"):
        return "m"
    if category == "Cc" and character not in "\n\t\r":
        return "c"
    if character.isascii():
        return "w" if character.isalpha() else "o"
    usual = unicodedata.normalize("NFKC", character)
    return "s" if len(usual) == 1 and usual.isascii() and usual.isalpha() else "o"


def split_sentences(text: str) -> list[str]:
    """Split a text after full stops, colons and line ends; abbreviations may split a sentence as well."""
    return [sentence for sentence in _SENTENCE_END.split(text) if sentence.strip()]


def contains_word(text: str, word: str) -> bool:
    """Return whether the text contains a word or phrase, ignoring case."""
    if text.isascii() and word.lower() not in text.lower():
        return False  # the common case; the regular expression is slow
    return re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text, re.IGNORECASE) is not None


@lru_cache(maxsize=512)
def name_pattern(name: str) -> str:
    """Return a regular expression for a name with any separators and endings."""
    return rf"{_JOINT.join(map(re.escape, split_name(name)))}{_ENDING}"


def contains_name(text: str, name: str) -> bool:
    """Return whether the text contains a name, regardless of separators."""
    return bool(name) and may_contain_name(text, name) and _compile_name(name).search(text) is not None


def count_name(text: str, name: str) -> int:
    """Count the occurrences of a name."""
    return len(_compile_name(name).findall(text)) if may_contain_name(text, name) else 0


def may_contain_name(text: str, name: str) -> bool:
    """Return whether a text contains the words of a name: the common answer is no, and compiling a pattern is slow."""
    if not text.isascii():
        return True
    shown = text.lower()
    return all(word.lower() in shown for word in split_name(name))


@lru_cache(maxsize=512)
def _compile_name(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){name_pattern(name)}(?!\w)", re.IGNORECASE)


@lru_cache(maxsize=2048)
def split_name(name: str) -> tuple[str, ...]:
    """Split a name into words: at hyphens, dots, underscores and before capitals."""
    return tuple(word for part in re.split(r"[\W_]+", name) for word in _WORD_OF_NAME.findall(part))


def find_phrases(text: str, phrases: tuple[str, ...]) -> Iterator[str]:
    """Yield the phrases that the text contains."""
    yield from (phrase for phrase in phrases if contains_word(text, phrase))


def quote(words: str) -> str:
    """Return words of a text in quotation marks."""
    return f"'{words}'"
