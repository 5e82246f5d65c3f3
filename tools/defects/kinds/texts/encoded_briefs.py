"""Briefs that spell the answer: in numbers, last letters, other letters or blanks, or that ask for it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tools.defects.edits.briefs import extend_brief, find_target_name
from tools.defects.kind import Defect, kind, needs
from tools.defects.subject import Subject


def _letters(subject: Subject, least: int = 4) -> str:
    letters = "".join(letter for letter in find_target_name(subject).lower() if letter.isalpha() and letter.isascii())
    return str(needs(letters if len(letters) >= least else "", "its name is too short to distinguish from a word"))


@kind("SK211")
def brief_in_numbers(subject: Subject) -> Iterator[Defect]:
    """The brief contains the name of the broken object as places in the alphabet, or as ASCII codes."""
    letters = _letters(subject)
    yield extend_brief(subject, f"Codes: {' '.join(str(ord(letter) - ord('a') + 1) for letter in letters)}.")
    yield extend_brief(subject, f"Codes: {', '.join(str(ord(letter)) for letter in letters)}.")


@kind("SK211")
def brief_in_shifted_letters(subject: Subject) -> Iterator[Defect]:
    """The brief contains the name of the broken object with each letter replaced by the next one."""
    letters = _letters(subject)
    yield extend_brief(subject, f"({''.join(chr((ord(x) - ord('a') + 1) % 26 + ord('a')) for x in letters)})")


@kind("SK211")
def brief_in_last_letters(subject: Subject) -> Iterator[Defect]:
    """The last letters of the lines of the brief spell the name of the broken object."""
    lines = "\n".join(f"They report it as case {letter}" for letter in _letters(subject))
    yield extend_brief(subject, f"\n{lines}")


@kind("SK211")
def brief_in_first_letters_of_words(subject: Subject) -> Iterator[Defect]:
    """The first letters of the words of a sentence spell the name of the broken object."""
    words = " ".join(f"{letter}team" for letter in _letters(subject, 6))
    yield extend_brief(subject, f"Who knows: {words}.")


@kind("SK211")
def brief_in_blanks(subject: Subject) -> Iterator[Defect]:
    """The brief ends with blanks and tabs, or has many empty lines before its last sentence."""
    yield extend_brief(subject, "It is urgent." + " \t\t  \t \t\t \t  " + "So it seems.")
    yield extend_brief(subject, "It is urgent." + "\n" * 40 + "So it seems.")


@kind("SK211")
def brief_that_asks_for_processes(subject: Subject) -> Iterator[Defect]:
    """The brief asks to count processes, which no user sees."""
    needs(subject.spec.faults, "nothing is broken")
    yield extend_brief(subject, "Please count the running copies of everything.")


@kind("SK211")
def brief_with_a_riddle(subject: Subject) -> Iterator[Defect]:
    """The brief says with which letter the name of the broken object begins."""
    letter = _letters(subject)[0]
    needs(letter != "a", "a single a is a word")
    yield extend_brief(subject, f"All are green but one, which begins with {letter}.")


_ALPHABET = "abcdefghijklmnopqrstuvwxyz"


def _find_long_name(subject: Subject, least: int = 7) -> str:
    name = find_target_name(subject).lower()
    letters = re.sub(r"[^a-z]", "", name)
    return str(needs(name if len(letters) >= least else "", "its name is too short to distinguish from a word"))


@kind("SK211")
def brief_in_letters_of_a_cipher(subject: Subject) -> Iterator[Defect]:
    """The brief contains the name of the broken object shifted by three letters, or typed one key to the right."""
    name = _find_long_name(subject)
    yield extend_brief(subject, f"({name.translate(str.maketrans(_ALPHABET, _ALPHABET[3:] + _ALPHABET[:3]))})")
    keys = str.maketrans("qwertyuiopasdfghjklzxcvbnm", "wertyuiop[sdfghjkl;xcvbnm,")
    yield extend_brief(subject, f"({name.replace('-', ' ').translate(keys)})")


@kind("SK211")
def brief_in_keys_of_a_telephone(subject: Subject) -> Iterator[Defect]:
    """The brief contains the name of the broken object as digits of a telephone's keys."""
    digits = (
        _find_long_name(subject).replace("-", " ").translate(str.maketrans(_ALPHABET, "22233344455566677778889999"))
    )
    yield extend_brief(subject, f"Call {digits}.")


@kind("SK211")
def brief_in_broken_words(subject: Subject) -> Iterator[Defect]:
    """The brief contains the name of the broken object without vowels, or with blanks within its words."""
    name = _find_long_name(subject)
    short = re.sub("[aeiou]", "", name)
    if len(short.replace("-", "")) > len("1234"):
        yield extend_brief(subject, f"({short})")
    letters = name.replace("-", "")
    yield extend_brief(subject, f"({' '.join(letters[i : i + 3] for i in range(0, len(letters), 3))})")


@kind("SK211")
def brief_in_pig_latin(subject: Subject) -> Iterator[Defect]:
    """The brief contains the name of the broken object in Pig Latin."""
    words = _find_long_name(subject).split("-")
    needs(
        all(re.match("[^aeiou]{1,3}[aeiou]", word) and len(word) > len("ab") for word in words), "it has no consonants"
    )
    moved = [re.sub("^([^aeiou]+)(.*)$", r"\2\1ay", word) for word in words]
    yield extend_brief(subject, f"({' '.join(moved)})")


@kind("SK211")
def brief_upside_down(subject: Subject) -> Iterator[Defect]:
    """The brief contains the name of the broken object in letters that are upside down."""
    turned = str.maketrans(
        "abcdefghijkmnopqrtuvwy",
        "\u0250q\u0254p\u01dd\u025f\u0183\u0265\u1d09\u027e\u029e\u026fuodb\u0279\u0287n\u028c\u028d\u028e",
    )
    yield extend_brief(subject, f"({_find_long_name(subject)[::-1].translate(turned)})")


@kind("SK211")
def brief_with_half_a_name(subject: Subject) -> Iterator[Defect]:
    """The brief spells one word of the name of the broken object backwards."""
    words = [word for word in _find_long_name(subject).split("-") if len(word) > len("abcdef")]
    yield extend_brief(subject, f"({needs(words, 'its words are too short')[0][::-1]})")
