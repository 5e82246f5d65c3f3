"""Edits that correct a misspelled name or reference, if only one candidate is close."""

from __future__ import annotations

from collections.abc import Iterable

from scenario_kit.load.yaml.edit import Edit, Put
from scenario_kit.model import Reference
from scenario_kit.model.json_document import Place
from scenario_kit.model.spelling import find_only


def fix_name(place: Place, word: str, candidates: Iterable[str]) -> tuple[Edit, ...]:
    """Return an edit that replaces the value at ``place`` by the only close candidate."""
    meant = find_only(word, candidates)
    return (Put(place, meant),) if meant else ()


def fix_reference(place: Place, wrong: Reference, candidates: Iterable[Reference]) -> tuple[Edit, ...]:
    """Return an edit that replaces a reference by the only close candidate of its kind, or the only one of its name.

    Names are compared within a kind: whole references resemble each other because of their kind.
    """
    refs = sorted(set(candidates))
    names = [ref.name for ref in refs if ref.kind == wrong.kind]
    meant = find_only(wrong.name, names) if wrong.name not in names else None
    close = [ref for ref in refs if ref.kind == wrong.kind and ref.name == (meant or wrong.name)]
    close = close or [ref for ref in refs if ref.name == wrong.name]
    return (Put(place, str(close[0])),) if len(close) == 1 else ()
