"""SK150: chaos stays inside of the app."""

from __future__ import annotations

from collections.abc import Iterator

from scenario_kit.changes import reach
from scenario_kit.lint.context.catalog_context import FaultCase
from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.lint.context.source_location import find_site
from scenario_kit.lint.framework.rule import Problem, register_check, report_once
from scenario_kit.model.chaos.reach import is_chaos, list_declared, list_outside_targets
from scenario_kit.model.kubernetes.reference import resolve_homes
from scenario_kit.render.objects.lookup import format_reference


@register_check("SK150", "Scenario", "Fault")
@report_once("place", "observed")  # messages have names that are drawn for each rendering
def check_reach(case: LintContext | FaultCase) -> Iterator[Problem]:
    for one in case.written:
        if not is_chaos(one.object):
            continue
        app, name = one.stage.app, format_reference(one.object)
        own = resolve_homes(app.namespace, app.namespaces) | list_declared(_requires(case))
        known = {(s.keys, s.value) for s in list_outside_targets(one.was, own, app.namespace)} if one.was else set()
        for stray in list_outside_targets(one.object, own, app.namespace):
            if (stray.keys, stray.value) not in known and "{{" not in stray.value:  # or it is not rendered yet
                site = find_site(case, one.stage, stray.keys, stray.value)
                place, position = (site.place, site.position) if site else (one.stage.place, None)
                observed = f"{reach.format_path(stray)}: {stray.value}"
                expected = "pods in the app's own namespaces"
                yield Problem(place, reach.describe_outside_target(name, stray), observed, expected, position=position)
    for stage in case.stages:
        for change in stage.changes:
            if reach.rewrites_spec(change):
                message = f"the patch of {change.target} writes the spec of a chaos object"
                yield Problem(stage.place, message, "a patch of `spec`", "another object in its place")


def _requires(case: LintContext | FaultCase) -> Iterator[str]:
    faults = case.faults.values() if isinstance(case, LintContext) else (case.fault,)
    return (need for fault in faults for need in fault.requires)
