"""SK121, SK122, SK133, SK304, SK41x, SK43x: what faults, solutions and decoys do to the rendered app."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from scenario_kit.lint.context.affected_objects import find_components
from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.lint.context.wrong_namespace import find_meant
from scenario_kit.lint.framework.name_fixes import fix_reference
from scenario_kit.lint.framework.rule import Problem, register_rule
from scenario_kit.lint.rules.faults.generated_names import find_outdated
from scenario_kit.lint.simulation.place import Place
from scenario_kit.load.yaml.edit import Drop, Edit, Put
from scenario_kit.model import Change, Fault, Severity
from scenario_kit.model.authored.scenario import LABELLED, Solution
from scenario_kit.render import NoChange
from scenario_kit.render.apps.namespaces import restore_written


@register_rule(
    "SK304",
    why="a fault without an effect cannot be the cause of anything",
    bad="parameters: {targetPort: 8080}   # the container listens on 8080",
    good="parameters: {targetPort: 9999}",
    fix="choose parameters that differ from what the app already has",
)
def check_no_effect(case: LintContext) -> Iterator[Problem]:
    """The fault changes nothing."""
    for place, error in case.unbroken:
        if isinstance(error, NoChange):
            yield Problem((*place, "parameters"), error.message, "the app as it was", "a change of the app", error.fix)
    for place, finding in case.unrendered:
        if finding.code == "SK304":
            yield Problem((*place, "parameters"), finding.message, finding.observed, finding.expected, finding.fix)


@register_rule(
    "SK121",
    why="its target does not exist, or the patch does not apply to it; the run would stop there",
    bad="restart: {target: Deployment/crt}",
    good="restart: {target: Deployment/cart}",
    fix="name an object that `scenario-kit render PATH` lists, and paths that exist in it",
    repair="writes the intended target, where only one of its kind is close, or the name that the fault has drawn",
)
def check_impossible(case: LintContext) -> Iterator[Problem]:
    """A change cannot be made."""
    for place, error in case.unbroken:
        if not isinstance(error, NoChange):
            yield Problem(place, error.message, fix=error.fix)
    for place, error in case.unrepaired:
        if not isinstance(error, NoChange):
            renamed = find_outdated(case, place, _change(case, place))
            edits = renamed.edits or _build_retarget_edit(case, place)
            yield Problem(place, error.message, fix=renamed.fix or error.fix, edits=edits)
    for procedure in case.procedures():
        for j, change in enumerate(procedure.changes):
            if change.target and case.objects is not None and (own := find_meant(case, change.target)):
                message = f"'{change.target}' is not where {case.scenario.spec.app.name} has it"
                place = (*procedure.place, "changes", j, change.operation, "target")
                yield Problem(place, message, change.target, own, f"write `{own}`", edits=(Put(place, own),))


def _build_retarget_edit(case: LintContext, place: Place) -> tuple[Edit, ...]:
    """Build the edit for a change of a solution or decoy whose target does not exist."""
    change = _change(case, place)
    if not change.target or case.exists(change.target):
        return ()
    return fix_reference((*place, change.operation, "target"), change.target, case.names())


def _change(case: LintContext, place: Place) -> Change:
    return next(p.changes[int(place[-1])] for p in case.procedures() if p.place == place[:-2])


@register_rule(
    "SK133",
    why="a documented step that does nothing misleads anyone who follows it",
    bad="scale: {target: Deployment/cart, replicas: 1}   # it already has 1 while the fault is in force",
    good="patch: {target: Service/cart, …}",
    fix="drop the change, or change what the fault changed",
    repair="writes the name that the fault has drawn in this file, where it is another",
)
def check_idle(case: LintContext) -> Iterator[Problem]:
    """A change of a solution or decoy changes nothing."""
    for place, error in case.unrepaired:
        if isinstance(error, NoChange):
            fix, edits = find_outdated(case, place, _change(case, place))
            yield Problem(place, error.message, "the app as the fault left it", "a change of it", fix, edits=edits)


@register_rule(
    "SK122",
    why="each one is executed, and prose cannot be",
    bad="solutions: [{name: fix-it, description: restore the port}]",
    good="solutions: [{name: fix-it, changes: [{patch: {…}}]}]",
    fix="write the changes that carry it out",
)
def check_prose(case: LintContext) -> Iterator[Problem]:
    """A solution or decoy has no changes."""
    for procedure in case.procedures():
        if not procedure.changes:
            yield Problem(procedure.place, f"{procedure.kind} '{procedure.name}' has no changes")


@register_rule(
    "SK416",
    why="nothing shows that the incident can be resolved at all",
    bad="two faults, and one solution that fixes the first",
    good="solutions whose `fixes` name every fault of role Cause or Sustaining",
    fix="add a solution, or name the fault in the `fixes` of one",
)
def check_uncovered(case: LintContext) -> Iterator[Problem]:
    """No solution covers a cause."""
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
        if rendered.mitigation == "None" or (inherited and (case.generated(use.name) or not case.merged)):
            continue  # what has a generated name, no author can name in a change
        message = f"no solution of the file fixes '{use.name}'"
        yield Problem(
            ("spec", "solutions"), message, fix=f"add a solution with `fixes: [{use.name}]`{_describe_own(rendered)}"
        )


def _describe_own(fault: Fault) -> str:
    """Describe what the fault itself would do, for who has to write it down."""
    for each in fault.solutions[:1]:
        done = ", ".join(f"{change.operation} {change.target}" for change in each.changes)
        return f"; the fault's own is '{each.name}' ({done})"
    return ""


@register_rule(
    "SK432",
    why="only wrong fixes show that the symptoms depend on the cause, and do not go away with any change",
    bad="decoys: []",
    good="decoys: [{name: restart-frontend, changes: [{restart: {target: Deployment/frontend}}]}]",
    fix="add what somebody would try first, for example restarting a victim",
    severity=Severity.WARNING,
)
def check_no_decoy(case: LintContext) -> Iterator[Problem]:
    """The scenario has no decoy, or none that touches what the incident is about."""
    spec = case.scenario.spec
    if spec.ground_truth.outcome != "Incident" or not spec.faults:
        return
    inherited = any(fault.decoys for fault in case.faults.values())
    if not spec.decoys and (case.merged or not inherited):
        yield Problem(("spec", "decoys"), "the scenario has no decoy")
    about = _list_concerned(case)
    if spec.decoys and about and all(_is_beside(change, case, about) for d in spec.decoys for change in d.changes):
        message = "no decoy touches what the incident is about"
        observed = ", ".join(sorted({change.target or "" for d in spec.decoys for change in d.changes}))
        fix = "add what somebody would try first who reads these alerts, for example restarting what alerts"
        yield Problem(("spec", "decoys"), message, observed, f"a change of {' or '.join(sorted(about))}", fix)


def _list_concerned(case: LintContext) -> set[str]:
    """List the components of what is touched, alerts, or passes trouble on; none where the faults reach everything."""
    spec, app = case.scenario.spec, case.app
    if app is None or len(case.faults) < len(spec.faults) or any(f.scope == "Cluster" for f in case.faults.values()):
        return set()
    texts = {use.target for use in spec.faults} | {e.ref for fault in case.faults.values() for e in fault.entities}
    texts |= {alert.on for alert in spec.expect.alerts if alert.on and alert.alert_class != "MustNotFire"}
    texts |= {end for edge in spec.ground_truth.propagation for end in (edge.from_, edge.to)}
    return {name for text in texts for name in find_components(app, text)}


def _is_beside(change: Change, case: LintContext, about: set[str]) -> bool:
    """Check whether a change only notes something down, or is about a component that has nothing to do with it all."""
    if any(change in decoy.changes for fault in case.faults.values() for decoy in fault.decoys):
        return False  # who knows the fault says that people try this
    patch = change.patch.patch if change.patch else None
    if isinstance(patch, Mapping) and set(patch) <= {"metadata"}:
        return True
    own = find_components(case.app, change.target) if case.app and change.target else set[str]()
    return bool(own) and own.isdisjoint(about)


@register_rule(
    "SK433",
    why="it would clear the symptoms, and a decoy must not",
    bad="the same patch as solution and as decoy",
    good="a decoy that repairs something else",
    fix="drop it, or list it as a solution",
    repair="drops the decoy, where there is another",
)
def check_true_decoy(case: LintContext) -> Iterator[Problem]:
    """A decoy does what a solution does, or all of it and more."""
    decoys = case.scenario.spec.decoys
    for i, decoy in enumerate(decoys):
        place = ("spec", "decoys", i)
        for solution, whole in _list_solutions(case):
            held = whole and all(change in decoy.changes for change in solution.changes)
            if solution.changes and (held or decoy.changes == solution.changes):
                message = f"decoy '{decoy.name}' has the changes of solution '{solution.name}'"
                yield Problem(place, message, edits=(Drop(place),) if len(decoys) > 1 else ())
                break


def _list_solutions(case: LintContext) -> Iterator[tuple[Solution, bool]]:
    """List those of the file, or else those that come with the faults; and whether one alone ends the incident."""
    spec = case.scenario.spec
    labelled = {use.name for use in spec.faults if use.role in LABELLED}
    conjunctive = spec.ground_truth.causes_join == "Conjunctive"
    for solution in spec.solutions:
        yield solution, conjunctive or labelled <= set(solution.fixes)
    if spec.solutions or case.app is None:
        return
    for fault in case.faults.values():
        for solution in fault.solutions if fault.name in labelled else ():
            changes = tuple(restore_written(change, case.app) for change in solution.changes)
            yield msgspec.structs.replace(solution, changes=changes), conjunctive or labelled == {fault.name}
