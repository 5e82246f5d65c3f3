"""SK121, SK122, SK133, SK304, SK416, SK432, SK433: effects of faults, solutions and decoys on the rendered app."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from scenario_kit.errors import AuthoringError
from scenario_kit.judge.repair.api_defaults import complete_object
from scenario_kit.judge.repair.collateral_changes import list_selected
from scenario_kit.lint.context.affected_objects import find_components
from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.lint.context.wrong_namespace import find_intended
from scenario_kit.lint.framework.name_fixes import fix_reference
from scenario_kit.lint.framework.rule import Problem, register_check
from scenario_kit.lint.rules.faults.generated_names import find_outdated
from scenario_kit.lint.simulation.stages import Simulation, build_stage
from scenario_kit.load.yaml.edit import Drop, Edit, Put
from scenario_kit.model import App, Change, Fault, Object
from scenario_kit.model.authored.scenario import LABELLED, Solution
from scenario_kit.model.json_document import Place
from scenario_kit.model.kubernetes.difference import find_paths, get_at
from scenario_kit.model.kubernetes.pod_spec import list_serving_containers
from scenario_kit.model.kubernetes.pod_template import read_pod_spec
from scenario_kit.model.kubernetes.reference import make_object_reference
from scenario_kit.model.shortening import shorten_list
from scenario_kit.render import NoChange
from scenario_kit.render.apps.namespaces import restore_written
from scenario_kit.render.faults.applicability import find_offers
from scenario_kit.render.faults.modelled_fields import REAL_DATA_PLANE
from scenario_kit.render.simulation.changes import find_target

#: Maximum number of targets in a message.
_SHOWN: Final = 6


@register_check("SK304")
def check_no_effect(case: LintContext) -> Iterator[Problem]:
    for place, error in case.unbroken:
        if isinstance(error, NoChange):
            yield Problem((*place, "parameters"), error.message, "the app as it was", "a change of the app", error.fix)
    for place, finding in case.unrendered:
        if finding.code == "SK304":
            fix = finding.fix + _describe_targets(case, place)
            yield Problem((*place, "parameters"), finding.message, finding.observed, finding.expected, fix)


def _describe_targets(case: LintContext, place: Place) -> str:
    """Return the objects of the app at which a refused fault has an effect with its defaults."""
    use = case.scenario.spec.faults[place[2]] if place[:2] == ("spec", "faults") and isinstance(place[2], int) else None
    if use is None or case.app is None or case.objects is None or use.type not in case.types:
        return ""
    found = [str(each.target) for each in find_offers(case.types[use.type], case.app, case.objects)]
    return f" (possible targets: {shorten_list(found, _SHOWN) or 'none in this app with these options'})"


@register_check("SK121")
def check_impossible(case: LintContext) -> Iterator[Problem]:
    for place, error in case.unbroken:
        if not isinstance(error, NoChange):
            yield Problem(place, error.message, fix=error.fix)
    for place, error in case.unrepaired:
        if not isinstance(error, NoChange):
            renamed = find_outdated(case, place, _change(case, place))
            edits = renamed.edits or _build_retarget_edit(case, place)
            yield Problem(place, error.message, fix=renamed.fix or error.fix, edits=edits)
    for of_change, change in case.list_changes():
        ref = change.operation.ref
        if ref and case.objects is not None and (own := find_intended(case, ref)):
            message = f"'{ref}' is in another namespace in {case.scenario.spec.app.name}"
            place = (*of_change, change.operation.keyword, "target")
            yield Problem(place, message, ref, own, f"write `{own}`", edits=(Put(place, own),))
        yield from _check_command(case, change, of_change)


def _check_command(case: LintContext, change: Change, place: Place) -> Iterator[Problem]:
    """Check that the lab can execute a command, unless a fault needs a real data plane anyway."""
    if case.app is None:
        return
    needs = {need for fault in case.faults.values() for need in fault.requires}
    try:
        simulated = case.app.twin is not None and REAL_DATA_PLANE not in needs
        change.operation.check_command(case.app, change.operation.keyword, simulated=simulated)
    except AuthoringError as error:
        for found in error.findings:
            yield Problem((*place, change.operation.keyword), found.message, found.observed, found.expected, found.fix)


def _build_retarget_edit(case: LintContext, place: Place) -> tuple[Edit, ...]:
    """Return the edit that corrects the missing target of a change."""
    operation = _change(case, place).operation
    if operation.ref is None or case.exists(operation.ref):
        return ()
    return fix_reference((*place, operation.keyword, "target"), operation.ref, case.names())


def _change(case: LintContext, place: Place) -> Change:
    return next(change for at, change in case.list_changes() if at == place)


@register_check("SK133")
def check_idle(case: LintContext) -> Iterator[Problem]:
    for place, error in case.unrepaired:
        if isinstance(error, NoChange):
            fix, edits = find_outdated(case, place, _change(case, place))
            yield Problem(place, error.message, "the app as the fault left it", "a change of it", fix, edits=edits)
    yield from _check_cancelled(case)


def _check_cancelled(case: LintContext) -> Iterator[Problem]:
    """Report procedures whose changes each do something, and together nothing."""
    if len(case.faults) < len(case.scenario.spec.faults):
        return  # what is broken is unknown
    failed = {place[:3] for place, _ in case.unrepaired}
    for procedure in case.procedures():
        stage = next((s for s in case.stages if s.place == (*procedure.place, "changes")), None)
        writes = all(c.operation.patches and not list(c.operation.list_rollouts(False)) for c in procedure.changes)
        if (
            stage
            and len(procedure.changes) > 1
            and writes
            and procedure.place not in failed
            and stage.after == stage.before
        ):
            message = f"the changes of {procedure.kind} '{procedure.name}' cancel each other"
            yield Problem((*procedure.place, "changes"), message, "the app as the fault left it", "a change of it")


@register_check("SK122")
def check_prose(case: LintContext) -> Iterator[Problem]:
    for procedure in case.procedures():
        if not procedure.changes:
            yield Problem(procedure.place, f"{procedure.kind} '{procedure.name}' has no changes")


@register_check("SK416")
def check_uncovered(case: LintContext) -> Iterator[Problem]:
    spec = case.scenario.spec
    fixed = {name for solution in spec.solutions for name in solution.fixes}
    any_is_enough = spec.ground_truth.causes_join == "Conjunctive" and fixed
    if spec.ground_truth.outcome != "Incident" or any_is_enough:
        return
    for use in spec.faults:
        rendered = case.faults.get(use.name)
        if use.role not in LABELLED or rendered is None or use.name in fixed:
            continue
        inherited = not spec.solutions and rendered.solutions
        if rendered.mitigation == "None" or (inherited and (case.has_generated_cause(use.name) or not case.merged)):
            continue  # an author cannot name an object with a generated name
        message = f"no solution of the file fixes '{use.name}'"
        yield Problem(
            ("spec", "solutions"), message, fix=f"add a solution with `fixes: [{use.name}]`{_describe_own(rendered)}"
        )


def _describe_own(fault: Fault) -> str:
    """Describe the fault's own solution as a template for the author's."""
    for each in fault.solutions[:1]:
        done = ", ".join(f"{change.operation.keyword} {change.target}" for change in each.changes)
        return f"; the fault's own is '{each.name}' ({done})"
    return ""


@register_check("SK432")
def check_no_decoy(case: LintContext) -> Iterator[Problem]:
    spec = case.scenario.spec
    if spec.ground_truth.outcome != "Incident" or not spec.faults:
        return
    inherited = any(fault.decoys for fault in case.faults.values())
    if not spec.decoys and (case.merged or not inherited):
        yield Problem(("spec", "decoys"), "the scenario has no decoy")
    about = _list_concerned(case)
    if spec.decoys and about and all(_is_beside(change, case, about) for d in spec.decoys for change in d.changes):
        message = "no decoy touches a component of the incident"
        observed = ", ".join(sorted({change.target or "" for d in spec.decoys for change in d.changes}))
        fix = "add what an operator would try first, for example restarting the component that alerts"
        yield Problem(("spec", "decoys"), message, observed, f"a change of {' or '.join(sorted(about))}", fix)


def _list_concerned(case: LintContext) -> set[str]:
    """Return the components that are broken, alert, or propagate; empty if the faults affect the whole cluster."""
    spec, app = case.scenario.spec, case.app
    if app is None or len(case.faults) < len(spec.faults) or any(f.scope == "Cluster" for f in case.faults.values()):
        return set()
    refs = {use.target for use in spec.faults} | {e.ref for fault in case.faults.values() for e in fault.entities}
    refs |= {alert.entity for alert in spec.expect.alerts if alert.entity and alert.alert_class != "MustNotFire"}
    refs |= {end for edge in spec.ground_truth.propagation for end in (edge.from_, edge.to)}
    return {name for ref in refs for name in find_components(app, ref)}


def _is_beside(change: Change, case: LintContext, about: set[str]) -> bool:
    """Return whether a change only writes metadata, or touches a component outside of the incident."""
    if any(change in decoy.changes for fault in case.faults.values() for decoy in fault.decoys):
        return False  # the fault type declares it as a decoy
    patch = change.operation.merged
    if patch is not None and set(patch) <= {"metadata"}:
        return True
    own = find_components(case.app, change.operation.ref) if case.app and change.operation.ref else set[str]()
    return bool(own) and own.isdisjoint(about)


@register_check("SK433")
def check_true_decoy(case: LintContext) -> Iterator[Problem]:
    decoys = case.scenario.spec.decoys
    labelled = {use.name for use in case.scenario.spec.faults if use.role in LABELLED}
    broken = _break_app(case) if decoys else None
    for i, decoy in enumerate(decoys):
        place = ("spec", "decoys", i)
        if labelled and labelled <= {change.operation.fault for change in decoy.changes}:
            message = f"decoy '{decoy.name}' takes the labelled faults back"
            yield Problem(place, message, edits=(Drop(place),) if len(decoys) > 1 else ())
            continue
        for solution in _list_solutions(case):
            held = all(change in decoy.changes for change in solution.changes)
            does = broken is not None and _has_same_effect(broken, decoy.changes, solution.changes)
            if solution.changes and (held or does or decoy.changes == solution.changes):
                what = "effect" if does and not held else "changes"
                message = f"decoy '{decoy.name}' has the {what} of solution '{solution.name}'"
                yield Problem(place, message, edits=(Drop(place),) if len(decoys) > 1 else ())
                break


def _break_app(case: LintContext) -> Simulation | None:
    """Return the simulation of all faults; None if the app cannot be rendered."""
    if case.app is None or case.objects is None:
        return None
    faults = [case.faults[use.name] for use in case.scenario.spec.faults if use.name in case.faults]
    return build_stage((), case.app, case.objects, [c for fault in faults for c in fault.changes])


def _has_same_effect(broken: Simulation, changes: Sequence[Change], solution: Sequence[Change]) -> bool:
    """Return whether changes write on the broken app what the solution writes there, however they say it.

    What else a solution does (restarts, commands, flags, writes outside of the app) must be among the changes.
    """
    app, objects = broken.app, broken.after
    others = [c for c in solution if not _writes_objects(c) or not _is_simulated(c, objects, app)]
    if any(change not in changes for change in others):
        return False
    states = (objects, *(build_stage((), app, objects, each).after for each in (solution, changes)))
    unwritten = set[int].intersection(*({id(obj) for obj in each} for each in states))
    before, solved, tried = (
        {make_object_reference(obj): _spell_out(obj, each) for obj in each if id(obj) not in unwritten}
        for each in states
    )
    written = [ref for ref in {**before, **solved} if solved.get(ref) != before.get(ref)]
    return bool(written) and all(_is_written_alike(before.get(r), solved.get(r), tried.get(r)) for r in written)


def _spell_out(obj: Object, objects: Sequence[Object]) -> Object:
    """Return an object with the API server's defaults, and with numbers in place of the names of its pods' ports."""
    completed = complete_object(obj)
    if obj["kind"] != "Service":
        return completed
    chosen = list_selected(obj, objects)
    pods = [read_pod_spec(o) for o in objects if (o["kind"], o["metadata"]["name"]) in chosen]
    containers = [c for pod in pods for c in list_serving_containers(pod)]
    numbers = {p["name"]: p.get("containerPort") for c in containers for p in c.get("ports") or () if p.get("name")}
    spec = completed["spec"]
    ports = [_resolve_port(port, numbers) for port in spec.get("ports") or ()]
    return {**completed, "spec": {**spec, "ports": ports}}


def _resolve_port(port: Mapping[str, Any], numbers: Mapping[str, int | None]) -> Mapping[str, Any]:
    """Return a port of a Service with the number of the container's port that it names."""
    named = port.get("targetPort")
    return {**port, "targetPort": numbers[named]} if isinstance(named, str) and named in numbers else port


def _writes_objects(change: Change) -> bool:
    """Return whether a change does nothing but write an object whose content is known beforehand."""
    operation = change.operation
    return (
        operation.patches or operation.manifest is not None or operation.keyword == "delete"
    ) and change.until is None


def _is_simulated(change: Change, objects: Sequence[Object], app: App) -> bool:
    """Return whether a simulation shows what a change writes: its target is an object of the app."""
    operation = change.operation
    if operation.ref is None or not operation.has_target:
        return True
    try:
        return find_target(objects, operation.ref, app, app.namespace, operation.keyword) is not None
    except AuthoringError:
        return False


def _is_written_alike(broken: Object | None, solved: Object | None, tried: Object | None) -> bool:
    """Return whether an object is as a solution leaves it, in everything that the solution changes."""
    if solved is None or tried is None:
        return solved is None and tried is None
    if broken is None:
        return _get_body(tried) == _get_body(solved)
    return all(get_at(tried, path) == get_at(solved, path) for path in find_paths(broken, solved))


def _get_body(obj: Object) -> Object:
    return {key: value for key, value in obj.items() if key not in ("metadata", "apiVersion")}


def _list_solutions(case: LintContext) -> Iterator[Solution]:
    """Yield the solutions of the file, or else of the faults; each repairs at least one cause."""
    spec = case.scenario.spec
    yield from spec.solutions
    if spec.solutions or case.app is None:
        return
    labelled = {use.name for use in spec.faults if use.role in LABELLED}
    for fault in case.faults.values():
        for solution in fault.solutions if fault.name in labelled else ():
            changes = tuple(restore_written(change, case.app) for change in solution.changes)
            yield msgspec.structs.replace(solution, changes=changes)
