"""SK140: what kubectl reads otherwise than everything else does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.lint.framework.rule import Problem, register_check
from scenario_kit.lint.simulation.place import Place
from scenario_kit.load.yaml.edit import Edit, Put, Rename
from scenario_kit.schema import build_authoring_schema


@register_check("SK140")
def check_yaml11(case: LintContext) -> Iterator[Problem]:
    positions, schema = case.positions, build_authoring_schema("Scenario")
    for place, there in positions.elsewhere.items():
        here = positions.texts.get(place, positions.raw.get(place, ""))
        text = place in positions.texts
        edits: tuple[Edit, ...] = (Put(place, here),) if text else ()
        fix = f'write "{here}"' if text else f"write the number that is meant: {float(here):g} or {there}"
        yield Problem(place, f"kubectl reads `{here}` as {there}", there, here, fix, edits=edits)
    for place, there in positions.elsewhere_keys.items():
        name = str(place[-1])
        if name not in _find_fields(schema, place[:-1]):  # `on` of an alert: the CRD knows how kubectl spells it
            message = f"kubectl reads the name `{name}` as {there}"
            key = positions.key(*place)
            yield Problem(place, message, there, name, f'write "{name}"', position=key, edits=(Rename(place, name),))


def _find_fields(schema: Any, place: Place) -> Any:
    """Find the fields that the schema knows at a place; none where whatever is there is free."""
    for part in place:
        schema = schema.get("items", {}) if isinstance(part, int) else schema.get("properties", {}).get(part, {})
    return schema.get("properties", {})
