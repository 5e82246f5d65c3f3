"""SK222: a scenario's own fault type that does the same as one of the catalogue.

Fault types are compared by what they write to the rendered app, not by names or texts. A type of the catalogue is
rendered for the same target, with the texts that the scenario's own type writes as parameters. Numbers may differ: they
are parameters. A type that ends or is repaired differently is not the same.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping, Sequence
from math import inf
from typing import Any, Final, NamedTuple

from msgspec import structs

from scenario_kit.catalog import Catalog
from scenario_kit.errors import AuthoringError
from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.lint.framework.rule import Problem, register_check
from scenario_kit.lint.similarity.effect_signature import list_writes
from scenario_kit.lint.similarity.index_entry import strip_numbers
from scenario_kit.load.schema.schemas import find_violations
from scenario_kit.model import App, Fault, FaultType, Object, Severity
from scenario_kit.model.authored.scenario import FaultUse
from scenario_kit.model.json_document import list_texts
from scenario_kit.render import render_fault

#: Longer texts are files or scripts, not parameters.
_LONGEST: Final = 253
_FIELD: Final = 100


@register_check("SK222")
def check_copied_type(case: LintContext) -> Iterator[Problem]:
    if case.app is None or case.objects is None:
        return
    for place, use, rendered in case.list_rendered():
        if use.type not in case.types or not case.has_own_fault_type(use.type):
            continue
        found = _find_same(case.catalog, use, rendered, case.app, case.objects)
        if found is None:
            continue
        name, given = found
        call = f"type: {name}" + (f", parameters: {json.dumps(given)}" if given else "")
        yield Problem(
            (*place, "type"),
            f"fault type '{use.type}' writes what '{name}' of the catalogue writes",
            use.type,
            f"'{name}'",
            f"use the catalogue's ({call}), or a mechanism that none of its types has",
            severity=Severity.ERROR if case.merged else Severity.WARNING,
        )


def _find_same(
    catalog: Catalog, use: FaultUse, rendered: Fault, app: App, objects: Sequence[Object]
) -> tuple[str, dict[str, Any]] | None:
    """Return the catalogue's type that writes the same, with its parameters."""
    done = list_writes(rendered, objects, app)
    if not done:
        return None
    desired = _Writes(done)
    texts = tuple(dict.fromkeys(t for t in list_texts([done, use.parameters], keys=True) if 0 < len(t) <= _LONGEST))
    kind = use.target.kind
    for name in catalog.faults():
        if name == use.type:  # another version of the same type, which SK108 reports
            continue
        known = _load(catalog, name)
        if known is None or kind not in known.targets or _ends(known) != _ends(rendered):
            continue
        given = _reproduce(_Aim(known, use, app, objects), desired, texts)
        if given is not None:
            return name, given
    return None


def _ends(fault: Fault | FaultType) -> tuple[str, str]:
    return fault.persistence, fault.mitigation


def _load(catalog: Catalog, name: str) -> FaultType | None:
    try:
        return catalog.fault(name)
    except AuthoringError:
        return None  # another rule reports it


class _Writes:
    """The writes of a fault, without numbers: ``places`` are the fields, ``kinds`` what no parameter changes."""

    def __init__(self, done: Sequence[Sequence[Any]]) -> None:
        self.places = {_sort(one[:3] if one[0] == "field" else _outline_changes(one)) for one in done}
        self.entries = {_sort(_strip(one)) for one in done}
        self.kinds = {_sort(_outline_changes(one)) for one in done}


class _Aim(NamedTuple):
    """A fault type of the catalogue with the target of the scenario's own type."""

    known: FaultType
    use: FaultUse
    app: App
    objects: Sequence[Object]

    def render(self, given: Mapping[str, Any]) -> _Writes | None:
        """Return what it writes with these parameters; None if it rejects them or the target."""
        use = structs.replace(self.use, type=self.known.name, parameters=dict(given), rollout=None)
        try:
            made = render_fault(self.known, use, self.app, self.objects, self.app.namespace, "draft")
        except AuthoringError:
            return None
        return _Writes(list_writes(made, self.objects, self.app))


def _reproduce(aim: _Aim, desired: _Writes, texts: Sequence[str]) -> dict[str, Any] | None:
    """Return parameters with which the type writes exactly the same; None if there are none among ``texts``."""
    plain = aim.render({})
    if plain is not None and plain.kinds != desired.kinds:
        return None
    given, best = dict[str, Any](), _count_apart(plain, desired)
    for name, schema in aim.known.parameters.get("properties", {}).items():
        if best == 0:
            break
        for value in [text for text in texts if schema.get("type") == "string" and not find_violations(text, schema)]:
            apart = _count_apart(aim.render({**given, name: value}), desired)
            if apart < best:
                best, given = apart, {**given, name: value}
    return given if best == 0 else None


def _count_apart(found: _Writes | None, desired: _Writes) -> float:
    """Return the distance between two sets of writes; a missing field weighs more than a different value."""
    if found is None:
        return inf
    return len(found.entries ^ desired.entries) + _FIELD * len(found.places ^ desired.places)


def _strip(one: Sequence[Any]) -> list[Any]:
    """Drop numbers, and the namespaces of selectors."""
    if one[0] != "object" or "selector" not in (one[1].get("spec") or {}):
        return list(strip_numbers(list(one)))
    body = copy.deepcopy(one[1])
    if isinstance(selector := body["spec"]["selector"], dict):
        selector.pop("namespaces", None)
    return list(strip_numbers(["object", body]))


def _outline_changes(one: Sequence[Any]) -> list[Any]:
    if one[0] == "field":
        return ["field", one[1], [str(part) for part in one[2][:2]]]
    body = one[1]
    if one[0] == "object":
        return ["object", body.get("kind"), (body.get("spec") or {}).get("action")]
    return ["act", sorted(body)]


def _sort(node: Any) -> str:
    return json.dumps(node, sort_keys=True, default=str)
