"""SK413, SK414: how an operator can repair a fault."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from scenario_kit.lint.context.catalog_context import FaultCase
from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.lint.framework.rule import Problem, register_check
from scenario_kit.lint.simulation.field_diff import is_outside_app
from scenario_kit.load.yaml.edit import Drop, Edit, Put
from scenario_kit.model import App, Change, Entity, Fault, Object
from scenario_kit.model.authored.change import get_operation_type
from scenario_kit.model.authored.scenario import LABELLED
from scenario_kit.model.json_document import Place


@register_check("SK413")
def check_undoing(case: LintContext) -> Iterator[Problem]:
    if case.app is None or case.objects is None:
        return
    for i, solution in enumerate(case.scenario.spec.solutions):
        names = {change.operation.fault for change in solution.changes if change.operation.fault}
        faults = [case.faults[name] for name in names if name in case.faults]
        if not _has_only_removals(solution.changes) or not faults:
            continue
        if any(_is_new_object(fault, case.objects, case.app) for fault in faults):
            continue
        place = ("spec", "solutions", i, "changes")
        message = f"solution '{solution.name}' only undoes the injection"
        own = faults[0].solutions if len(faults) == 1 else ()
        fix = f"use the changes of `{own[0].name}` of fault '{faults[0].name}'" if own else ""
        one = len(own) == 1 and not case.has_generated_cause(faults[0].name)
        edits = _build_rewrite(place, own[0].changes, len(solution.changes)) if one else ()
        yield Problem(place, message, "removeFault", "what an operator would do", fix, edits=edits)


@register_check("SK413", "Fault")
def check_undoing_of_type(case: FaultCase) -> Iterator[Problem]:
    """Report a solution that merely undoes the injection."""
    for i, solution in enumerate(case.fault.solutions):
        changes = solution.get("changes") if isinstance(solution, Mapping) else None
        if (
            not isinstance(changes, list)
            or not changes
            or not all(get_operation_type(change).removes_fault for change in changes)
        ):
            continue
        if not any(_is_new_object(fault, r.objects, r.app) for r, fault in case.list_rendered()):
            message = f"solution '{solution.get('name', i)}' only undoes the injection"
            yield Problem(("solutions", i, "changes"), message, "removeFault", "what an operator would do")


def _has_only_removals(changes: Sequence[Change]) -> bool:
    return bool(changes) and all(change.operation.fault for change in changes)


def _is_new_object(fault: Fault, objects: Sequence[Object], app: App) -> bool:
    """Return whether it changes objects outside of the app, whose former state only receipts record."""
    return any(is_outside_app(change, objects, app) for change in fault.changes)


def _build_rewrite(place: Place, changes: Sequence[Change], former: int) -> tuple[Edit, ...]:
    """Return edits that replace changes; none if the new ones only undo the injection as well."""
    if _has_only_removals(changes):
        return ()
    puts = (Put((*place, i), change.to_json()) for i, change in enumerate(changes))
    return (*puts, *(Drop((*place, i)) for i in reversed(range(len(changes), former))))


@register_check("SK414", "Fault")
def check_undeclared(case: FaultCase) -> Iterator[Problem]:
    fault = case.fault
    repaired = fault.solutions or any(isinstance(e, Mapping) and e.get("fix") for e in fault.entities)
    if "mitigation" not in case.document:
        yield Problem((), "the fault does not declare how it can be repaired", expected="`mitigation`")
    elif fault.mitigation == "None" and fault.solutions:
        yield Problem(
            ("mitigation",), "`mitigation: None` declares that there is no repair, but there are solutions", "None"
        )
    elif fault.mitigation != "None" and not repaired:
        message = (
            f"`mitigation: {fault.mitigation}` declares a repair, but there is no solution and no `fix` of a cause"
        )
        yield Problem(("mitigation",), message, fault.mitigation)


@register_check("SK414", "Scenario")
def check_contradicted(case: LintContext) -> Iterator[Problem]:
    roles = {use.name: use.role for use in case.scenario.spec.faults}
    yield from _check_unprovable(case)
    yield from _check_unshown(case)
    for i, solution in enumerate(case.scenario.spec.solutions):
        for j, name in enumerate(solution.fixes):
            fault = case.faults.get(name)
            if fault is None or fault.mitigation != "None" or roles.get(name) not in LABELLED:
                continue
            if _has_only_removals(solution.changes):
                continue  # SK413
            message = f"solution '{solution.name}' fixes '{name}', but its type declares that it cannot be repaired"
            fix = "remove the solution, or use another fault"
            yield Problem(("spec", "solutions", i, "fixes", j), message, name, "a fault with a mitigation", fix)


def _check_unprovable(case: LintContext) -> Iterator[Problem]:
    """Report causes that no trial can repair alone, because they have no `fix` or are not declared."""
    if case.scenario.spec.ground_truth.outcome != "Incident":
        return
    flags = case.app.flags if case.app else None
    for of_use, use, fault in case.list_rendered():
        if fault.visibility == "Hidden":  # then the workload represents the experiment
            continue
        place = (*of_use, "type")
        if not fault.causes:
            message = f"fault type '{fault.type}' names no object as its cause, so no trial repairs it alone"
            fix = "give the broken entity the role Cause in `entities` of the type, with its `fix`"
            yield Problem(place, message, expected="an entity of role Cause", fix=fix)
        if use.role not in LABELLED:
            continue
        for cause in fault.causes:
            writing = [c.operation for c in fault.changes if not c.operation.restarts]
            touched = {operation.about(flags) or fault.target.bare for operation in writing}
            others = sorted(f"{kind}/{name}" for kind, name in touched - {cause.ref.bare})
            if others and not _is_own_repair(cause):
                message = (
                    f"fault type '{fault.type}' also changes {others[0]}, but has no `fix` for '{cause.ref}' alone"
                )
                fix = "add `fix`, the changes that remove exactly this cause, to that entity of the type"
                yield Problem(place, message, expected="`fix` of the cause", fix=fix)


def _check_unshown(case: LintContext) -> Iterator[Problem]:
    """Report a declared persistence or mitigation that contradicts the solutions."""
    spec = case.scenario.spec
    if spec.ground_truth.outcome != "Incident":
        return
    for of_use, use, fault in case.list_rendered():
        if use.role not in LABELLED:
            continue
        place = (*of_use, "type")
        own = [s.changes for s in spec.solutions if use.name in s.fixes]
        solutions = own if spec.solutions else [s.changes for s in fault.solutions]
        if fault.persistence == "Pod" and not any(_replaces_pods(c) for changes in solutions for c in changes):
            message = f"`persistence: Pod` of '{fault.type}' declares that restarts end it, but no solution restarts"
            fix = "add a solution that restarts the broken workload, or correct `persistence`"
            yield Problem(place, message, fault.persistence, "a solution with `restart`", fix)
        back = [c for c in fault.changes if c.operation.overwrites]
        if fault.mitigation == "None" and fault.persistence == "Object" and len(back) == len(fault.changes) > 0:
            message = f"`mitigation: None` of '{fault.type}' rules out a repair, but it only changes {use.target}"
            fix = "write `mitigation: Native`, and a solution that restores the object"
            yield Problem(place, message, "None", "Native", fix)
        if fault.mitigation == "Workaround" and _is_reversible(fault):
            message = f"`mitigation: Workaround` of '{fault.type}' rules out a repair, but it only changes objects"
            fix = "write `mitigation: Native`, and a solution that restores or deletes what the fault changed"
            yield Problem(place, message, "Workaround", "Native", fix)


def _is_reversible(fault: Fault) -> bool:
    """Return whether an operator can take back all that a fault did: it lasts, and consists of objects of the app."""
    if fault.visibility == "Hidden" or fault.scope != "Namespace" or fault.persistence not in ("Object", "Workload"):
        return False
    return bool(fault.changes) and not any(c.operation.runs_command for c in fault.changes)


def _replaces_pods(change: Change) -> bool:
    return change.operation.restarts or change.operation.deletes


def _is_own_repair(cause: Entity) -> bool:
    """Return whether a cause has a repair of its own; `removeFault` undoes the whole fault."""
    return bool(cause.fix) and not any(change.operation.fault for change in cause.fix)
