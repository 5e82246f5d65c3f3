"""SK435: a fault's declared persistence, compared with its changes."""

from __future__ import annotations

from collections.abc import Iterator

from scenario_kit.lint.context.catalog_context import FaultCase
from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.lint.framework.rule import Problem, register_check
from scenario_kit.lint.rules.faults.fault_duration import find_deadline
from scenario_kit.model import Fault

#: Deadline in seconds beyond which no trial or investigation lasts.
_LONG = 86400


@register_check("SK435", "Fault")
def check_persistence(case: FaultCase) -> Iterator[Problem]:
    for _, fault in case.list_rendered():
        if reported := _find_contradiction(fault):
            yield Problem(("persistence",), reported, case.fault.persistence)
            return


@register_check("SK435", "Scenario")
def check_persistence_in_scenario(case: LintContext) -> Iterator[Problem]:
    for place, _, fault in case.list_rendered():
        if reported := _find_contradiction(fault):
            yield Problem((*place, "type"), f"fault type '{fault.type}': {reported}", fault.persistence)


def _find_contradiction(fault: Fault) -> str:
    """Explain why the declaration cannot be true; empty if it may be."""
    says = f"`persistence: {fault.persistence}`"
    if fault.persistence in ("Object", "Workload"):  # SK128 and SK305 cover experiments
        limits = [limit for c in fault.changes if (limit := find_deadline(c, fault)) and limit.seconds < _LONG]
        return (
            f"{says} says that it lasts, but its `{limits[0].field}` ends it after {limits[0].text}" if limits else ""
        )
    for change in fault.changes:
        if change.operation.outlasts(fault.persistence):
            keyword = change.operation.keyword
            return f"{says} says that it ends without a repair, but what `{keyword}` changes stays changed"
    return ""
