"""Report what ``admission`` rejects in a file, with its place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Final, NamedTuple

from scenario_kit.admission import NODE, AdmissionBounds, Breach, derive_bounds, find_breaches
from scenario_kit.admission.amounts import check_totals
from scenario_kit.admission.bounds import collect_declared
from scenario_kit.admission.judgement import collect_created, find_aim, judge_change
from scenario_kit.admission.reads import check_reads, list_waits, name_subject
from scenario_kit.lint.context.catalog_context import AppCase, FaultCase
from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.lint.context.source_location import Judged, SourceSite, find_site
from scenario_kit.lint.context.wrong_namespace import find_intended
from scenario_kit.lint.framework.rule import Problem
from scenario_kit.lint.object_fields.kinds import find_kind_mistake
from scenario_kit.lint.simulation.stages import (
    Simulation,
    WrittenObject,
    build_stage,
    list_written_objects,
    split_steps,
)
from scenario_kit.model import Check, Object, PolicyException
from scenario_kit.model.json_document import Place
from scenario_kit.model.kubernetes.reference import make_reference, symbolise_namespace
from scenario_kit.render.objects.lookup import format_reference
from scenario_kit.schema.writable import CLUSTER, EXCEPTIONS

#: The code of kinds that no change or app may have.
_UNADMITTED_KIND: Final = "SK235"


class LocatedBreach(NamedTuple):
    """A breach, its subject, and its place."""

    stage: Simulation
    subject: str
    breach: Breach
    site: SourceSite


class BoundedStep(NamedTuple):
    """A change of a simulation, its position, and its bounds; or a whole app."""

    stage: Simulation
    bounds: AdmissionBounds
    ordinal: int = 0


@lru_cache(maxsize=4)  # several rules check each file
def list_breaches(case: Judged) -> tuple[LocatedBreach, ...]:
    """List all breaches in a file, each once."""
    found: dict[tuple[object, ...], LocatedBreach] = {}
    for each in _find_all(case):
        found.setdefault((each.breach.code, each.site, each.subject, each.breach.note), each)
    totals = () if any(each.breach.code == "SK226" for each in found.values()) else _check_totals(case)
    return (*found.values(), *totals)


def _find_all(case: Judged) -> Iterator[LocatedBreach]:
    """Find all breaches; those of a fault occur once for each app that it is rendered for."""
    for bounded in _bound_changes(case):
        yield from _check_changes(case, bounded)
        yield from _check_objects(case, bounded)
    yield from _check_reads(case)


def _bound_changes(case: Judged) -> Iterator[BoundedStep]:
    if isinstance(case, AppCase):
        for stage in case.stages:
            needs = set(case.declared(stage))
            # Access to a node includes its ports.
            allowed = frozenset(needs | ({CLUSTER} if NODE in needs else set()))
            yield BoundedStep(
                stage,
                derive_bounds(stage.app, stage.app.namespace, (), stage.after, allowed, of_app=True, ready=stage.after),
            )
    elif isinstance(case, FaultCase):
        declared = {*case.fault.requires, *(e.allow for e in case.fault.exceptions)}
        yield from _bound_fault(case, frozenset(declared | ({CLUSTER} if case.fault.scope == CLUSTER else set())))
    else:
        yield from _bound_scenario(case)


def _bound_fault(case: FaultCase, allowed: frozenset[str]) -> Iterator[BoundedStep]:
    base: tuple[Object, ...] = ()
    created: list[Object] = []
    for stage in case.stages:
        if stage.place == ("changes",):
            base, created = stage.before, collect_created(stage.changes)
            yield from _bound_steps(stage, base, allowed, created, ())
        else:
            yield from _bound_steps(stage, base, allowed, (*created, *collect_created(stage.changes)), created)


def _bound_scenario(case: LintContext) -> Iterator[BoundedStep]:
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
) -> Iterator[BoundedStep]:
    """Derive the bounds of each change from what exists when it is made; ``ready`` exists before all of them."""
    known, existing = tuple(every), list(ready)
    for i, step in split_steps(stage):
        existing += collect_created(step.changes)
        bounds = derive_bounds(stage.app, stage.app.namespace, base, known, allowed, ready=existing)
        yield BoundedStep(step, replace(bounds, state=step.after), i)


def _check_changes(case: Judged, bounded: BoundedStep) -> Iterator[LocatedBreach]:
    stage = bounded.stage
    for change in stage.changes:
        breach = judge_change(change, bounded.bounds)
        aim = find_aim(change, bounded.bounds)
        ref = change.operation.ref
        misplaced = isinstance(case, LintContext) and ref and find_intended(case, ref)
        if breach is None or misplaced:  # SK121
            continue
        where = "app" if aim is None else symbolise_namespace(aim.namespace, stage.app.namespace)
        subject = "the command" if aim is None else f"{'' if where == 'app' else f'{where}/'}{aim.kind}/{aim.name}"
        place: Place = stage.place
        if stage.place[-1:] == ("changes",):
            place = (*stage.place, bounded.ordinal, change.operation.keyword)
        known = {**case.positions.raw, **case.positions.texts}
        yield LocatedBreach(stage, subject, breach, SourceSite(place if place in known or not known else stage.place))


def _check_objects(case: Judged, bounded: BoundedStep) -> Iterator[LocatedBreach]:
    for one in list_written_objects(bounded.stage):
        for breach in find_breaches(one.object, one.was, bounded.bounds):
            if breach.code == _UNADMITTED_KIND and _is_unserved(case, bounded.stage, one.object):
                continue
            site = find_site(case, bounded.stage, breach.keys, breach.value) or _locate_type(one)
            yield LocatedBreach(bounded.stage, format_reference(one.object), breach, site)


def _is_unserved(case: Judged, stage: Simulation, obj: Object) -> bool:
    """Return whether the file makes an object of a version or a kind that no API server has, which SK143 reports."""
    if find_kind_mistake(obj) is None:
        return False
    made = (_identify_kind(each) for each in collect_created(stage.changes))
    return isinstance(case, AppCase) or _identify_kind(obj) in made


def _identify_kind(obj: Object) -> tuple[str, ...]:
    return str(obj.get("apiVersion", "")), str(obj["kind"]), str(obj["metadata"]["name"])


def _check_reads(case: Judged) -> Iterator[LocatedBreach]:
    """Check the objects that the file's own checks read."""
    for stage, place, check, bounds in _list_checks(case):
        written = [make_reference(o.object, stage.app.namespace) for o in list_written_objects(stage)]
        written += [ref for change in stage.changes if (ref := change.operation.ref)]
        for breach in check_reads(check, bounds, written):
            subject = name_subject(breach)
            known = {**case.positions.raw, **case.positions.texts}
            site = next(
                (p for p in ((*place, *breach.keys), place) if p in known), place[:1] if case.kind == "Fault" else place
            )
            yield LocatedBreach(stage, subject, breach, SourceSite(site))


def _list_checks(case: Judged) -> Iterator[tuple[Simulation, Place, Check, AdmissionBounds]]:
    """List the checks of a file, each with its place, and with the changes whose objects it may read."""
    if isinstance(case, AppCase):
        return
    for stage in case.stages:
        bounds = derive_bounds(stage.app, stage.app.namespace, stage.before, stage.after, ready=stage.after)
        for i, check in list_waits(stage.changes):
            exact = stage.place[-1:] == ("changes",)
            yield stage, (*stage.place, i, "until", "check") if exact else stage.place, check, bounds
    if isinstance(case, FaultCase):
        for rendering in case.renderings:
            if (fault := rendering.fault) is None:
                continue
            stage = build_stage(("effect",), rendering.app, rendering.objects, fault.changes)
            bounds = derive_bounds(stage.app, stage.app.namespace, stage.before, stage.after, ready=stage.after)
            for part, checks in (("effect", fault.effect), ("undone", fault.undone)):
                yield from ((stage, (part, i), check, bounds) for i, check in enumerate(checks))
    elif case.app is not None and case.objects is not None:
        changes = tuple(c for fault in case.faults.values() for c in fault.changes)
        stage = build_stage(("spec", "expect"), case.app, case.objects, changes)
        bounds = derive_bounds(stage.app, stage.app.namespace, stage.before, stage.after, ready=stage.after)
        for i, check in enumerate(case.scenario.spec.expect.checks):
            yield stage, ("spec", "expect", "checks", i), check, bounds


def _check_totals(case: Judged) -> Iterator[LocatedBreach]:
    """Check what changes request together, on top of the app; the first procedure that requests too much is enough."""
    if isinstance(case, AppCase):
        return
    before: tuple[Object, ...] = () if isinstance(case, FaultCase) else case.objects or ()
    for stage in case.stages:
        if isinstance(case, FaultCase) and stage.place == ("changes",):
            before = stage.before  # the app; what repairs it comes on top of the fault
        for obj, breach in check_totals(stage.after, before):
            site = find_site(case, stage, breach.keys, breach.value)
            yield LocatedBreach(stage, format_reference(obj), breach, site or SourceSite(stage.place))
            return


def _locate_type(one: WrittenObject) -> SourceSite:
    """Return the place of the fault's type, if no parameter is responsible."""
    return SourceSite((*one.stage.place[:3], "type"))


def list_needed(case: FaultCase) -> set[str]:
    """Return the declarations that the changes of a fault need."""
    return _collect_needs(_bound_fault(case, frozenset()))


def list_needed_by_use(case: LintContext, index: int) -> set[str]:
    """Return the declarations that a fault of the scenario needs as it is used."""
    own = [each for each in _bound_scenario(case) if each.stage.place[:3] == ("spec", "faults", index)]
    return _collect_needs(each._replace(bounds=replace(each.bounds, declared=frozenset())) for each in own)


def _collect_needs(bounded: Iterable[BoundedStep]) -> set[str]:
    found: set[str] = set()
    for stage, bounds, _ in bounded:
        for one in list_written_objects(stage):
            found |= {breach.declared for breach in find_breaches(one.object, one.was, bounds)}
        for change in stage.changes:
            if (breach := judge_change(change, bounds)) is not None:
                found.add(breach.declared)
    return found


def report_problems(case: Judged, code: str) -> Iterator[Problem]:
    """Yield all breaches with a code as problems."""
    for each in list_breaches(case):
        if each.breach.code == code:
            yield _build_problem(case, each)


def _build_problem(case: Judged, each: LocatedBreach) -> Problem:
    breach, site = each.breach, each.site
    expected, fix = breach.expected, breach.fix
    if need := breach.declared:
        declaration = format_declaration(case, need)
        fix = f"do without it, or {declaration}"
        if isinstance(case, FaultCase):
            expected = declaration
    message = f"{each.subject} {breach.note}"
    return Problem(site.place, message, str(breach.value)[:200], expected, fix, position=site.position)


def format_declaration(case: Judged, need: str) -> str:
    """Describe how the file can declare a need."""
    if isinstance(case, AppCase):
        capability = "node-access" if need == CLUSTER else need
        return f"make it depend on an option with `x-requires: {{<value>: [{capability}]}}`"
    if not isinstance(case, FaultCase):
        return "use a fault that declares it"
    if need == CLUSTER:
        return "write `scope: Cluster`"
    if need in EXCEPTIONS:
        exceptions = [*case.fault.exceptions, PolicyException(allow=need, because="…")]
        return f"write `exceptions: [{', '.join(f'{{allow: {e.allow}, because: {e.because}}}' for e in exceptions)}]`"
    return f"write `requires: [{', '.join((*case.fault.requires, need))}]`"
