"""SK129: whether a fault is proven to bite, proven to be gone, and can be taken back."""

from __future__ import annotations

from collections.abc import Iterator

from scenario_kit.lint.context.catalog_context import FaultCase
from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.lint.framework.rule import Problem, register_check
from scenario_kit.lint.rules.alerts.tautological_checks import repeats_event, repeats_field, repeats_query
from scenario_kit.model import Check, Fault, Reference
from scenario_kit.model.authored.change import get_operation_type
from scenario_kit.model.chaos.kinds import GROUP
from scenario_kit.model.kubernetes.reference import strip_reference


@register_check("SK129", "Fault")
def check_proof(case: FaultCase) -> Iterator[Problem]:
    if not case.fault.undone:
        yield Problem((), "nothing proves that the fault is gone: it has no `undone`", expected="at least one check")
    ran = [i for i, change in enumerate(case.fault.changes) if get_operation_type(change).runs_command]
    if ran and not case.fault.undo:
        message = "what a command did is not taken back: the fault has no `undo`"
        yield Problem(
            ("changes", ran[0]), message, expected="changes in `undo`", fix="add the inverse command to `undo`"
        )
    reported = set()
    for rendering in case.renderings:
        for part, message in _find_unproven(rendering.fault) if rendering.fault else ():
            if message not in reported and (part != "undone" or case.fault.undone):
                reported.add(message)
                yield Problem((part,), message)


@register_check("SK129", "Scenario")
def check_proof_of_use(case: LintContext) -> Iterator[Problem]:
    for i, use in enumerate(case.scenario.spec.faults):
        if use.name in case.faults:
            for _, message in _find_unproven(case.faults[use.name]):
                yield Problem(("spec", "faults", i), f"fault '{use.name}': {message}")


def _find_unproven(fault: Fault) -> Iterator[tuple[str, str]]:
    """Find which part of a rendered fault proves nothing, and why; without any effect it would not be rendered."""
    if reported := _find_repeated(fault):
        yield "effect", f"`effect` only repeats what was written: {reported}"
    if not fault.undone:
        yield "undone", f"nothing proves that it is gone from {fault.target}: `undone` is empty there"


def _find_repeated(fault: Fault) -> str:
    """Find what is all that the effect looks at, where it only shows what was written; empty if it sees more."""
    own = {change.operation.about(None) for change in fault.changes}
    evicts = any(change.operation.evicts for change in fault.changes)
    looked = [_find_written_back(check, own, evicts=evicts) for check in fault.effect]
    return "" if "" in looked else ", ".join(looked)


def _find_written_back(check: Check, own: set[tuple[str, str] | None], *, evicts: bool) -> str:
    """Find what a check reads, where that is what was written; empty where it shows what came of it.

    An eviction may be refused (``evicts``): that a pod was killed then shows that it was not.
    """
    if check.object and strip_reference(check.object.ref) in own:
        claimed = Reference.parse(check.object.ref).group == GROUP  # AllInjected is a claim, not an effect
        if claimed or repeats_field(check.object.path):
            return f"{check.object.path or 'the whole'} of {check.object.ref}"
    if check.query and repeats_query(check.query.expr):
        return check.query.expr
    if check.event and repeats_event(check.event.reason) and not (evicts and check.event.reason == "Killing"):
        return f"the event {check.event.reason} of {check.event.entity}"
    return ""
