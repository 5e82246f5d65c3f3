"""Check what a resolved scenario would write, before the operator creates anything.

A runbook contains everything that a trial may execute, from any author: the app's objects, the changes of faults,
their undo and fixes, solutions, decoys and noise. `admission_findings` checks files by the same functions.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from scenario_kit.admission import NODE, AdmissionBounds, Breach, derive_bounds, find_breaches
from scenario_kit.admission.amounts import check_totals
from scenario_kit.admission.bounds import collect_declared
from scenario_kit.admission.judgement import collect_created, find_aim, judge_change
from scenario_kit.admission.reads import check_reads, list_waits, name_subject
from scenario_kit.lint.simulation.applied_changes import apply_changes
from scenario_kit.lint.simulation.stages import build_stage, list_outside_app, list_written_objects, split_steps
from scenario_kit.model import Change, Decoy, Finding, Object, Runbook, Severity, Solution
from scenario_kit.model.kubernetes.reference import make_reference
from scenario_kit.render.objects.lookup import format_reference
from scenario_kit.render.simulation.changes import NoChange
from scenario_kit.schema.writable import CLUSTER


class _RunbookPart(NamedTuple):
    """Changes of a runbook with their subject, what may be declared for them, and the objects they may apply to."""

    name: str
    changes: tuple[Change, ...]
    allowed: frozenset[str]
    bases: tuple[tuple[Object, ...], ...]
    #: Objects that exist before the first change, in addition to the app.
    ready: tuple[Object, ...] = ()


def list_refusals(runbook: Runbook, namespace: str = "") -> list[Finding]:
    """List all breaches of a runbook, each once; ``namespace`` is where it is to run."""
    found: dict[tuple[str, str], Finding] = {}
    for name, subject, breach in (*_check_placement(runbook, namespace), *_check_app(runbook), *_check_parts(runbook)):
        message = f"{name}: {subject} {breach.note}".strip()
        allowed = f"declare `{breach.declared}` in the fault, or remove the change" if breach.declared else ""
        found.setdefault(
            (breach.code, message),
            Finding(
                code=breach.code,
                severity=Severity.ERROR,
                message=message,
                observed=str(breach.value)[:200],
                expected=breach.expected,
                fix=allowed or "change an object of the app instead: docs/security.md lists what a change may write",
            ),
        )
    return list(found.values())


_NamedBreach = tuple[str, str, Breach]


def _check_placement(runbook: Runbook, namespace: str) -> Iterator[_NamedBreach]:
    homes = derive_bounds(runbook.app, runbook.namespace, ()).homes
    for real in {namespace or runbook.namespace, *runbook.namespaces.values()} - homes:
        note = f"would run in '{real}', for which it was not resolved"
        yield "trial", "it", Breach("SK236", (), real, note, expected=" | ".join(sorted(homes)))


def _check_app(runbook: Runbook) -> Iterator[_NamedBreach]:
    declared = {need for needs in runbook.requires.values() for need in needs}
    allowed = frozenset(declared | ({CLUSTER} if NODE in declared else set()))
    bounds = derive_bounds(
        runbook.app, runbook.namespace, (), runbook.objects, allowed, of_app=True, ready=runbook.objects
    )
    for obj in runbook.objects:
        for breach in find_breaches(obj, None, bounds):
            yield f"app {runbook.app.name}", format_reference(obj), breach


def _check_parts(runbook: Runbook) -> Iterator[_NamedBreach]:
    parts = list(_list_parts(runbook))
    created = [body for part in parts for body in collect_created(part.changes)]
    for part in parts:
        bounds = derive_bounds(runbook.app, runbook.namespace, runbook.objects, created, part.allowed)
        for change in part.changes:
            breach, aim = judge_change(change, bounds), find_aim(change, bounds)
            if breach is not None:
                yield part.name, f"{aim.kind}/{aim.name}" if aim else "the command", breach
        for subject, breach in _check_objects(part, runbook, bounds):
            yield part.name, subject, breach
    yield from _check_reads(runbook, parts)


def _check_reads(runbook: Runbook, parts: Sequence[_RunbookPart]) -> Iterator[_NamedBreach]:
    """Check the objects that checks read: those of faults, of expectations, and those that changes wait for."""
    changes = [change for part in parts for change in part.changes]
    created = collect_created(changes)
    bounds = derive_bounds(runbook.app, runbook.namespace, runbook.objects, created, ready=created)
    written = [ref for change in changes if (ref := change.operation.ref)]
    written += [make_reference(body, runbook.namespace) for body in created]
    named = [(f"fault '{fault.name}'", check) for fault in runbook.faults for check in (*fault.effect, *fault.undone)]
    named += [("expected check", check) for check in runbook.expect.checks]
    named += [(part.name, check) for part in parts for _, check in list_waits(part.changes)]
    for name, check in named:
        for breach in check_reads(check, bounds, written):
            yield name, name_subject(breach), breach


def _advance_bounds(bounds: AdmissionBounds, part: _RunbookPart, done: int) -> AdmissionBounds:
    """Return the bounds of a part after its first ``done`` changes."""
    created = collect_created(part.changes[:done])
    return dataclasses.replace(bounds, ready=(*bounds.before, *part.ready, *created))


def _list_parts(runbook: Runbook) -> Iterator[_RunbookPart]:
    broken = runbook.objects
    for fault in runbook.faults:
        allowed = collect_declared([fault])
        yield _RunbookPart(f"fault '{fault.name}'", fault.changes, allowed, (broken, runbook.objects))
        broken = build_stage((), runbook.app, broken, fault.changes, namespace=runbook.namespace).after
    every_created: list[Object] = []
    for fault in runbook.faults:
        alone = build_stage((), runbook.app, runbook.objects, fault.changes, namespace=runbook.namespace).after
        bases = (broken, alone, runbook.objects)
        name, allowed = f"fault '{fault.name}'", collect_declared([fault])
        made = tuple(collect_created(fault.changes))
        every_created += made
        yield _RunbookPart(f"{name}, undo", fault.undo, allowed, bases, made)
        for entity in fault.entities:
            yield _RunbookPart(f"{name}, fix", entity.fix, allowed, bases, made)
        procedures: tuple[Solution | Decoy, ...] = (*fault.solutions, *fault.decoys)
        for each in procedures:
            yield _RunbookPart(f"{name}, {each.name}", each.changes, allowed, bases, made)
    every = collect_declared(runbook.faults)
    for procedure in runbook.procedures:
        name = f"{procedure.use.lower()} '{procedure.name}'"
        met = (broken, runbook.objects)
        yield _RunbookPart(name, procedure.solution.changes, every, met, tuple(every_created))
    for source in runbook.noise:
        for change in source.changes:
            yield _RunbookPart(f"noise '{source.name}'", (change,), frozenset(), (broken, runbook.objects))


def _check_objects(part: _RunbookPart, runbook: Runbook, bounds: AdmissionBounds) -> Iterator[tuple[str, Breach]]:
    """Yield breaches in the resulting objects; a change that applies to none of them is checked on its own."""
    base = next((b for b in part.bases if _applies(part.changes, b, runbook)), part.bases[-1])
    stage = build_stage((), runbook.app, base, part.changes, namespace=runbook.namespace)
    for obj, breach in check_totals(stage.after, runbook.objects):
        yield format_reference(obj), breach
    for i, step in split_steps(stage, namespace=runbook.namespace):
        now = dataclasses.replace(_advance_bounds(bounds, part, i + 1), state=step.after)
        for one in list_written_objects(step):
            for breach in find_breaches(one.object, one.was, now):
                yield format_reference(one.object), breach
        if not _applies(step.changes, base, runbook) and not _applies(step.changes, stage.after, runbook):
            for change in step.changes:
                yield from _check_change(change, now)


def _applies(changes: Sequence[Change], objects: tuple[Object, ...], runbook: Runbook) -> bool:
    """Return whether all changes can be made; one without an effect can."""
    applied = apply_changes(objects, changes, runbook.app, runbook.namespace)
    return all(each.error is None or isinstance(each.error, NoChange) for each in applied)


def _check_change(change: Change, bounds: AdmissionBounds) -> Iterator[tuple[str, Breach]]:
    bodies = [*collect_created([change]), *list_outside_app(change, ())]
    for body in bodies:
        for breach in find_breaches(body, None, bounds):
            yield format_reference(body), breach
    if change.operation.patches and change.target and change.operation.merged is None:
        note = "has a JSON patch that does not apply to it as rendered, so its result cannot be checked"
        yield change.target, Breach("SK236", (), change.target, note)
