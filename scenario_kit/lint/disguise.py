"""What a text says to whoever looks twice: encoded, spelled backwards or letter by letter, or in another language.

No rule can tell every disguise. These are those that a program undoes at once, and that nobody on call would write.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import re
import unicodedata
from collections.abc import Callable, Iterator
from typing import Final
from urllib.parse import unquote

_BASE64: Final = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{12,}={0,2}")
_HEX: Final = re.compile(r"(?<![0-9A-Za-z])(?:[0-9A-Fa-f]{2}[ :]?){6,}(?![0-9A-Za-z])")
_SPACED: Final = re.compile(r"(?<!\w)(?:\w[\s._-]{1,3}){3,}\w(?!\w)")
#: Figures and signs that are written for the letters that they look like.
_FIGURES: Final = str.maketrans("013457@$", "oieastas")
_READABLE: Final = re.compile(r"[\x20-\x7e\n\t]{6,}")
_WORD: Final = re.compile(r"[^\W\d_]+")
#: Micro and ohm, which stand in English texts, and beside other letters, by right.
UNITS: Final = frozenset("\u03bc\u03a9")
_ENGLISH: Final = frozenset(
    _WORD.findall(
        "the a an and or of to in on for with is are was were be been has have had that this it its not no cannot "
        "since from at by as every all some any their they he she we you our there when while but after before about "
        "more than then so if out up who what which nobody nothing only still"
    )
)
#: Small words of other languages that are none of English.
_FOREIGN: Final = frozenset(
    _WORD.findall(
        "der das und nicht ist ein eine einen einem einer den dem des zu mit von auf wird werden kein keine sind seit "
        "bei le la les un une et est pas du sont que qui ne dans depuis pour sur avec ce cette il elle ils nous vous "
        "el los las y es en con por una desde del se su al muy pero il lo gli di che non per sono da della nel alla "
        "os um uma em para dos das ao foi mais het een niet van zijn op voor sinds naar wij ze och att inte som med er"
    )
)
#: Texts with fewer words have too few small ones to tell a language.
_LEAST: Final = 5


def decoded(text: str) -> Iterator[tuple[str, str]]:
    """What stands encoded in a text as base64 or in hexadecimal digits: the run itself, and what it means."""
    for found in _BASE64.finditer(text):
        run = found.group().rstrip("=").translate(str.maketrans("-_", "+/"))
        if meant := _readable(base64.b64decode, run + "=" * (-len(run) % 4)):
            yield found.group(), meant
    for found in _HEX.finditer(text):
        digits = re.sub(r"[ :]", "", found.group())
        if meant := _readable(bytes.fromhex, digits):
            yield found.group().strip(), meant


def readings(text: str) -> Iterator[str]:
    """The text backwards, with every letter moved by thirteen places, and with what stands for letters put back."""
    yield text[::-1]
    yield codecs.encode(text, "rot13")
    yield from (read for read in (html.unescape(text), unquote(text), text.translate(_FIGURES)) if read != text)


def spelled(text: str) -> list[str]:
    """What stands letter by letter, put together, with small letters: where its words end, nobody sees."""
    return ["".join(_WORD.findall(found.group())).lower() for found in _SPACED.finditer(text)]


def foreign(text: str) -> list[str]:
    """Words that show that a text is not in English; empty where it is, or is too short to tell."""
    words = _WORD.findall(text)
    other = [word for word in words if not _latin(word)]
    if other:
        return other
    small = [word.lower() for word in words]
    strange = [word for word in small if word in _FOREIGN]
    more = len(strange) > sum(word in _ENGLISH for word in small)
    return strange if len(words) >= _LEAST and len(strange) > 1 and more else []


def _latin(word: str) -> bool:
    """Whether a word has a Latin letter, or is a unit; mixtures are somebody else's business."""
    return any(letter in UNITS or unicodedata.name(letter, "").startswith("LATIN") for letter in word)


def _readable(decode: Callable[[str], bytes], run: str) -> str:
    """What was encoded, if it is plain text; most words of twelve letters are some base64, but of no text."""
    try:
        text = decode(run).decode("ascii")
    except (binascii.Error, ValueError):
        return ""
    return text if _READABLE.fullmatch(text) and re.search(r"[A-Za-z]{3}", text) else ""
