"""The templated parts of a fault type, rendered with the variables of one target."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from scenario_kit.model import Change, Check, Decoy, Entity, Reference, Solution
from scenario_kit.model.base import convert
from scenario_kit.render.apps.namespaces import read_subject
from scenario_kit.render.simulation.changes import check_sound
from scenario_kit.render.templating.authoring_error import build_error
from scenario_kit.render.templating.engine import render

_T = TypeVar("_T")
_Procedure = TypeVar("_Procedure", Solution, Decoy)


@dataclass(frozen=True, slots=True)
class Parts:
    """Renders parts. ``where`` begins the messages of mistakes; all methods leave out what its ``when`` rules out.

    Raises, all methods: ``AuthoringError`` for a template that fails or yields something else than the part.
    """

    variables: Mapping[str, Any]
    where: str

    def changes(self, documents: Sequence[Any], place: str) -> tuple[Change, ...]:
        """Return changes whose manifests, where they have some, are objects."""
        made = tuple(self._value(document, Change, at) for at, document in self._select_parts(documents, place))
        for i, change in enumerate(made):
            if manifest := change.create or change.apply or change.chaos:
                check_sound(manifest)
            elif change.target:
                self._reference(change.target, f"{place}[{i}]")
        return made

    def checks(self, documents: Sequence[Any], place: str) -> tuple[Check, ...]:
        """Return checks that name objects by references."""
        made = []
        for at, document in self._select_parts(documents, place):
            check = self._value(document, Check, at)
            if (text := read_subject(check)) and not text.startswith("Node/"):
                self._reference(text, at)
            made.append(check)
        return tuple(made)

    def entities(self, documents: Sequence[Any], place: str) -> tuple[Entity, ...]:
        """Return entities with their fixes."""
        made = []
        for at, document in self._select_parts(documents, place):
            fix = document.pop("fix", ())
            entity = self._value(document, Entity, at)
            self._reference(entity.ref, f"{at}.ref")
            made.append(msgspec.structs.replace(entity, fix=self.changes(fix, f"{at}.fix")))
        return tuple(made)

    def procedures(
        self, documents: Sequence[Any], to: type[_Procedure], place: str, **defaults: Any
    ) -> tuple[_Procedure, ...]:
        """Return solutions or decoys; ``defaults`` are fields that they need not state."""
        made = []
        for at, document in self._select_parts(documents, place):
            changes = document.pop("changes", ())
            procedure = self._value({**defaults, **document}, to, at)
            made.append(msgspec.structs.replace(procedure, changes=self.changes(changes, f"{at}.changes")))
        return tuple(made)

    def _select_parts(self, documents: Sequence[Any], place: str) -> list[tuple[str, Any]]:
        """Select copies of those that these parameters do not leave out, each with its place."""
        kept: list[tuple[str, Any]] = []
        for i, document in enumerate(documents):
            at = f"{place}[{i}]"
            if not isinstance(document, Mapping):
                kept.append((at, document))
            elif render(document.get("when", True), self.variables, f"{self.where} {at}.when"):
                kept.append((at, {key: part for key, part in document.items() if key != "when"}))
        return kept

    def _value(self, document: Any, to: type[_T], at: str) -> _T:
        where = f"{self.where} {at}"
        data = render(document, self.variables, where)
        try:
            return convert(data, to)
        except msgspec.ValidationError as error:
            raise build_error("SK123", f"{where}: {error}", observed=json.dumps(data)[:300]) from error

    def _reference(self, text: str, at: str) -> None:
        try:
            Reference.parse(text)
        except ValueError as error:
            raise build_error("SK104", f"{self.where} {at}: {error}") from error
