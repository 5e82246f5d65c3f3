"""What is wrong with a field."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from scenario_kit.model.json_document import Place
from scenario_kit.model.shortening import shorten_list
from scenario_kit.model.spelling import ask_which, find_only, suggest

#: Stands for the absence of a value, as null is one.
NO_VALUE: Final = object()
#: Letters of a name with which a longer word begins, as `environment` with `env`.
_BEGINNING: Final = 3
#: Names that a message lists at most.
_LISTED: Final = 12


class FieldMistake(NamedTuple):
    """A field that does not exist, is missing, or holds what it may not.

    Attributes:
        place: the steps to the field in the judged document.
        message: what is wrong, and where in the object.
        of_key: whether the name of the field is wrong, rather than its value.
        name: the name that is meant, if there is only one.
        value: the value that is meant, if there is only one.
    """

    place: Place
    message: str
    observed: str = ""
    expected: str = ""
    fix: str = ""
    of_key: bool = False
    name: str = ""
    value: Any = NO_VALUE


def format_field(place: Place) -> str:
    """Format the steps to a field as ``kubectl explain`` and messages of the API server do."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place)
    return text.removeprefix(".")


def suggest_name(word: str, known: Iterable[str]) -> tuple[str, str]:
    """Return a question about the names that a word may mean, and the name if there is only one; both may be empty."""
    candidates = sorted(known)
    only = find_only(word, candidates) or ""
    begun = [name for name in candidates if len(name) >= _BEGINNING and word.lower().startswith(name.lower())]
    close = (only,) if only else tuple(dict.fromkeys((*begun, *suggest(word, candidates))))[:3]
    return ask_which(close), only


def shorten_names(names: Iterable[str]) -> str:
    """List names, and how many more there are of a long list."""
    return shorten_list(sorted(names), _LISTED)


def join_fields(places: Iterable[str]) -> str:
    """Join places of fields, each in quotes."""
    return " or ".join(f"`{place}`" for place in places)
