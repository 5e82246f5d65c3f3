"""Decode encodings and spellings that hide a name: base64, hexadecimal, Morse, other letters, initials.

No rule finds every disguise. These are simple to decode, and no page to an on-call engineer contains them.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final
from urllib.parse import unquote

from scenario_kit.lint.rules.leaks.brief.text import contains_name, count_name, split_name, split_sentences

_BASE64: Final = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{12,}={0,2}")
_BASE32: Final = re.compile(r"(?<![A-Z0-9])[A-Z2-7]{8,}={0,6}(?![A-Z0-9=])")
_HEX: Final = re.compile(r"(?<![0-9A-Za-z])(?:[0-9A-Fa-f]{2}[ :]?){6,}(?![0-9A-Za-z])")
_BINARY: Final = re.compile(r"(?<![0-9A-Za-z])(?:[01]{8} ?){2,}(?![0-9A-Za-z])")
_SPACED: Final = re.compile(r"(?<!\w)(?:\w[\s._-]{1,3}){3,}\w(?!\w)")
_MORSE: Final = re.compile(r"(?<!\S)(?:[.\-\u00b7_]{1,5}[ /|]+){2,}[.\-\u00b7_]{1,5}(?!\S)")
#: Digits and signs that look like letters.
_FIGURES: Final = str.maketrans("013457@$", "oieastas")
_MIRROR: Final = str.maketrans(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", "zyxwvutsrqponmlkjihgfedcbaZYXWVUTSRQPONMLKJIHGFEDCBA"
)
_ALPHABET: Final = "abcdefghijklmnopqrstuvwxyz"
#: Each letter moved by a number of places in the alphabet.
_SHIFTS: Final = tuple(
    str.maketrans(_ALPHABET + _ALPHABET.upper(), moved + moved.upper())
    for moved in (_ALPHABET[n:] + _ALPHABET[:n] for n in range(1, len(_ALPHABET)))
)
_KEYBOARD: Final = ("qwertyuiop[", "asdfghjkl;'", "zxcvbnm,./")
#: Each key for its neighbour, on either side.
_NEIGHBOURS: Final = (
    str.maketrans({right: left for row in _KEYBOARD for left, right in pairwise(row)}),
    str.maketrans({left: right for row in _KEYBOARD for left, right in pairwise(row)}),
)
#: Letters that look like others upside down.
_UPSIDE_DOWN: Final = str.maketrans(
    "\u0250q\u0254p\u01dd\u025f\u0183\u0265\u1d09\u027e\u029e\u026fuodb\u0279\u0287n\u028c\u028d\u028e",
    "abcdefghijkmnopqrtuvwy",
)
#: The keys of telephones.
_KEYPAD: Final = str.maketrans(_ALPHABET, "22233344455566677778889999")
_DIGITS: Final = re.compile(r"\d(?:[ -]?\d)+")
_PIG_LATIN: Final = re.compile(r"[a-z]{3,}ay")
_VOWELS: Final = re.compile(r"[aeiou]")
_GAP: Final = r"[\s._\u00b7-]{0,2}"
_READABLE: Final = re.compile(r"[\x20-\x7e\n\t]{5,}")
_WORD: Final = re.compile(r"[^\W\d_]+")
_CODE: Final = dict(
    pair.split("=")
    for pair in re.findall(
        r"\S+",
        ".-=a -...=b -.-.=c -..=d .=e ..-.=f --.=g ....=h ..=i .---=j -.-=k .-..=l --=m -.=n ---=o .--.=p --.-=q .-.=r "
        "...=s -=t ..-=u ...-=v .--=w -..-=x -.--=y --..=z",
    )
)
#: The spelling alphabet of radio operators (ICAO).
_SPELLING: Final = {
    word[0]: word
    for word in re.findall(
        r"\w+",
        "alfa bravo charlie delta echo foxtrot golf hotel india juliett kilo lima mike november oscar papa quebec "
        "romeo sierra tango uniform victor whiskey xray yankee zulu",
    )
}
#: Shorter names may occur by chance in reversed text or initials.
_MIN_LETTERS: Final = 4
#: The same for the initials of words, of which there are many more.
_MIN_INITIALS: Final = 6
#: The same for one word of a name of several, whose disguise alone is a hint.
_MIN_WORD: Final = 7
#: Blanks within the words of a name: people write one in "check out" and "e-mail".
_MIN_GAPS: Final = 2
_NUMBERS: Final = re.compile(r"(?<![\d.])\d{1,3}(?:[ ,;-]{1,2}\d{1,3}){3,}(?!\d|\.\d)")


def find_encoded(text: str) -> Iterator[tuple[str, str]]:
    """Yield each run in base64, base32, binary or hexadecimal figures, with its meaning."""
    for found in _BASE64.finditer(text):
        run = found.group().rstrip("=").translate(str.maketrans("-_", "+/"))
        if meaning := _decode(base64.b64decode, run + "=" * (-len(run) % 4)):
            yield found.group(), meaning
    for found in _BASE32.finditer(text):
        run = found.group().rstrip("=")
        if meaning := _decode(base64.b32decode, run + "=" * (-len(run) % 8)):
            yield found.group(), meaning
    for found in _BINARY.finditer(text):
        digits = found.group().replace(" ", "")
        octets = bytes(int(digits[i : i + 8], 2) for i in range(0, len(digits), 8))
        yield found.group().strip(), octets.decode("ascii", "replace")
    for found in _HEX.finditer(text):
        digits = re.sub(r"[ :]", "", found.group())
        if meaning := _decode(bytes.fromhex, digits):
            yield found.group().strip(), meaning


def find_disguised(text: str, names: Iterable[str]) -> Iterator[str]:
    """Yield the names that the text contains in disguise.

    An occurrence of the plain name is not a disguise, whatever digits, signs or entities are beside it.
    """
    readings = _Readings(text)
    for name in names:
        words = split_name(name)
        forms = (name, *(word for word in words if len(words) > 1 and len(word) >= _MIN_WORD))
        if any(readings.contain(form) for form in forms):
            yield name


class _Readings:
    """What a text says once its disguises are undone."""

    def __init__(self, text: str) -> None:
        words = _WORD.findall(text.lower())
        self._text = text
        self._turned = list(_turn_letters(text))
        self._unescaped = [t for t in _unescape(text) if t != text]
        self._runs = [*_join_letters(text), *_take_initials(text), *_read_figures(text)]
        self._words = " ".join(words)
        self._initials = "".join(word[0] for word in words)
        self._digits = [re.sub(r"\D", "", found.group()) for found in _DIGITS.finditer(text)]
        self._moved = _undo_pig_latin(words)

    def contain(self, name: str) -> bool:
        """Return whether the name occurs in any disguise."""
        words = [word.lower() for word in split_name(name)]
        letters = "".join(words)
        if len(letters) < _MIN_LETTERS:
            return False
        plain = count_name(self._text, name)
        spelled = " ".join(_SPELLING.get(letter, letter) for letter in letters)
        short = _VOWELS.sub("", name)
        keys = letters.translate(_KEYPAD)
        return (
            any(contains_name(reading, name) for reading in self._turned)
            or any(count_name(reading, name) > plain for reading in self._unescaped)
            or spelled in self._words
            or any(letters in run for run in self._runs)
            or (len(letters) >= _MIN_INITIALS and letters in self._initials)
            or (len(letters) >= _MIN_WORD and any(keys in run for run in self._digits))
            or (len(short) >= _MIN_INITIALS - 1 and short != name and contains_name(self._text, short))
            or set(words) <= self._moved
            or _is_torn(self._text, words)
        )


def _undo_pig_latin(words: Iterable[str]) -> set[str]:
    """Return the words that those in Pig Latin may stand for: their first consonants are at their end, before `ay`."""
    found: set[str] = set()
    for word in words:
        if _PIG_LATIN.fullmatch(word):
            stem = word[:-2]
            found |= {stem[-n:] + stem[:-n] for n in range(1, 4)}
    return found


def _is_torn(text: str, words: Sequence[str]) -> bool:
    """Return whether the words of a name occur with blanks where no word ends."""
    letters = "".join(words)
    if len(letters) < _MIN_INITIALS or letters not in "".join(filter(str.isalnum, text.lower())):
        return False
    ends = {len("".join(words[: i + 1])) for i in range(len(words))}
    pattern = rf"(?<!\w){_GAP.join(map(re.escape, letters))}(?!\w)"
    for found in re.finditer(pattern, text, re.IGNORECASE):
        places = [i for i, character in enumerate(found.group()) if character.isalnum()]
        gaps = [n for n, (one, other) in enumerate(pairwise(places), 1) if other - one > 1 and n not in ends]
        if len(gaps) >= _MIN_GAPS:
            return True
    return False


def _read_figures(text: str) -> Iterator[str]:
    """Yield runs of numbers as letters: their places in the alphabet, or their codes in ASCII."""
    for found in _NUMBERS.finditer(text):
        numbers = [int(number) for number in re.findall(r"\d+", found.group())]
        for first in (1, ord("a"), ord("A")):
            yield "".join(chr(ord("a") + n - first) if first <= n < first + 26 else " " for n in numbers)


def _turn_letters(text: str) -> Iterator[str]:
    """Yield the text reversed, upside down, with other letters for all, and decoded from Morse."""
    yield text[::-1]
    if not text.isascii():
        yield text[::-1].translate(_UPSIDE_DOWN)
    yield text.translate(_MIRROR)
    yield from (text.translate(shift) for shift in _SHIFTS)
    yield from (text.lower().translate(moved) for moved in _NEIGHBOURS)
    for found in _MORSE.finditer(text):
        signs = re.split(r"[ /|]+", found.group().replace("_", "-").replace("\u00b7", "."))
        yield "".join(_CODE.get(sign, " ") for sign in signs)


def _unescape(text: str) -> tuple[str, ...]:
    """Return the text with entities and percent-encoding decoded, and with letters for digits."""
    return html.unescape(text), unquote(text), text.translate(_FIGURES)


def _join_letters(text: str) -> list[str]:
    """Join words spelled letter by letter, in lower case."""
    return ["".join(_WORD.findall(found.group())).lower() for found in _SPACED.finditer(text)]


def _take_initials(text: str) -> Iterator[str]:
    """Yield the first and the last letters of sentences and of lines, and the capitals within the text."""
    for parts in (split_sentences(text), text.splitlines()):
        yield "".join(word.group()[0] for part in parts if (word := _WORD.search(part))).lower()
        yield "".join(words[-1][-1] for part in parts if (words := _WORD.findall(part))).lower()
    yield "".join(re.findall(r"(?<=[a-z])[A-Z]|(?<=[a-z] )[A-Z](?=[A-Z]?\b)", text)).lower()
    yield "".join(re.findall(r"(?<=[a-z])[A-Z]|(?<=[a-z] )[A-Z](?=[a-z])", text)).lower()


def _decode(decode: Callable[[str], bytes], run: str) -> str:
    """Decode a run if the result is readable text; most long words are valid base64 too, but of binary data."""
    try:
        text = decode(run).decode("ascii")
    except (binascii.Error, ValueError):
        return ""
    return text if _READABLE.fullmatch(text) and re.search(r"[A-Za-z]{3}", text) else ""
