"""SK126: two faults that write the same field."""

from __future__ import annotations

from collections.abc import Iterator

from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.lint.framework.rule import Problem, register_check
from scenario_kit.lint.simulation.applied_changes import find_result
from scenario_kit.lint.simulation.field_diff import list_written_fields
from scenario_kit.model.kubernetes.difference import WrittenField
from scenario_kit.model.shortening import shorten_list


@register_check("SK126")
def check_overlaps(case: LintContext) -> Iterator[Problem]:
    if case.app is None or case.objects is None or len(case.faults) < 2:
        return
    objects, seen = case.objects, dict[str, set[WrittenField]]()
    for place, use, fault in case.list_rendered():
        fields = list_written_fields(fault.changes, objects, case.app)
        for other, theirs in seen.items():
            common = sorted(str(mine) for mine in fields if any(mine.meets(field) for field in theirs))
            if common:
                message = f"fault '{use.name}' writes {shorten_list(common, 1)}, which fault '{other}' writes as well"
                yield Problem((*place, "target"), message, use.target, "a field that no other fault writes")
        seen[use.name] = fields
        # A later fault may target what this one creates.
        objects = find_result(objects, (change for change in fault.changes if change.operation.creates), case.app)
