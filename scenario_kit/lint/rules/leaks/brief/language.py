"""Detect sentences that are not in English, which no rule can judge."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_WORD: Final = re.compile(r"[^\W\d_]+")
#: Micro and ohm, which occur in English texts.
UNITS: Final = frozenset("\u03bc\u03a9")
_ENGLISH: Final = frozenset(
    _WORD.findall(
        "the a an and or of to in on for with is are was were be been has have had that this it its not no cannot can "
        "since from at by as every all some any their they he she we you our there when while but after before about "
        "more than then so if out up who what which nobody nothing only still does do did will would could should "
        "fires firing fire failed fails fail errors error slow down most many few since none each other between"
    )
)
#: Function words of other languages that are not English.
_FOREIGN: Final = frozenset(
    _WORD.findall(
        "der das und nicht ist ein eine einen einem einer den dem des zu mit von auf wird werden wurde wurden kein "
        "keine keinen hat haben ab aus f\u00fcr durch wegen sind seit bei le la les un une et est pas du sont que qui "
        "ne dans depuis pour sur avec ce cette il elle ils nous vous a \u00e9t\u00e9 plus aucun el los las y es en con "
        "por una desde del se su al fue hay sin muy pero lo gli di che per sono da della nel alla non os um uma em "
        "para dos das ao foi mais n\u00e3o het een niet van zijn op "
        "voor sinds naar wij ze och att inte som med er ikke og jest "
        "nie si\u0119 od na do oraz przez je na ne se pro bylo ve v\u0161echny bir ve bu i\u00e7in de\u011fil nem az "
        "egy hogy ja ei ole on ovat est non sunt quod cum "
        "noch mehr niemand jemand sich beim wieder schon nur auch oder keiner gibt "
        "tiene tienen ninguna ninguno ning\u00fan est\u00e1 est\u00e1n nada nadie sido hace todos "
        "n'a rien aucune ont \u00e9t\u00e9 tous leur chez "
        "nessun nessuna sono stato stata anche "
        "nenhum nenhuma est\u00e3o foram tem"
    )
) - {"a", "on", "do", "non", "de", "per", "pro", "plus", "bin"}
#: English words that also exist in other languages, and so prove nothing.
_AMBIGUOUS: Final = frozenset(_WORD.findall("a all an as at do fail in is no on or so was were"))
#: A sentence of this many words without an English function word is in another language.
_LONG: Final = 8
_SHORT: Final = 3


def judge_sentence(sentence: str) -> list[str]:
    """Return the words that show that a sentence is not in English."""
    words = _WORD.findall(sentence)
    if other := [word for word in words if not _is_latin(word)]:
        return other
    small = [word.lower() for word in words]
    strange = [word for word in small if word in _FOREIGN]
    english = sum(word in _ENGLISH for word in small)
    plain = sum(word in _ENGLISH - _AMBIGUOUS for word in small)
    if len(words) >= _SHORT and len(strange) > 1 and len(strange) > plain:
        return strange
    prose = [word for word in sentence.split() if _WORD.fullmatch(word) and word[1:].islower()]
    return small if len(prose) >= _LONG and not english else []


def _is_latin(word: str) -> bool:
    """Return whether a word has a Latin letter or is a unit; mixed alphabets are checked elsewhere."""
    return any(letter in UNITS or unicodedata.name(letter, "").startswith("LATIN") for letter in word)
