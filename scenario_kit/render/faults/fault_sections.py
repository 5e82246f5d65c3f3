"""Render the sections of a fault type: changes, checks, entities, solutions and decoys."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import msgspec

from scenario_kit.model import Change, Check, Decoy, Entity, Object, Solution
from scenario_kit.model.authored.fault import Restore, find_entity_ref
from scenario_kit.model.base import convert
from scenario_kit.render.faults.default_target import fill_target
from scenario_kit.render.faults.effects import EffectSubject, expand_check
from scenario_kit.render.faults.inverse_changes import Find, build_inverse_changes
from scenario_kit.render.faults.template_variables import ItemVariables
from scenario_kit.render.simulation.changes import check_sound
from scenario_kit.render.templating.authoring_error import build_error
from scenario_kit.render.templating.engine import render

_T = TypeVar("_T")
_Procedure = TypeVar("_Procedure", Solution, Decoy)


@dataclass(frozen=True, slots=True)
class FaultSections:
    """Renders sections with the variables of one target, skipping items whose ``when`` is false.

    ``where`` prefixes error messages. ``written`` are the fault's rendered changes, which ``restore`` inverts; in
    solutions, only those to its ``causes``.

    All methods raise ``AuthoringError`` for a template that fails or renders an invalid item.
    """

    variables: Mapping[str, Any]
    where: str
    subject: EffectSubject
    find: Find
    written: tuple[Object, ...] = ()
    causes: tuple[str, ...] = ()

    def changes(self, documents: Sequence[Any], place: str, refs: Collection[str] = ()) -> tuple[Change, ...]:
        """Render and validate changes; ``restore`` inverts the changes to ``refs``."""
        made = tuple(
            change
            for at, document, part in self._select_items(documents, place)
            for change in part._expand(document, at, refs)
        )
        for change in made:
            if manifest := change.operation.manifest:
                check_sound(manifest)
        return made

    def checks(self, documents: Sequence[Any], place: str) -> tuple[Check, ...]:
        """Render checks and validate their references."""
        made = []
        for at, document, part in self._select_items(documents, place):
            check = self._convert(expand_check(part._render(document, at), self.subject, at), Check, at)
            made.append(check)
        return tuple(made)

    def entities(self, documents: Sequence[Any], place: str) -> tuple[Entity, ...]:
        """Render entities with their fixes."""
        made = []
        for at, document, part in self._select_items(documents, place):
            fix = document.pop("fix", ())
            entity = part._value({**document, "ref": find_entity_ref(document)}, Entity, at)
            made.append(msgspec.structs.replace(entity, fix=part.changes(fix, f"{at}.fix", (entity.ref,))))
        return tuple(made)

    def procedures(
        self, documents: Sequence[Any], to: type[_Procedure], place: str, **defaults: Any
    ) -> tuple[_Procedure, ...]:
        """Render solutions or decoys; ``defaults`` are values of omitted fields."""
        made = []
        for at, document, _ in self._select_items(documents, place):
            changes = document.pop("changes", ())
            procedure = self._value({**defaults, **document}, to, at)
            made.append(msgspec.structs.replace(procedure, changes=self.changes(changes, f"{at}.changes", self.causes)))
        return tuple(made)

    def _select_items(self, documents: Sequence[Any], place: str) -> Iterator[tuple[str, Any, FaultSections]]:
        """Yield a copy of each applicable item with its location and its variables, repeated by ``forEach``."""
        for i, document in enumerate(documents):
            at = f"{place}[{i}]"
            if not isinstance(document, Mapping):
                yield at, document, self
                continue
            rest = {key: value for key, value in document.items() if key not in ("when", "forEach")}
            for part in self._repeat(document["forEach"], at) if "forEach" in document else (self,):
                if render(document.get("when", True), part.variables, f"{self.where} {at}.when"):
                    yield at, dict(rest), part

    def _repeat(self, items: Any, at: str) -> Iterator[FaultSections]:
        found = render(items, self.variables, f"{self.where} {at}.forEach")
        if not isinstance(found, list):
            raise build_error("SK123", f"{self.where} {at}.forEach must be a list", observed=json.dumps(found)[:300])
        for item in found:
            yield replace(self, variables=ItemVariables(self.variables, item))

    def _expand(self, document: Any, at: str, refs: Collection[str]) -> Iterator[Change]:
        if not (isinstance(document, Mapping) and "restore" in document):
            yield self._value(document, Change, at)
            return
        inverse = self._value(document["restore"], Restore, f"{at}.restore")
        for change in build_inverse_changes(
            self.written, self.find, (inverse.target,) if inverse.target else refs, inverse.field
        ):
            yield self._convert(change, Change, at)

    def _value(self, document: Any, to: type[_T], at: str) -> _T:
        return self._convert(self._render(document, at), to, at)

    def _render(self, document: Any, at: str) -> Any:
        return render(fill_target(document), self.variables, f"{self.where} {at}")

    def _convert(self, data: Any, to: type[_T], at: str) -> _T:
        try:
            return convert(data, to)
        except msgspec.ValidationError as error:
            code = "SK104" if isinstance(error.__cause__, ValueError) else "SK123"  # a text that is no reference
            raise build_error(code, f"{self.where} {at}: {error}", observed=json.dumps(data)[:300]) from error
