"""SK112, SK115, SK116, SK40x: the ground truth, compared with what the faults change."""

from __future__ import annotations

from collections.abc import Iterator

from scenario_kit.lint.case import FAULT_NODE, Case, Place, same
from scenario_kit.lint.respell import referred
from scenario_kit.lint.rule import Problem, rule
from scenario_kit.load import did_you_mean
from scenario_kit.load.edit import Edit, Put
from scenario_kit.model import Reference, Severity


@rule(
    "SK112",
    why="a solver is scored against this name; what nobody can observe cannot be named",
    bad="entity: Deployment/redis-cache",
    good="entity: Deployment/valkey-cart",
    fix="name the object that the fault changes",
    repair="writes the object that is meant, where only one of its kind is close, or one of another has its name",
)
def known_causes(case: Case) -> Iterator[Problem]:
    """The root cause names no object of the app, and none that a fault creates."""
    if case.objects is None:
        return
    for i, cause in enumerate(case.scenario.spec.ground_truth.root_causes):
        place = ("spec", "groundTruth", "rootCauses", i)
        for where, entity in ((("entity",), cause.entity), *((("aliases", j), a) for j, a in enumerate(cause.aliases))):
            if entity and not case.exists(entity):
                known = [*case.entities(cause.fault, "Cause"), *case.names()]
                fix, edits = did_you_mean(entity, known), referred((*place, *where), entity, known)
                message = f"'{entity}' is neither an object of {case.scenario.spec.app.name} nor created by a fault"
                yield Problem((*place, *where), message, entity, fix=fix, edits=edits)


@rule(
    "SK405",
    why="whoever finds the real cause would be scored as wrong",
    bad="a fault on Service/product-catalog, labelled as Service/currency",
    good="entity: Service/product-catalog",
    fix="label the object that the fault itself names as its cause",
    repair="writes the object that the fault changes, where it is one",
)
def untouched(case: Case) -> Iterator[Problem]:
    """The labelled object is not what the fault changes."""
    for i, cause in enumerate(case.scenario.spec.ground_truth.root_causes):
        causes = case.entities(cause.fault, "Cause")
        if not causes or not cause.entity or not case.exists(cause.entity) or _is_one_of(cause.entity, causes):
            continue
        if _is_one_of(cause.entity, case.entities(cause.fault, "Victim", "Artefact")) or _suffers(case, cause.entity):
            continue  # SK406
        message = f"no change of fault '{cause.fault}' touches '{cause.entity}'"
        place = ("spec", "groundTruth", "rootCauses", i, "entity")
        fix, edits = f"write `entity: {causes[0]}`", _labelled(place, causes)
        yield Problem(place, message, cause.entity, " or ".join(causes), fix, edits=edits)


@rule(
    "SK406",
    why="the object suffers from the fault, but repairing it changes nothing",
    bad="entity: Deployment/frontend   # it only calls what is broken",
    good="entity: Service/product-catalog",
    fix="label the object that the fault changes; victims belong into the propagation",
    repair="writes the object that the fault changes, where it is one",
)
def victims(case: Case) -> Iterator[Problem]:
    """A victim is labelled as the cause."""
    for i, cause in enumerate(case.scenario.spec.ground_truth.root_causes):
        causes = case.entities(cause.fault, "Cause")
        if not causes or not cause.entity or _is_one_of(cause.entity, causes):
            continue
        if _is_one_of(cause.entity, case.entities(cause.fault, "Victim", "Artefact")) or _suffers(case, cause.entity):
            message = f"'{cause.entity}' suffers from fault '{cause.fault}', but is not what it changes"
            place = ("spec", "groundTruth", "rootCauses", i, "entity")
            fix, edits = f"write `entity: {causes[0]}`", _labelled(place, causes)
            yield Problem(place, message, cause.entity, " or ".join(causes), fix, edits=edits)


def _labelled(place: Place, causes: tuple[str, ...]) -> tuple[Edit, ...]:
    return (Put(place, causes[0]),) if len(set(causes)) == 1 else ()


def _is_one_of(entity: str, others: tuple[str, ...]) -> bool:
    return any(same(entity, other) for other in others)


def _suffers(case: Case, entity: str) -> bool:
    """Whether the file itself says that the object suffers: an edge of the propagation, or an alert, points at it."""
    spec = case.scenario.spec
    edges = [edge.to for edge in spec.ground_truth.propagation]
    alerts = [alert.on for alert in spec.expect.alerts if alert.alert_class == "MustFire" and alert.on]
    return _is_one_of(entity, (*edges, *alerts))


@rule(
    "SK404",
    why="whoever finds it would be scored as wrong, and removing the labelled causes would not end the incident",
    bad="two faults of role Cause, one root cause",
    good="a root cause for each fault of role Cause",
    fix="add it to spec.groundTruth.rootCauses, or give the fault the role Distractor",
)
def unlabelled(case: Case) -> Iterator[Problem]:
    """A cause is missing from the ground truth."""
    truth = case.scenario.spec.ground_truth
    labelled = {cause.fault for cause in truth.root_causes}
    if truth.outcome != "Incident" or not truth.root_causes:
        return  # SK408 speaks of an empty ground truth
    for i, use in enumerate(case.scenario.spec.faults):
        if use.role != "Distractor" and use.name not in labelled:
            message = f"fault '{use.name}' is a {use.role}, but no root cause names it"
            yield Problem(("spec", "groundTruth", "rootCauses"), message, fix=f"add {{fault: {use.name}, entity: …}}")
        elif use.role == "Distractor" and use.name in labelled:
            yield Problem(
                ("spec", "faults", i, "role"), f"fault '{use.name}' is a Distractor, but is labelled as a cause"
            )


@rule(
    "SK409",
    why="only where the name is drawn at injection can the fault alone tell which object it is",
    bad="rootCauses: [{fault: catalog-port}]",
    good="rootCauses: [{fault: catalog-port, entity: Service/product-catalog}]",
    fix="name the object that the fault changes",
    repair="writes the object that the fault changes, where it is one",
)
def nameless(case: Case) -> Iterator[Problem]:
    """The root cause has no entity."""
    for i, cause in enumerate(case.scenario.spec.ground_truth.root_causes):
        causes = case.entities(cause.fault, "Cause")
        if causes and not cause.entity and not case.generated(cause.fault):
            message = f"the root cause for '{cause.fault}' names no entity"
            place = ("spec", "groundTruth", "rootCauses", i)
            edits, fix = _labelled((*place, "entity"), causes), f"add `entity: {causes[0]}`"
            yield Problem(place, message, expected=" or ".join(causes), fix=fix, edits=edits)


@rule(
    "SK408",
    why="an incident has a cause, and where there is no incident there is none to find",
    bad="outcome: NoIncident with rootCauses",
    good="outcome: Incident with rootCauses",
    fix="label the cause, or choose another outcome",
)
def outcome(case: Case) -> Iterator[Problem]:
    """Outcome and root causes disagree."""
    truth = case.scenario.spec.ground_truth
    if truth.outcome == "Incident" and not truth.root_causes:
        severity = Severity.ERROR if case.merged else Severity.WARNING
        yield Problem(
            ("spec", "groundTruth"), "the outcome is an Incident, but there is no root cause", severity=severity
        )
    if truth.outcome == "NoIncident" and truth.root_causes:
        yield Problem(("spec", "groundTruth", "rootCauses"), "the outcome is NoIncident, but there are root causes")


@rule(
    "SK115",
    why="a chain through something that is not there explains nothing",
    bad="{from: Service/product-catalog, to: Deployment/frontned}",
    good="{from: Service/product-catalog, to: Deployment/frontend}",
    fix="name objects of the app, or `Fault/<name>` for a fault whose object has a generated name",
    repair="writes the object that is meant, where only one of its kind is close, or one of another has its name",
)
def nodes(case: Case) -> Iterator[Problem]:
    """The propagation names an object that does not exist."""
    if case.objects is None:
        return
    for i, edge in enumerate(case.scenario.spec.ground_truth.propagation):
        for end, text in (("from", edge.from_), ("to", edge.to)):
            place, ref = ("spec", "groundTruth", "propagation", i, end), Reference.parse(text)
            if ref.kind == FAULT_NODE:
                uses = [use.name for use in case.scenario.spec.faults]
                if ref.name not in uses:
                    possible = [f"{FAULT_NODE}/{name}" for name in uses]
                    fix, edits = did_you_mean(text, possible), referred(place, text, possible)
                    yield Problem(place, f"the scenario has no fault '{ref.name}'", text, fix=fix, edits=edits)
            elif not case.exists(text):
                fix, edits = (
                    did_you_mean(text, case.names(ref.kind) or case.names()),
                    referred(place, text, case.names()),
                )
                message = f"'{text}' is not an object of {case.scenario.spec.app.name}"
                yield Problem(place, message, text, fix=fix, edits=edits)
