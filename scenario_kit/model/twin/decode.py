"""Decode the definition of a twin: resolve assumptions, and validate all values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec
from msgspec import structs

from scenario_kit.model.base import Object
from scenario_kit.model.json_document import Place, get_part
from scenario_kit.model.twin.definition import TwinDefinition, TwinDocument, normalize_number

#: A reference to an assumption.
ASSUMED: Final = re.compile(r"\$([A-Za-z]\w*)")
#: The place in a message of msgspec, and its parts; keys of mappings are missing.
_AT: Final = re.compile(r"`\$((?:\.\w+|\[[^\]]*\])+)`")
_PART: Final = re.compile(r"\.(\w+)|\[(\d+)\]|\[(\.\.\.)\]")
_UNKNOWN: Final = re.compile(r"unknown field `(\w+)`")
_ANY: Final = "..."


class DefinitionError(ValueError):
    """The definition is invalid; ``place`` is as exact as possible.

    ``allowed`` are the values that could stand instead of ``observed``.
    """

    def __init__(self, text: str, place: Place = (), observed: str = "", allowed: tuple[str, ...] = ()) -> None:
        super().__init__(text)
        self.place, self.observed, self.allowed = place, observed, allowed


def decode(document: Mapping[str, Any]) -> TwinDefinition:
    """Decode the definition for one version of an app.

    Raises:
        DefinitionError: a value is invalid, or an assumption does not exist.
    """
    resolved, uses = resolve_assumptions(document)
    try:
        found = TwinDocument.from_json(resolved)
    except msgspec.ValidationError as error:
        raise _locate_misshapen(resolved, str(error)) from error
    fields = {field.name: getattr(found, field.name) for field in structs.fields(TwinDocument)}
    return TwinDefinition(**fields, uses={name: tuple(places) for name, places in uses.items()})


def resolve_assumptions(document: Mapping[str, Any]) -> tuple[Object, dict[str, list[Place]]]:
    """Replace references to assumptions by their numbers; also return their places by name.

    Raises:
        DefinitionError: an assumption does not exist or has no number.
    """
    known = {name: _choose_assumption(name, body) for name, body in _list_entries(document.get("assumptions"))}
    uses: dict[str, list[Place]] = {}
    return _resolve(dict(document), known, uses, ()), uses


def spell(place: Place) -> str:
    """Format a place for messages: ``components.cart.operations.get.steps[0]``."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place).removeprefix(".")


def _list_entries(node: Any) -> Iterable[tuple[str, Any]]:
    return node.items() if isinstance(node, dict) else ()


def _choose_assumption(name: str, body: Any) -> float:
    try:
        return normalize_number(float(body["value"]))
    except (TypeError, KeyError, ValueError):
        raise DefinitionError(f"assumptions.{name}: it has no numeric `value`", ("assumptions", name)) from None


def _resolve(node: Any, known: Mapping[str, float], uses: dict[str, list[Place]], place: Place) -> Any:
    if isinstance(node, dict):
        return {key: _resolve(value, known, uses, (*place, key)) for key, value in node.items()}
    if isinstance(node, list | tuple):
        return [_resolve(value, known, uses, (*place, i)) for i, value in enumerate(node)]
    if isinstance(node, str) and node[:1] == "$" and (match := ASSUMED.fullmatch(node)):
        if match[1] not in known:
            declared = ", ".join(sorted(known)) or "none"
            error = f"there is no assumption '{node}'; declared are {declared}"
            raise DefinitionError(error, place, node, tuple(f"${name}" for name in known))
        uses.setdefault(match[1], []).append(place)
        return known[match[1]]
    return node


def _locate_misshapen(document: Mapping[str, Any], message: str) -> DefinitionError:
    """Locate an invalid value. msgspec omits keys of mappings: it is the key that also fails alone."""
    place = _locate_stop(message)
    while _ANY in place:
        at = place.index(_ANY)
        entries = get_part(document, place[:at])
        invalid = next(
            (key for key, body in entries.items() if _explain_refusal(document, place[:at], key, body) == message), None
        )
        if invalid is None:
            place = place[:at]
            break
        document = _replace_part(document, place[:at], {invalid: entries[invalid]})
        place = (*place[:at], invalid, *place[at + 1 :])
    text = _AT.sub(lambda _: f"`{spell(place)}`", message)
    unknown = _UNKNOWN.search(message)
    return DefinitionError(text, (*place, unknown[1]) if unknown else place)


def _locate_stop(message: str) -> Place:
    found = _AT.search(message)
    parts = _PART.finditer(found[1]) if found else ()
    return tuple(int(part[2]) if part[2] else part[1] or part[3] for part in parts)


def _explain_refusal(document: Mapping[str, Any], place: Place, key: str, body: Any) -> str:
    """Return the error of msgspec if a mapping has only this entry; empty if there is none."""
    try:
        TwinDocument.from_json(_replace_part(document, place, {key: body}))
    except msgspec.ValidationError as error:
        return str(error)
    return ""


def _replace_part(document: Any, place: Place, value: Any) -> Any:
    """Return a copy of the document with a value replaced."""
    if not place:
        return value
    copy: Any = list(document) if isinstance(document, list) else dict(document)
    copy[place[0]] = _replace_part(copy[place[0]], place[1:], value)
    return copy
