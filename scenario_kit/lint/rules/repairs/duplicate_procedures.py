"""SK417: procedures that are one and the same."""

from __future__ import annotations

from collections.abc import Iterator

from scenario_kit.lint.context.scenario_context import LintContext, PlacedProcedure
from scenario_kit.lint.framework.rule import Problem, register_rule
from scenario_kit.load.yaml.edit import Drop
from scenario_kit.model import Severity


@register_rule(
    "SK417",
    why="each one is run separately, which takes minutes and shows nothing new",
    bad="two solutions with the same patch",
    good="one solution, or a second one that repairs the cause in another way",
    fix="drop one of them, or let it do something else",
    repair="drops the later one",
    severity=Severity.WARNING,
)
def check_copies(case: LintContext) -> Iterator[Problem]:
    """Two solutions, or two decoys, make the same changes."""
    seen: list[PlacedProcedure] = []
    for procedure in case.procedures():
        alike = (p for p in seen if p.kind == procedure.kind and p.changes == procedure.changes)
        other = next(alike, None)
        if other and procedure.changes:
            message = f"{procedure.kind} '{procedure.name}' makes the changes of '{other.name}'"
            yield Problem(procedure.place, message, procedure.name, other.name, edits=(Drop(procedure.place),))
        seen.append(procedure)
