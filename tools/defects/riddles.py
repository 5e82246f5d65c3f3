"""Briefs that spell the answer: in numbers, last letters, other letters or blanks, or that ask for it."""

from __future__ import annotations

from collections.abc import Iterator

from tools.defects.briefs import extend_brief, find_target_name
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
