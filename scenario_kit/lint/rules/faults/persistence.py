"""SK435: what a fault says of its own end, compared with what its changes do."""

from __future__ import annotations

from collections.abc import Iterator

from scenario_kit.lint.context.catalog_context import FaultCase
from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.lint.framework.rule import Problem, register_check
from scenario_kit.model import Change, Fault, Reference
from scenario_kit.model.chaos.kinds import GROUP, ONE_SHOT, SCHEDULE

#: Kinds whose objects may end by themselves.
_ENDING = ("Job", "Pod")
#: Actions of experiments that are over once done.
_AT_ONCE = (*ONE_SHOT, "gc")
#: These write nothing that keeps a workload broken: a command may, which only a trial shows, and a cordon stays, but
#: pods run on elsewhere.
_PASSING = ("restart", "run", "drain", "cordon", "uncordon", "removeFault")


@register_check("SK435", "Fault")
def check_persistence(case: FaultCase) -> Iterator[Problem]:
    for rendering in case.renderings:
        if rendering.fault is not None and (reported := _find_contradiction(rendering.fault)):
            yield Problem(("persistence",), reported, case.fault.persistence)
            return


@register_check("SK435", "Scenario")
def check_persistence_in_scenario(case: LintContext) -> Iterator[Problem]:
    for i, use in enumerate(case.scenario.spec.faults):
        fault = case.faults.get(use.name)
        if fault is not None and (reported := _find_contradiction(fault)):
            yield Problem(("spec", "faults", i, "type"), f"fault type '{fault.type}': {reported}", fault.persistence)


def _find_contradiction(fault: Fault) -> str:
    """Find why the claim cannot be true; empty where it may be."""
    says = f"`persistence: {fault.persistence}`"
    if fault.persistence in ("Object", "Workload"):
        return ""  # SK128, where it does not last
    for change in fault.changes:
        if _lasts(change, fault.persistence):
            return f"{says} says that it ends without a repair, but what `{change.operation}` changes stays changed"
    return ""


def _lasts(change: Change, persistence: str) -> bool:
    """Check whether what a change does outlasts the way in which the fault is said to end."""
    if change.operation in _PASSING:
        return False
    if change.delete is not None:
        return Reference.parse(change.delete.target).kind != "Pod"
    body = change.chaos or change.create or change.apply
    if body is None:
        return True
    if _is_experiment(body):
        spec = body.get("spec") or {}
        if spec.get("action") in _AT_ONCE or persistence == "Pod":  # not bound to pods that come later
            return False
        return not (persistence == "Expires" and (spec.get("duration") or body.get("kind") == SCHEDULE))
    spec = body.get("spec") or {}
    inner = (spec.get("template") or {}).get("spec") or {}
    bounded = spec.get("activeDeadlineSeconds") or inner.get("activeDeadlineSeconds")
    return not (body.get("kind") in _ENDING and persistence in ("Expires", "SelfHeals") and bounded)


def _is_experiment(body: object) -> bool:
    return isinstance(body, dict) and str(body.get("apiVersion", "")).partition("/")[0] == GROUP
