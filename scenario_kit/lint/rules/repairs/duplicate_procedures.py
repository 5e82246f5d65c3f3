"""SK417: identical procedures."""

from __future__ import annotations

from collections.abc import Iterator

from scenario_kit.lint.context.scenario_context import LintContext, PlacedProcedure
from scenario_kit.lint.framework.rule import Problem, register_check
from scenario_kit.load.yaml.edit import Drop


@register_check("SK417")
def check_copies(case: LintContext) -> Iterator[Problem]:
    seen: list[PlacedProcedure] = []
    for procedure in case.procedures():
        alike = (p for p in seen if p.kind == procedure.kind and p.changes == procedure.changes)
        other = next(alike, None)
        if other and procedure.changes:
            message = f"{procedure.kind} '{procedure.name}' has the same changes as '{other.name}'"
            yield Problem(procedure.place, message, procedure.name, other.name, edits=(Drop(procedure.place),))
        seen.append(procedure)
