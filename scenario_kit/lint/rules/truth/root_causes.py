"""SK112, SK115, SK404 to SK409: the ground truth, compared with what the faults change."""

from __future__ import annotations

from collections.abc import Iterator

from scenario_kit.lint.context.affected_objects import touches
from scenario_kit.lint.context.catalog_context import FaultCase
from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.lint.context.wrong_namespace import find_intended
from scenario_kit.lint.framework.name_fixes import fix_reference
from scenario_kit.lint.framework.rule import Problem, register_check
from scenario_kit.load.yaml.edit import Drop, Edit, Put
from scenario_kit.model import Fault, Reference, Severity
from scenario_kit.model.authored.scenario import FAULT_NODE, LABELLED
from scenario_kit.model.chaos.kinds import SCHEDULE
from scenario_kit.model.json_document import Place
from scenario_kit.model.spelling import did_you_mean

#: Kinds of objects that a workload owns, and that an answer may name in its place.
_OWNED = frozenset({"Pod", "ReplicaSet"})
#: Kinds of objects that act on the app at times of their own.
_RECURRING = frozenset({SCHEDULE, "CronJob"})
_SCHEDULE_FIX = "give it the role Cause in `entities` of the type, with its `fix`, and label it"


@register_check("SK112")
def check_known_causes(case: LintContext) -> Iterator[Problem]:
    if case.objects is None:
        return
    for i, cause in enumerate(case.scenario.spec.ground_truth.root_causes):
        place = ("spec", "groundTruth", "rootCauses", i)
        for where, entity in ((("entity",), cause.entity), *((("aliases", j), a) for j, a in enumerate(cause.aliases))):
            if entity is None:
                continue
            if not case.exists(entity):
                known = [*case.entities(cause.fault, "Cause"), *case.names()]
                fix, edits = did_you_mean(entity, known), fix_reference((*place, *where), entity, known)
                if where[0] == "aliases" and entity.kind in _OWNED:
                    fix, edits = f"remove it: a {entity.kind} counts as its workload without being named", ()
                message = f"'{entity}' is neither an object of {case.scenario.spec.app.name} nor created by a fault"
                yield Problem((*place, *where), message, entity, fix=fix, edits=edits)
            elif where[0] == "aliases" and (own := find_intended(case, entity)):  # an entity: SK405
                message = f"'{entity}' is in another namespace in {case.scenario.spec.app.name}"
                yield Problem(
                    (*place, *where), message, entity, own, f"write `{own}`", edits=(Put((*place, *where), own),)
                )


@register_check("SK405")
def check_untouched(case: LintContext) -> Iterator[Problem]:
    for i, cause in enumerate(case.scenario.spec.ground_truth.root_causes):
        causes = case.entities(cause.fault, "Cause")
        yield from _check_blamed(case, i)
        if not causes or not cause.entity or not case.exists(cause.entity) or _is_one_of(cause.entity, causes):
            continue
        if _is_one_of(cause.entity, case.entities(cause.fault, "Victim", "Artefact")) or _is_victim(case, cause.entity):
            continue  # SK406
        message = f"no change of fault '{cause.fault}' touches '{cause.entity}'"
        place = ("spec", "groundTruth", "rootCauses", i, "entity")
        fix, edits = f"write `entity: {causes[0]}`", _build_label_edit(place, causes)
        yield Problem(place, message, cause.entity, " or ".join(causes), fix, edits=edits)


def _check_blamed(case: LintContext, number: int) -> Iterator[Problem]:
    """Report a cause that a fault type declares but does not touch."""
    cause = case.scenario.spec.ground_truth.root_causes[number]
    fault = case.faults.get(cause.fault)
    if fault is None or case.app is None or case.objects is None:
        return
    for blamed in fault.causes:
        if (cause.entity and not cause.entity.is_same(blamed.ref)) or touches(
            fault, case.objects, case.app, blamed.ref
        ):
            continue
        message = f"fault type '{fault.type}' declares '{blamed.ref}' as its cause, but no change touches it"
        place, fix = ("spec", "groundTruth", "rootCauses", number), "correct the `entities` of the type"
        yield Problem(place, message, blamed.ref, "an object that the fault changes", fix)


@register_check("SK406")
def check_victims(case: LintContext) -> Iterator[Problem]:
    for i, cause in enumerate(case.scenario.spec.ground_truth.root_causes):
        causes = case.entities(cause.fault, "Cause")
        if not causes or not cause.entity or _is_one_of(cause.entity, causes):
            continue
        if _is_one_of(cause.entity, case.entities(cause.fault, "Victim", "Artefact")) or _is_victim(case, cause.entity):
            message = f"'{cause.entity}' is affected by fault '{cause.fault}', but is not what it changes"
            place = ("spec", "groundTruth", "rootCauses", i, "entity")
            fix, edits = f"write `entity: {causes[0]}`", _build_label_edit(place, causes)
            if case.has_generated_cause(cause.fault) and edits:
                fix, edits = f"remove `entity`: the name is generated (here {causes[0]})", (Drop(place),)
            yield Problem(place, message, cause.entity, " or ".join(causes), fix, edits=edits)


def _build_label_edit(place: Place, causes: tuple[Reference, ...]) -> tuple[Edit, ...]:
    return (Put(place, causes[0]),) if len(set(causes)) == 1 else ()


def _is_one_of(entity: Reference, others: tuple[Reference, ...]) -> bool:
    return any(entity.is_same(other) for other in others)


def _is_victim(case: LintContext, entity: Reference) -> bool:
    """Return whether the file declares an object as affected, by a propagation edge or an alert."""
    spec = case.scenario.spec
    edges = [edge.to for edge in spec.ground_truth.propagation]
    alerts = [alert.entity for alert in spec.expect.alerts if alert.alert_class == "MustFire" and alert.entity]
    return _is_one_of(entity, (*edges, *alerts))


@register_check("SK404")
def check_unlabelled(case: LintContext) -> Iterator[Problem]:
    truth = case.scenario.spec.ground_truth
    labels = {cause.fault for cause in truth.root_causes}
    for i, use in enumerate(case.scenario.spec.faults):
        if use.role not in LABELLED and use.name in labels:
            message = f"fault '{use.name}' is a {use.role}, but is labelled as a cause"
            yield Problem(("spec", "faults", i, "role"), message, fix="remove the label, or the role")
        elif use.role in LABELLED and use.name not in labels and truth.outcome == "Incident" and labels:
            message = f"fault '{use.name}' is a {use.role}, but no root cause names it"  # SK408: no label at all
            yield Problem(("spec", "groundTruth", "rootCauses"), message, fix=f"add {{fault: {use.name}, entity: …}}")
    yield from _check_left_out(case)
    yield from _check_unset(case)
    for place, use, fault in case.list_rendered():
        for message, name in _list_unnamed_schedules(fault):
            yield Problem((*place, "type"), f"fault type '{use.type}' {message}", name, "role: Cause", _SCHEDULE_FIX)


@register_check("SK404", "Fault")
def check_unnamed_schedules(case: FaultCase) -> Iterator[Problem]:
    for _, fault in case.list_rendered():
        for message, name in _list_unnamed_schedules(fault):
            yield Problem(("entities",), f"the fault {message}", name, "role: Cause", _SCHEDULE_FIX)
            return


def _list_unnamed_schedules(fault: Fault) -> Iterator[tuple[str, str]]:
    """Yield a message, and the name, for each object without the role Cause that acts on the app again and again.

    No trial can clear it: it may act only after the last look. A hidden fault's workload represents its objects.
    """
    if fault.visibility == "Hidden":
        return
    causes = {cause.ref.bare for cause in fault.causes}
    for change in fault.changes:
        manifest = change.operation.manifest
        if manifest and change.operation.creates and manifest.get("kind") in _RECURRING:
            kind, name = change.operation.about(None) or ("", "")
            if (kind, name) not in causes:
                yield f"creates {kind}/{name}, which acts again and again, but is no cause", f"{kind}/{name}"


def _check_left_out(case: LintContext) -> Iterator[Problem]:
    """Report unlabelled causes of a partly labelled fault; naming one of them in an answer would be right too."""
    causes = case.scenario.spec.ground_truth.root_causes
    for use in case.scenario.spec.faults:
        own = [cause for cause in causes if cause.fault == use.name]
        names = [name for cause in own for name in (cause.entity, *cause.aliases) if name]
        written = case.entities(use.name, "Cause")
        if not own or not all(cause.entity for cause in own) or not any(_is_one_of(n, written) for n in names):
            continue  # SK405, SK406, SK409
        for left in (ref for ref in written if not _is_one_of(ref, tuple(names))):
            message = f"fault '{use.name}' also breaks '{left}', but no root cause names that"
            fix = f"add {{fault: {use.name}, entity: {left}}}"
            yield Problem(("spec", "groundTruth", "rootCauses"), message, ", ".join(names), left, fix)


def _check_unset(case: LintContext) -> Iterator[Problem]:
    """Report a Sustaining fault without a Trigger."""
    faults = case.scenario.spec.faults
    if any(use.role == "Trigger" for use in faults):
        return
    for i, use in enumerate(faults):
        if use.role == "Sustaining":
            message = f"fault '{use.name}' is Sustaining, but no fault is the Trigger"
            fix = "write `role: Cause`, or add the triggering fault with `role: Trigger`"
            yield Problem(("spec", "faults", i, "role"), message, "Sustaining", "Cause", fix)


@register_check("SK409")
def check_nameless(case: LintContext) -> Iterator[Problem]:
    for i, cause in enumerate(case.scenario.spec.ground_truth.root_causes):
        causes = case.entities(cause.fault, "Cause")
        if causes and not cause.entity and not case.has_generated_cause(cause.fault):
            message = f"the root cause for '{cause.fault}' names no entity"
            place = ("spec", "groundTruth", "rootCauses", i)
            edits, fix = _build_label_edit((*place, "entity"), causes), f"add `entity: {causes[0]}`"
            yield Problem(place, message, expected=" or ".join(causes), fix=fix, edits=edits)


@register_check("SK408")
def check_outcome(case: LintContext) -> Iterator[Problem]:
    spec, truth = case.scenario.spec, case.scenario.spec.ground_truth
    if truth.outcome == "Incident":
        if not truth.root_causes:
            severity = Severity.ERROR if case.merged else Severity.WARNING
            message = "the outcome is an Incident, but there is no root cause"
            yield Problem(("spec", "groundTruth"), message, severity=severity)
        return
    for name, listed in (("solutions", spec.solutions), ("decoys", spec.decoys)):
        if listed:
            message = f"the outcome is {truth.outcome}, but there are {name}"
            yield Problem(("spec", name), message, fix="remove them: there is nothing to repair")
    if truth.outcome == "Benign":
        if not spec.faults:
            yield Problem(("spec", "groundTruth", "outcome"), "the outcome is Benign, but there is no fault")
        return
    if truth.root_causes:
        yield Problem(("spec", "groundTruth", "rootCauses"), "the outcome is NoIncident, but there are root causes")
    for i, use in enumerate(spec.faults):
        if use.role != "Distractor":
            message = f"the outcome is NoIncident, but fault '{use.name}' is a {use.role}"
            yield Problem(("spec", "faults", i), message, expected="role: Distractor, a real but harmless change")
    for i, alert in enumerate(spec.expect.alerts):
        if alert.alert_class == "MustFire":
            message = f"the outcome is NoIncident, but {alert.name} must fire"
            yield Problem(("spec", "expect", "alerts", i), message, expected="class MayFire or MustNotFire")


@register_check("SK115")
def check_nodes(case: LintContext) -> Iterator[Problem]:
    if case.objects is None:
        return
    for i, edge in enumerate(case.scenario.spec.ground_truth.propagation):
        for end, ref in (("from", edge.from_), ("to", edge.to)):
            place = ("spec", "groundTruth", "propagation", i, end)
            if ref.kind == FAULT_NODE:
                uses = [use.name for use in case.scenario.spec.faults]
                if ref.name not in uses:
                    possible = [Reference(FAULT_NODE, name) for name in uses]
                    fix, edits = did_you_mean(ref, possible), fix_reference(place, ref, possible)
                    yield Problem(place, f"the scenario has no fault '{ref.name}'", ref, fix=fix, edits=edits)
            elif not case.exists(ref):
                fix, edits = (
                    did_you_mean(ref, case.names(ref.kind) or case.names()),
                    fix_reference(place, ref, case.names()),
                )
                message = f"'{ref}' is not an object of {case.scenario.spec.app.name}"
                yield Problem(place, message, ref, fix=fix, edits=edits)
            elif own := find_intended(case, ref):
                message = f"'{ref}' is in another namespace in {case.scenario.spec.app.name}"
                yield Problem(place, message, ref, own, f"write `{own}`", edits=(Put(place, own),))
