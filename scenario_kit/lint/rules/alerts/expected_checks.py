"""SK134: the objects that a scenario's own checks read."""

from __future__ import annotations

from collections.abc import Iterator

from scenario_kit.admission.reads import list_references
from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.lint.framework.name_fixes import fix_reference
from scenario_kit.lint.framework.rule import Problem, register_check
from scenario_kit.model.spelling import did_you_mean


@register_check("SK134")
def check_expected_targets(case: LintContext) -> Iterator[Problem]:
    if case.objects is None:
        return
    for i, check in enumerate(case.scenario.spec.expect.checks):
        if check.object and check.object.exists is False:
            continue
        for where, text in list_references(check):
            if not case.exists(text):
                place = ("spec", "expect", "checks", i, *where)
                known = case.names()
                message = f"'{text}' is neither an object of {case.scenario.spec.app.name} nor created by a fault"
                yield Problem(
                    place, message, text, fix=did_you_mean(text, known), edits=fix_reference(place, text, known)
                )
