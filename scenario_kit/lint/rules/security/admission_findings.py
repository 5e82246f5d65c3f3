"""Where in a file stands what ``admission`` refuses: one judgement, put into the words and places of lint."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from scenario_kit.admission import NODE, AdmissionBounds, Breach, derive_bounds, find_breaches
from scenario_kit.admission.bounds import collect_declared
from scenario_kit.admission.judgement import collect_created, find_aim, judge_change
from scenario_kit.lint.context.catalog_context import AppCase, FaultCase
from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.lint.context.source_location import Judged, SourceSite, find_site
from scenario_kit.lint.context.wrong_namespace import find_meant
from scenario_kit.lint.framework.rule import Problem
from scenario_kit.lint.simulation.place import Place
from scenario_kit.lint.simulation.stages import Simulation, WrittenObject, list_written, split_steps
from scenario_kit.model import Object, PolicyException
from scenario_kit.model.kubernetes.reference import symbolise_namespace
from scenario_kit.render.objects.lookup import format_reference
from scenario_kit.schema.writable import CLUSTER, EXCEPTIONS


class Refused(NamedTuple):
    """A breach, who commits it, and where that stands."""

    stage: Simulation
    subject: str
    breach: Breach
    site: SourceSite


class Bounded(NamedTuple):
    """One change of a stage, where it stands among them, and what bounds it; or the whole of an app."""

    stage: Simulation
    bounds: AdmissionBounds
    ordinal: int = 0


@lru_cache(maxsize=4)  # several rules ask about one file after the other
def list_refused(case: Judged) -> tuple[Refused, ...]:
    """List everything in a file that is not admitted, each once."""
    reported: set[tuple[object, ...]] = set()
    found: list[Refused] = []
    for bounded in _bound_changes(case):
        for each in (*_check_changes(case, bounded), *_check_objects(case, bounded)):
            key = (each.breach.code, each.site, each.subject, each.breach.note)
            if key not in reported:
                reported.add(key)
                found.append(each)
    return tuple(found)


def _bound_changes(case: Judged) -> Iterator[Bounded]:
    if isinstance(case, AppCase):
        for stage in case.stages:
            needs = set(case.declared(stage))
            # Whoever has the node has its ports.
            allowed = frozenset(needs | ({CLUSTER} if NODE in needs else set()))
            yield Bounded(stage, derive_bounds(stage.app, stage.app.namespace, (), stage.after, allowed, of_app=True,
                                               ready=stage.after))  # fmt: skip
    elif isinstance(case, FaultCase):
        said = {*case.fault.requires, *(e.allow for e in case.fault.exceptions)}
        yield from _bound_fault(case, frozenset(said | ({CLUSTER} if case.fault.scope == CLUSTER else set())))
    else:
        yield from _bound_scenario(case)


def _bound_fault(case: FaultCase, allowed: frozenset[str]) -> Iterator[Bounded]:
    base: tuple[Object, ...] = ()
    created: list[Object] = []
    for stage in case.stages:
        if stage.place == ("changes",):
            base, created = stage.before, collect_created(stage.changes)
            yield from _bound_steps(stage, base, allowed, created, ())
        else:
            yield from _bound_steps(stage, base, allowed, (*created, *collect_created(stage.changes)), created)


def _bound_scenario(case: LintContext) -> Iterator[Bounded]:
    base, every = case.objects or (), tuple(o for stage in case.stages for o in collect_created(stage.changes))
    broken = [o for fault in case.faults.values() for o in collect_created(fault.changes)]
    for stage in case.stages:
        faults, ready = list(case.faults.values()), broken
        if stage.place[:2] == ("spec", "faults"):
            use = case.scenario.spec.faults[int(stage.place[2])]
            faults, ready = [case.faults[use.name]], []
        yield from _bound_steps(stage, base, collect_declared(faults), every, ready)


def _bound_steps(
    stage: Simulation,
    base: tuple[Object, ...],
    allowed: frozenset[str],
    every: Iterable[Object],
    ready: Iterable[Object],
) -> Iterator[Bounded]:
    """Bound each change of a stage by what is there when it is made; ``ready`` is there before all of them."""
    known, there = tuple(every), list(ready)
    for i, step in split_steps(stage):
        there += collect_created(step.changes)
        bounds = derive_bounds(stage.app, stage.app.namespace, base, known, allowed, ready=there)
        yield Bounded(step, bounds, i)


def _check_changes(case: Judged, bounded: Bounded) -> Iterator[Refused]:
    stage = bounded.stage
    for change in stage.changes:
        breach = judge_change(change, bounded.bounds)
        aim = find_aim(change, bounded.bounds)
        elsewhere = isinstance(case, LintContext) and change.target and find_meant(case, change.target)
        if breach is None or aim is None or elsewhere:  # SK121
            continue
        where = symbolise_namespace(aim.namespace, stage.app.namespace)
        subject = f"{'' if where == 'app' else f'{where}/'}{aim.kind}/{aim.name}"
        place: Place = stage.place
        if stage.place[-1:] == ("changes",):
            place = (*stage.place, bounded.ordinal, change.operation.keyword)
        known = {**case.positions.raw, **case.positions.texts}
        yield Refused(stage, subject, breach, SourceSite(place if place in known or not known else stage.place))


def _check_objects(case: Judged, bounded: Bounded) -> Iterator[Refused]:
    for one in list_written(bounded.stage):
        for breach in find_breaches(one.object, one.was, bounded.bounds):
            site = find_site(case, bounded.stage, breach.keys, breach.value) or _locate_type(one)
            yield Refused(bounded.stage, format_reference(one.object), breach, site)


def _locate_type(one: WrittenObject) -> SourceSite:
    """Locate the fault itself: no parameter is to blame."""
    return SourceSite((*one.stage.place[:3], "type"))


def list_needed(case: FaultCase) -> set[str]:
    """List what the changes of a fault need to have declared."""
    return _collect_needs(_bound_fault(case, frozenset()))


def list_needed_by_use(case: LintContext, index: int) -> set[str]:
    """Return what the changes of a scenario's fault need to have declared, as it is used there."""
    own = [each for each in _bound_scenario(case) if each.stage.place[:3] == ("spec", "faults", index)]
    return _collect_needs(each._replace(bounds=replace(each.bounds, declared=frozenset())) for each in own)


def _collect_needs(bounded: Iterable[Bounded]) -> set[str]:
    found: set[str] = set()
    for stage, bounds, _ in bounded:
        for one in list_written(stage):
            found |= {breach.declared for breach in find_breaches(one.object, one.was, bounds)}
        for change in stage.changes:
            if (breach := judge_change(change, bounds)) is not None:
                found.add(breach.declared)
    return found


def report_problems(case: Judged, code: str) -> Iterator[Problem]:
    """Report what is refused under a code, as a rule yields it."""
    for each in list_refused(case):
        if each.breach.code == code:
            yield _build_problem(case, each)


def _build_problem(case: Judged, each: Refused) -> Problem:
    breach, site = each.breach, each.site
    expected, fix = breach.expected, ""
    if need := breach.declared:
        declaration = format_declaration(case, need)
        fix = f"do without it, or {declaration}"
        if isinstance(case, FaultCase):
            expected = declaration
    message = f"{each.subject} {breach.note}"
    return Problem(site.place, message, str(breach.value)[:200], expected, fix, position=site.position)


def format_declaration(case: Judged, need: str) -> str:
    """Format how the file would declare it."""
    if isinstance(case, AppCase):
        capability = "node-access" if need == CLUSTER else need
        return f"bring it with an option that says `x-requires: {{<value>: [{capability}]}}`"
    if not isinstance(case, FaultCase):
        return "let a fault do it that declares it"
    if need == CLUSTER:
        return "write `scope: Cluster`"
    if need in EXCEPTIONS:
        said = [*case.fault.exceptions, PolicyException(allow=need, because="…")]
        return f"write `exceptions: [{', '.join(f'{{allow: {e.allow}, because: {e.because}}}' for e in said)}]`"
    return f"write `requires: [{', '.join((*case.fault.requires, need))}]`"
