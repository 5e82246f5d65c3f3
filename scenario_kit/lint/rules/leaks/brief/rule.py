"""SK211: the rule about the brief."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.lint.framework.rule import Problem, register_check
from scenario_kit.lint.rules.leaks.brief.language import UNITS, judge_sentence
from scenario_kit.lint.rules.leaks.brief.mechanism import Broken, find_mechanisms
from scenario_kit.lint.rules.leaks.brief.obfuscation import find_disguised, find_encoded
from scenario_kit.lint.rules.leaks.brief.statements import find_statements
from scenario_kit.lint.rules.leaks.brief.text import (
    contains_name,
    contains_word,
    find_blanks,
    find_invisible,
    find_unusual,
    normalize_text,
    quote,
    split_sentences,
)
from scenario_kit.lint.rules.leaks.ngrams import find_repeated
from scenario_kit.lint.simulation.stages import list_containers
from scenario_kit.model import Reference, Severity
from scenario_kit.model.authored.contamination_canary import CANARY
from scenario_kit.model.authored.scenario import FaultUse
from scenario_kit.model.json_document import list_mappings
from scenario_kit.model.kubernetes.reference import SHORT_KINDS

#: Conjunctions after which a title continues with the cause.
_REASON: Final = re.compile(r"\b(because|since|as|due to|after|when|while)\b", re.IGNORECASE)
_WORD: Final = re.compile(r"\w+")
#: Names of environment variables: one word is also a title, or an abbreviation.
_VARIABLE: Final = re.compile(r"(?<![\w-])[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?![\w-])")
#: Alphabets with similar letters.
_ALPHABETS: Final = frozenset({"LATIN", "CYRILLIC", "GREEK"})
#: Number of consecutive words that is no coincidence: in a text about the cause, and in one that also states symptoms.
_FEW, _MANY = 4, 6
_SHORTEST_VALUE: Final = 4
_DIGITS: Final = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_DIGIT_WORDS: Final = re.compile(rf"\b(?:{'|'.join(_DIGITS)})(?:[\s,-]+(?:{'|'.join(_DIGITS)}))+\b", re.IGNORECASE)
#: Units of resources, which users do not see.
_UNITS: Final = r"(?:[KMG]i?B?|mebibytes?|gibibytes?|m|millicores?|mcpu)"


@register_check("SK211")
def check_brief(case: LintContext) -> Iterator[Problem]:
    text = normalize_text(case.scenario.spec.brief)
    written = case.scenario.spec.brief
    odd = (*find_invisible(written), *find_unusual(written))
    blanks = (f"{run} in a row" for run in find_blanks(written))
    leaks = list(dict.fromkeys((*map(quote, odd), *blanks, *_find_leaks(case, text))))
    foreign = {sentence: words for sentence in split_sentences(text) if (words := judge_sentence(sentence))}
    broken = {ref.name for use in case.scenario.spec.faults for ref in _list_broken_objects(case, use)}
    named = [name for name in sorted(broken) if any(contains_name(sentence, name) for sentence in foreign)]
    leaks += [f"{quote(name)} in a sentence that is not in English" for name in named]
    if leaks:
        message = f"the brief contains {', '.join(leaks)}"
        yield Problem(("spec", "brief"), message, text[:120], "symptoms only")
    elif foreign:
        strange = dict.fromkeys(word for words in foreign.values() for word in words)
        message = f"the brief is not in English, so no rule can check it: {', '.join(map(quote, strange))}"
        fix, severity = "write it in English, or have it reviewed in its language", Severity.WARNING
        yield Problem(("spec", "brief"), message, text[:120], "a brief in English", fix, severity)


def _find_leaks(case: LintContext, text: str) -> Iterator[str]:
    """Yield what gives the answer away: quoted from the text, with a remark where the words alone do not explain it."""
    yield from map(quote, find_statements(text))
    yield from (quote(run) for run, _ in find_encoded(text))
    yield from _find_quotations(case, text)
    yield from (quote(word) for word in _WORD.findall(text) if _has_mixed_alphabets(word))
    spec = case.scenario.spec
    own = {case.scenario.name: "the scenario's name", **{use.name: "the name of a fault" for use in spec.faults}}
    yield from (f"{quote(name)}, {what}" for name, what in own.items() if "-" in name and contains_word(text, name))
    yield from (quote(word) for word in (CANARY,) if word in text)
    yield from (quote(word) for word in dict.fromkeys(_VARIABLE.findall(text)) if word in _list_variables(case))
    components = {ref.name for ref in case.known}
    secret: set[str] = set()
    for use in spec.faults:
        objects = _list_broken_objects(case, use)
        names = {ref.name for ref in objects}
        secret |= names | {use.type}
        if contains_word(text, use.type.replace("-", " ")):
            yield quote(use.type)
        family = case.types[use.type].family if use.type in case.types else ""
        yield from find_mechanisms(text, Broken(tuple(sorted(names)), family))
        yield from map(quote, _find_references(text, objects))
        yield from map(quote, _find_values(text, use, components))
    yield from (f"{quote(name)} in disguise" for name in find_disguised(text, sorted(secret)))


def _list_variables(case: LintContext) -> set[str]:
    """Return the names of environment variables of the app."""
    containers = (c for obj in case.objects or () for _, c in list_containers(obj))
    return {str(variable.get("name")) for c in containers for _, variable in list_mappings(c.get("env"))}


def _list_broken_objects(case: LintContext, use: FaultUse) -> list[Reference]:
    """Return the target of a fault and its causes, without duplicates, in a fixed order."""
    return list(dict.fromkeys((use.target, *case.entities(use.name, "Cause"))))


def _find_references(text: str, objects: list[Reference]) -> Iterator[str]:
    """Yield references to broken objects as in kubectl and DNS."""
    names = sorted({ref.name for ref in objects if not text.isascii() or ref.name.lower() in text.lower()})
    for kind in sorted({ref.kind for ref in objects}):
        for name in names:
            spelled = rf"{re.escape(name)}(?![\w-])"
            short = SHORT_KINDS.get(kind, "")
            typed = rf"{kind}s?[/_-]{spelled}" + (rf"|{short}[/_ -]{spelled}" if short else "")
            found = re.search(rf"(?<![\w-])(?:{typed})", text, re.IGNORECASE)
            found = found or re.search(rf"(?<![\w-]){kind} {spelled}", text)
            if found:
                yield found.group()
            yield from re.findall(rf"(?<![\w-]){re.escape(name)}(?:\.[\w-]+)?\.svc\b", text)


def _find_values(text: str, use: FaultUse, components: set[str]) -> Iterator[str]:
    """Yield values of parameters that the text repeats; names of components are known to users."""
    values = [str(v) for v in use.parameters.values() if isinstance(v, str | int) and not isinstance(v, bool)]
    telling = [value for value in values if len(value) >= _SHORTEST_VALUE and value not in components]
    yield from (value for value in telling if contains_word(text, value))
    yield from (f"{value} in words" for value in telling if value in _read_digits(text))
    for value in values:
        if value.isdigit() and value in text and (found := re.search(rf"(?<![\w.,]){value} ?{_UNITS}(?!\w)", text)):
            yield found.group()


def _read_digits(text: str) -> list[str]:
    """Return the numbers that a text names digit by digit."""
    runs = _DIGIT_WORDS.finditer(text)
    return ["".join(str(_DIGITS.index(word)) for word in _WORD.findall(run.group().lower())) for run in runs]


def _find_quotations(case: LintContext, text: str) -> Iterator[str]:
    """Yield phrases that the brief shares with texts that give the answer away, and where they stand."""
    spec = case.scenario.spec
    cause = _REASON.search(spec.title)
    sources = [("the title", spec.title[cause.end() :] if cause else "", _FEW)]
    sources += [("the description", spec.description, _MANY)]
    sources += [("`because` of an edge", edge.because, _FEW) for edge in spec.ground_truth.propagation]
    sources += [(f"solution {quote(solution.name)}", solution.description, _FEW) for solution in spec.solutions]
    for known in case.types.values():
        sources += [(f"fault type {quote(known.name)}", words, _MANY) for words in (known.title, known.description)]
    found: dict[str, str] = {}
    for where, source, least in sources:
        if words := find_repeated(text, source, least):
            found.setdefault(words, where)
    yield from (f"{quote(words)}, as in {where}" for words, where in found.items())


def _has_mixed_alphabets(word: str) -> bool:
    """Return whether a word mixes letters of similar alphabets."""
    if word.isascii():
        return False
    names = {unicodedata.name(letter, "").partition(" ")[0] for letter in word if letter not in UNITS}
    return len(_ALPHABETS & names) > 1
