"""Where in a file stands what ``admission`` refuses: one judgement, put into the words and places of lint."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from scenario_kit.admission import NODE, AdmissionBounds, Breach, bounds_of, breaches
from scenario_kit.admission.bounds import declared
from scenario_kit.admission.judgement import aim_of, judge_change, made
from scenario_kit.lint.catalog_context import AppCase, FaultCase
from scenario_kit.lint.lint_context import LintContext
from scenario_kit.lint.place import Place
from scenario_kit.lint.rule import Problem
from scenario_kit.lint.simulation import Simulation, WrittenObject, written
from scenario_kit.lint.source_location import Judged, SourceSite, site_of
from scenario_kit.lint.wrong_namespace import meant
from scenario_kit.model import Object, PolicyException
from scenario_kit.model.reference import symbolic_name
from scenario_kit.render.objects import spelled
from scenario_kit.schema.writable import CLUSTER, EXCEPTIONS


class Refused(NamedTuple):
    """A breach, who commits it, and where that stands."""

    stage: Simulation
    subject: str
    breach: Breach
    site: SourceSite


class Bounded(NamedTuple):
    """A stage and what bounds it."""

    stage: Simulation
    bounds: AdmissionBounds


@lru_cache(maxsize=4)  # several rules ask about one file after the other
def refused(case: Judged) -> tuple[Refused, ...]:
    """Everything in a file that is not admitted, each once."""
    told: set[tuple[object, ...]] = set()
    found: list[Refused] = []
    for bounded in _bounded(case):
        for each in (*_changes(case, bounded), *_objects(case, bounded)):
            key = (each.breach.code, each.site, each.subject, each.breach.note)
            if key not in told:
                told.add(key)
                found.append(each)
    return tuple(found)


def _bounded(case: Judged) -> Iterator[Bounded]:
    if isinstance(case, AppCase):
        for stage in case.stages:
            needs = set(case.declared(stage))
            # Whoever has the node has its ports.
            allowed = frozenset(needs | ({CLUSTER} if NODE in needs else set()))
            yield Bounded(stage, _bounds(stage, (), allowed, stage.after))
    elif isinstance(case, FaultCase):
        said = {*case.fault.requires, *(e.allow for e in case.fault.exceptions)}
        yield from _of_fault(case, frozenset(said | ({CLUSTER} if case.fault.scope == CLUSTER else set())))
    else:
        yield from _of_scenario(case)


def _of_fault(case: FaultCase, allowed: frozenset[str]) -> Iterator[Bounded]:
    base: tuple[Object, ...] = ()
    created: list[Object] = []
    for stage in case.stages:
        if stage.place == ("changes",):
            base, created = stage.before, made(stage.changes)
        yield Bounded(stage, _bounds(stage, base, allowed, (*created, *made(stage.changes))))


def _of_scenario(case: LintContext) -> Iterator[Bounded]:
    base, every = case.objects or (), tuple(o for stage in case.stages for o in made(stage.changes))
    for stage in case.stages:
        faults = list(case.faults.values())
        if stage.place[:2] == ("spec", "faults"):
            use = case.scenario.spec.faults[int(stage.place[2])]
            faults = [case.faults[use.name]]
        yield Bounded(stage, _bounds(stage, base, declared(faults), every))


def _bounds(
    stage: Simulation, base: tuple[Object, ...], allowed: frozenset[str], every: tuple[Object, ...]
) -> AdmissionBounds:
    return bounds_of(stage.app, stage.app.namespace, base, every, allowed, of_app=not stage.changes and not base)


def _changes(case: Judged, bounded: Bounded) -> Iterator[Refused]:
    stage = bounded.stage
    for i, change in enumerate(stage.changes):
        breach = judge_change(change, bounded.bounds)
        aim = aim_of(change, bounded.bounds)
        if (
            breach is None or aim is None or (isinstance(case, LintContext) and meant(case, change.target or ""))
        ):  # SK121
            continue
        where = symbolic_name(aim.namespace, stage.app.namespace)
        subject = f"{'' if where == 'app' else f'{where}/'}{aim.kind}/{aim.name}"
        place: Place = (*stage.place, i, change.operation) if stage.place[-1:] == ("changes",) else stage.place
        known = {**case.positions.raw, **case.positions.texts}
        yield Refused(stage, subject, breach, SourceSite(place if place in known or not known else stage.place))


def _objects(case: Judged, bounded: Bounded) -> Iterator[Refused]:
    for one in written(bounded.stage):
        for breach in breaches(one.object, one.was, bounded.bounds):
            site = site_of(case, bounded.stage, breach.keys, breach.value) or _of_type(one)
            yield Refused(bounded.stage, spelled(one.object), breach, site)


def _of_type(one: WrittenObject) -> SourceSite:
    """No parameter is to blame: the fault itself is."""
    return SourceSite((*one.stage.place[:3], "type"))


def needed(case: FaultCase) -> set[str]:
    """What the changes of a fault need to have declared."""
    return _collect_needs(_of_fault(case, frozenset()))


def needed_by_use(case: LintContext, index: int) -> set[str]:
    """Return what the changes of a scenario's fault need to have declared, as it is used there."""
    base, every = case.objects or (), tuple(o for stage in case.stages for o in made(stage.changes))
    place = ("spec", "faults", index)
    stages = [stage for stage in case.stages if stage.place[:3] == place]
    return _collect_needs(Bounded(stage, _bounds(stage, base, frozenset(), every)) for stage in stages)


def _collect_needs(bounded: Iterable[Bounded]) -> set[str]:
    found: set[str] = set()
    for stage, bounds in bounded:
        for one in written(stage):
            found |= {breach.declared for breach in breaches(one.object, one.was, bounds)}
        for change in stage.changes:
            if (breach := judge_change(change, bounds)) is not None:
                found.add(breach.declared)
    return found


def problems(case: Judged, code: str) -> Iterator[Problem]:
    """What is refused under a code, as a rule yields it."""
    for each in refused(case):
        if each.breach.code == code:
            yield _problem(case, each)


def _problem(case: Judged, each: Refused) -> Problem:
    breach, site = each.breach, each.site
    expected, fix = breach.expected, ""
    if need := breach.declared:
        declaration = declaration_of(case, need)
        fix = f"do without it, or {declaration}"
        if isinstance(case, FaultCase):
            expected = declaration
    message = f"{each.subject} {breach.note}"
    return Problem(site.place, message, str(breach.value)[:200], expected, fix, position=site.position)


def declaration_of(case: Judged, need: str) -> str:
    """How the file would declare it."""
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
