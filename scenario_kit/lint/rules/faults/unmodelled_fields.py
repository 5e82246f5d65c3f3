"""SK911: faults that write only fields that the lab does not model."""

from __future__ import annotations

from collections.abc import Iterator

from scenario_kit.lint.context.catalog_context import FaultCase
from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.lint.framework.rule import Problem, register_check
from scenario_kit.model import Severity
from scenario_kit.model.json_document import Place
from scenario_kit.model.shortening import shorten_list
from scenario_kit.render.faults.modelled_fields import REAL_DATA_PLANE, find_unmodelled

#: Maximum number of fields in a message.
_MAX_FIELDS = 3


@register_check("SK911")
def check_unshown(case: LintContext) -> Iterator[Problem]:
    if case.app is None or case.objects is None:
        return
    for place, use, fault in case.list_rendered():
        known = case.types.get(use.type)
        if known is None or REAL_DATA_PLANE in known.requires:
            continue
        if fields := find_unmodelled(fault.changes, case.app, case.objects, case.app.namespace):
            yield _build_problem((*place, "type"), f"fault '{use.name}'", fields)


@register_check("SK911", "Fault")
def check_unshown_anywhere(case: FaultCase) -> Iterator[Problem]:
    """Report a fault type that the lab can show in no app."""
    if REAL_DATA_PLANE in case.fault.requires:
        return
    found = [
        find_unmodelled(fault.changes, rendering.app, rendering.objects, rendering.app.namespace)
        for rendering, fault in case.list_rendered()
        if rendering.app.twin is not None
    ]
    if found and all(found):
        problem = _build_problem(("changes",), f"fault type '{case.fault.name}'", found[0])
        yield problem._replace(fix=f"write `requires: [{', '.join((*case.fault.requires, REAL_DATA_PLANE))}]`")


def _build_problem(place: Place, who: str, fields: tuple[str, ...]) -> Problem:
    named = shorten_list(fields, _MAX_FIELDS)
    return Problem(
        place,
        f"{who} writes only fields that the lab does not model: it needs {REAL_DATA_PLANE}",
        observed=named,
        expected="a field that the control plane, the simulated kubelet or the app's twin reads",
        fix="run it on a cluster with real containers, or change other fields; another value does not help",
        severity=Severity.WARNING,
    )
