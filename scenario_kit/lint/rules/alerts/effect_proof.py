"""SK129: missing proof that a fault takes effect or is gone, or a missing undo."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scenario_kit.lint.context.catalog_context import FaultCase, Rendering
from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.lint.framework.rule import Problem, register_check, report_once
from scenario_kit.lint.rules.alerts.object_values.field_domains import list_names
from scenario_kit.lint.rules.alerts.object_values.verdict import explain_healthy_object
from scenario_kit.lint.rules.alerts.tautological_checks import repeats_event, repeats_field, repeats_query
from scenario_kit.lint.simulation.stages import build_stage
from scenario_kit.model import App, Change, Check, Fault, Object
from scenario_kit.model.authored.change import get_operation_type
from scenario_kit.model.authored.check import ObjectCheck
from scenario_kit.model.chaos.kinds import GROUP
from scenario_kit.render.objects.lookup import look_up


@register_check("SK129", "Fault")
@report_once("message")
def check_proof(case: FaultCase) -> Iterator[Problem]:
    if not case.fault.undone:
        yield Problem((), "the fault has no `undone` checks that show when it is gone", expected="at least one check")
    ran = [i for i, change in enumerate(case.fault.changes) if get_operation_type(change).runs_command]
    if ran and not case.fault.undo:
        message = "the effect of a command is not undone: the fault has no `undo`"
        yield Problem(
            ("changes", ran[0]), message, expected="changes in `undo`", fix="add the inverse command to `undo`"
        )
    for rendering, fault in case.list_rendered():
        for part, message in _list_unproven(rendering, fault):
            if part != "undone" or case.fault.undone:
                yield Problem((part,), message)


@register_check("SK129", "Scenario")
def check_proof_of_use(case: LintContext) -> Iterator[Problem]:
    for place, use, fault in case.list_rendered():
        for _, message in _find_unproven(fault):
            yield Problem(place, f"fault '{use.name}': {message}")


def _list_unproven(rendering: Rendering, fault: Fault) -> Iterator[tuple[str, str]]:
    yield from _find_unproven(fault)
    broken = build_stage(("changes",), rendering.app, rendering.objects, fault.changes).after
    checks = [check.object for check in fault.undone]
    if all(check is not None and _holds_broken(check, broken, rendering.app) for check in checks) and checks:
        yield "undone", "every check of `undone` holds while the fault is in force, so none shows that it is gone"


def _holds_broken(check: ObjectCheck, broken: Sequence[Object], app: App) -> bool:
    """Return whether a check holds on the objects with the fault's changes; False if only a cluster can tell."""
    if list_names(check.path)[:1] == ("status",) or check.ref.namespace not in ("app", *app.namespaces):
        return False
    try:
        return bool(explain_healthy_object(check, look_up(broken, check.ref, app.namespace)))
    except ValueError:
        return False  # SK117


def _find_unproven(fault: Fault) -> Iterator[tuple[str, str]]:
    """Yield each part of a rendered fault that proves nothing, with the reason."""
    if reported := describe_repetition(fault.effect, fault.changes):
        yield "effect", f"`effect` only repeats what was written: {reported}"
    if not fault.undone:
        yield "undone", f"for target {fault.target}, `undone` has no check that shows that the fault is gone"


def describe_repetition(checks: Sequence[Check], changes: Sequence[Change]) -> str:
    """Describe what checks read if all of them only read what the changes wrote; empty if one does not."""
    own = {change.operation.about(None) for change in changes}
    evicts = any(change.operation.evicts for change in changes)
    looked = [_find_written_back(check, own, evicts=evicts) for check in checks]
    return "" if "" in looked else ", ".join(looked)


def _find_written_back(check: Check, own: set[tuple[str, str] | None], *, evicts: bool) -> str:
    """Describe what a check reads if it only reads what was written; empty if it shows a consequence.

    With ``evicts``, an event `Killing` is a consequence: an eviction may be rejected.
    """
    if check.object and check.object.ref.bare in own:
        claimed = check.object.ref.group == GROUP  # AllInjected is a claim, not an effect
        if claimed or repeats_field(check.object.path):
            return f"{check.object.path or 'the whole'} of {check.object.ref}"
    if check.query and repeats_query(check.query.expr):
        return check.query.expr
    if check.event and repeats_event(check.event.reason) and not (evicts and check.event.reason == "Killing"):
        return f"the event {check.event.reason} of {check.event.entity}"
    return ""
