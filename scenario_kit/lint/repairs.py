"""SK428, SK434: what repairs put back, compared with what the faults change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from scenario_kit.judge.collateral_changes import Write, altered, selected
from scenario_kit.lint.catalog_context import FaultCase
from scenario_kit.lint.lint_context import LintContext
from scenario_kit.lint.rule import Problem, also, rule
from scenario_kit.lint.simulation import staged
from scenario_kit.model import App, Change, Entity, Fault, Object
from scenario_kit.model.difference import at, paths
from scenario_kit.model.involved import involved
from scenario_kit.model.reference import bare

#: So many differences are told one by one.
_TOLD = 3


@rule(
    "SK434",
    why="whoever follows it ends the incident, and begins another one that no alert tells of yet",
    bad="changes: [{patch: {target: Service/cart, …}}, {setFlag: {flag: paymentFailure, variant: 100%}}]",
    good="changes: [{patch: {target: Service/cart, …}}]   # only what the fault changed",
    fix="leave that change out; an operator puts back what is broken, and may work around it where the incident is",
)
def collateral(case: LintContext) -> Iterator[Problem]:
    """A solution changes what no fault touched."""
    spec = case.scenario.spec
    if case.app is None or case.objects is None:
        return
    changes = [c for use in spec.faults if use.name in case.faults for c in case.faults[use.name].changes]
    broken = staged((), case.app, case.objects, changes).after
    parts = involved(case.faults.values(), spec.expect, spec.ground_truth.propagation)
    for i, solution in enumerate(spec.solutions):
        told = _altered(case.app, case.objects, broken, solution.changes, parts)
        if told and not _deselects(case.app, case.objects, broken, solution.changes):
            message = f"solution '{solution.name}' also changes {'; '.join(told[:_TOLD])}"
            yield Problem(("spec", "solutions", i, "changes"), message, expected="the healthy app, but for the faults")


@also("SK434", "Fault")
def collateral_of_type(case: FaultCase) -> Iterator[Problem]:
    """A solution changes what no fault touched."""
    told: dict[int, str] = {}
    for rendering in case.renderings:
        fault = rendering.fault
        if fault is None:
            continue
        broken = staged((), rendering.app, rendering.objects, fault.changes).after
        parts = {"/".join(bare(text)) for text in (fault.target, *fault.callers, *(e.ref for e in fault.entities))}
        for i, solution in enumerate(fault.solutions):
            for says in _altered(rendering.app, rendering.objects, broken, solution.changes, parts):
                told.setdefault(i, f"solution '{solution.name}' also changes {says}")
    for i, message in told.items():
        yield Problem(("solutions", i), message)


def _altered(
    app: App, before: Sequence[Object], broken: Sequence[Object], changes: Sequence[Change], parts: Iterable[str]
) -> list[str]:
    """What differs from the app as it was once a solution is carried out, and was not changed by a fault."""
    now = staged((), app, tuple(broken), changes).after
    return altered(app, before, now, _writes(before, broken), set(parts))


def _deselects(app: App, before: Sequence[Object], broken: Sequence[Object], changes: Sequence[Change]) -> bool:
    """Whether a Service selects nothing any more, which SK111 tells."""
    now = staged((), app, tuple(broken), changes).after
    served, left = (
        {o["metadata"]["name"] for o in objects if o["kind"] == "Service" and selected(o, objects)}
        for objects in (before, now)
    )
    return not served <= left


def _writes(before: Iterable[Object], broken: Iterable[Object]) -> Iterator[Write]:
    was, is_ = ({(o["kind"], o["metadata"]["name"]): o for o in objects} for objects in (before, broken))
    for name in {**was, **is_}:
        if was.get(name) != is_.get(name):
            yield Write(was.get(name), is_.get(name))


@rule(
    "SK428",
    why="a workaround ends the incident whatever is labelled, so a trial with it proves no label",
    bad="an annotation of Deployment/cart as Cause, with more memory for Deployment/cart as its `fix`",
    good="a `fix` that takes back what the fault wrote at that object",
    fix="let the `fix` of the entity put back what the fault changed there; a workaround belongs under `solutions`",
    about=("Fault",),
)
def unrepaired(case: FaultCase) -> Iterator[Problem]:
    """The fix of a cause leaves in place what the fault changed there."""
    told: dict[int, Problem] = {}
    for rendering in case.renderings:
        if rendering.fault is not None:
            for i, problem in _unrepaired(rendering.app, rendering.objects, rendering.fault, ("entities",)):
                told.setdefault(i, problem)
    yield from told.values()


@also("SK428", "Scenario")
def unrepaired_in_scenario(case: LintContext) -> Iterator[Problem]:
    """The fix of a cause leaves in place what the fault changed there."""
    if case.app is None or case.objects is None:
        return
    for i, use in enumerate(case.scenario.spec.faults):
        if use.name in case.faults:
            for _, problem in _unrepaired(case.app, case.objects, case.faults[use.name], ()):
                yield problem._replace(place=("spec", "faults", i, "type"))


def _unrepaired(
    app: App, objects: tuple[Object, ...], fault: Fault, place: tuple[str, ...]
) -> Iterator[tuple[int, Problem]]:
    """Causes that are as the fault left them after their own fix, by their position."""
    broken = staged((), app, objects, fault.changes).after
    before, after = _named(objects), _named(broken)
    for i, cause in enumerate(fault.causes):
        name = bare(cause.ref)
        written = name in before and name in after and before[name] != after[name]
        if not cause.fix or not written or _takes_back(cause, fault):
            continue  # what the app does not bring may be repaired by what it asks for; a trial shows that
        now = _named(staged((), app, broken, cause.fix).after)
        if name in now and not _restores(before[name], after[name], now[name]):
            message = f"the `fix` of '{cause.ref}' leaves what the fault changed there as it is"
            yield i, Problem(place, message, expected="the former value, or another one, in a field that it changed")


def _restores(before: Object, broken: Object, now: Object) -> bool:
    """Whether anything that the fault wrote is different again."""
    return any(at(now, path) != at(broken, path) for path in paths(before, broken))


def _takes_back(cause: Entity, fault: Fault) -> bool:
    """Whether the repair is more than a write of objects."""
    return any(c.run for c in fault.changes) or any(c.run or c.remove_fault or c.undo_rollout for c in cause.fix)


def _named(objects: Iterable[Object]) -> dict[tuple[str, str], Object]:
    return {(o["kind"], o["metadata"]["name"]): o for o in objects}
