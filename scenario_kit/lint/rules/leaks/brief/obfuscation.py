"""Decode encodings and spellings that hide a name: base64, hexadecimal, Morse, reversed letters, initials.

No rule finds every disguise. These are simple to decode, and no page to an on-call engineer contains them.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import re
from collections.abc import Callable, Iterable, Iterator
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
    turned, unescaped = list(_turn_letters(text)), [t for t in _unescape(text) if t != text]
    runs, words = [*_join_letters(text), *_take_initials(text)], " ".join(_WORD.findall(text.lower()))
    initials = "".join(word[0] for word in _WORD.findall(text.lower()))
    figures = list(_read_figures(text))
    for name in names:
        letters = "".join(split_name(name)).lower()
        if len(letters) < _MIN_LETTERS:
            continue
        plain = count_name(text, name)
        spelled = " ".join(_SPELLING.get(letter, letter) for letter in letters)
        found = any(contains_name(reading, name) for reading in turned)
        found = found or any(count_name(reading, name) > plain for reading in unescaped)
        found = found or (len(letters) >= _MIN_INITIALS and letters in initials)
        found = found or any(letters in run for run in figures) or _is_shifted(words.split(), letters)
        if found or spelled in words or any(letters in run for run in runs):
            yield name


def _read_figures(text: str) -> Iterator[str]:
    """Yield runs of numbers as letters: their places in the alphabet, or their codes in ASCII."""
    for found in _NUMBERS.finditer(text):
        numbers = [int(number) for number in re.findall(r"\d+", found.group())]
        for first in (1, ord("a"), ord("A")):
            yield "".join(chr(ord("a") + n - first) if first <= n < first + 26 else " " for n in numbers)


def _is_shifted(words: Iterable[str], letters: str) -> bool:
    """Return whether a word is a name with each letter moved by the same number of places in the alphabet."""
    alike = (word for word in words if len(word) == len(letters) and word.isascii() and word != letters)
    return any(len({(ord(a) - ord(b)) % 26 for a, b in zip(word, letters, strict=True)}) == 1 for word in alike)


def _turn_letters(text: str) -> Iterator[str]:
    """Yield the text reversed, in ROT13, in mirrored letters (atbash), and decoded from Morse."""
    yield text[::-1]
    yield codecs.encode(text, "rot13")
    yield text.translate(_MIRROR)
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
