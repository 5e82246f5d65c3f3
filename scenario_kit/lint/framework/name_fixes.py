"""Edits that give a misspelled name, or a reference, the one spelling that can be meant; none where there are more."""

from __future__ import annotations

from collections.abc import Iterable

from scenario_kit.lint.simulation.place import Place
from scenario_kit.load.schema.suggest import find_only
from scenario_kit.load.yaml.edit import Edit, Put
from scenario_kit.model import Reference


def fix_name(place: Place, word: str, candidates: Iterable[str]) -> tuple[Edit, ...]:
    """Return the value at ``place`` becomes the candidate that ``word`` must mean."""
    meant = find_only(word, candidates)
    return (Put(place, meant),) if meant else ()


def fix_reference(place: Place, text: str, candidates: Iterable[str]) -> tuple[Edit, ...]:
    """Return the reference at ``place`` becomes the candidate of the same kind, or of the same name, that it must mean.

    Names are compared within a kind: whole references are all alike, because they begin alike.
    """
    refs = [Reference.parse(candidate) for candidate in sorted(set(candidates))]
    wrong = Reference.parse(text)
    names = [ref.name for ref in refs if ref.kind == wrong.kind]
    meant = find_only(wrong.name, names) if wrong.name not in names else None
    close = [ref for ref in refs if ref.kind == wrong.kind and ref.name == (meant or wrong.name)]
    close = close or [ref for ref in refs if ref.name == wrong.name]
    return (Put(place, str(close[0])),) if len(close) == 1 else ()
