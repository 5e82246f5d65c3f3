"""SK124: a label that another cause, a victim, or a bystander would answer to as well."""

from __future__ import annotations

from collections.abc import Iterator

from scenario_kit.lint.context.affected_objects import find_components, is_one_thing, touches
from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.lint.context.wrong_namespace import find_meant
from scenario_kit.lint.framework.rule import Problem, register_check
from scenario_kit.lint.simulation.place import Place, is_same
from scenario_kit.load.yaml.edit import Drop, Edit
from scenario_kit.model import Reference
from scenario_kit.model.kubernetes.reference import WORKLOADS
from scenario_kit.render.objects.config_consumers import find_readers


@register_check("SK124")
def check_aliases(case: LintContext) -> Iterator[Problem]:
    causes = case.scenario.spec.ground_truth.root_causes
    for i, cause in enumerate(causes):
        for j, alias in enumerate(cause.aliases):
            message = (
                _find_elsewhere(case, i, alias) or _suffers(case, cause.fault, alias) or _find_bystander(case, i, alias)
            )
            if message:
                place = ("spec", "groundTruth", "rootCauses", i, "aliases", j)
                drop: tuple[Edit, ...] = (Drop(place if len(cause.aliases) > 1 else place[:-1]),)
                yield Problem(place, message, alias, "a name of this cause alone", f"drop `{alias}`", edits=drop)
        if distractor := _find_masking_distractor(case, cause.fault, cause.entity):
            message = f"'{cause.entity}' is also what the distractor '{distractor}' changes"
            fix = "aim the distractor at another object: whoever blames it for this one would be right by chance"
            yield Problem(("spec", "groundTruth", "rootCauses", i, "entity"), message, cause.entity, fix=fix)
        before = sum(o.fault == cause.fault and _is_alike(o.entity, cause.entity) for o in causes[:i])
        if before and before >= (1 if cause.entity else _count_nameless(case, cause.fault)):
            label: Place = ("spec", "groundTruth", "rootCauses", i)
            message = f"fault '{cause.fault}' is labelled twice as {cause.entity or 'the same cause'}"
            yield Problem(label, message, cause.entity, "one label for each cause", "drop it", edits=(Drop(label),))


def _find_masking_distractor(case: LintContext, fault: str, entity: str) -> str:
    """Find the distractor that changes the object that is labelled; empty where there is none."""
    others = (u.name for u in case.scenario.spec.faults if u.role == "Distractor" and u.name != fault)
    return next((n for n in others if entity and any(is_same(entity, e) for e in case.entities(n, "Cause"))), "")


def _count_nameless(case: LintContext, fault: str) -> int:
    """Count how many labels of a fault may have no entity: as many as it has causes whose names are drawn at
    injection.
    """
    rendered = case.faults.get(fault)
    return sum(e.generated for e in rendered.causes) if rendered else 0


def _is_alike(one: str, other: str) -> bool:
    return is_same(one, other) if one and other else one == other


def _find_elsewhere(case: LintContext, own: int, alias: str) -> str:
    """Find what else the alias names, where that is another cause: labelled, or changed by another fault."""
    causes = case.scenario.spec.ground_truth.root_causes
    for i, other in enumerate(causes):
        if i != own and any(is_same(alias, name) for name in (other.entity, *other.aliases) if name):
            return f"'{alias}' also names the root cause of fault '{other.fault}'"
    for use in case.scenario.spec.faults:
        if use.name != causes[own].fault and any(is_same(alias, e) for e in case.entities(use.name, "Cause")):
            return f"'{alias}' is what fault '{use.name}' changes"
    return ""


def _suffers(case: LintContext, fault: str, alias: str) -> str:
    if any(is_same(alias, cause) for cause in case.entities(fault, "Cause")):
        return ""
    spec = case.scenario.spec
    if any(is_same(alias, edge.to) for edge in spec.ground_truth.propagation):
        return f"'{alias}' suffers from the cause: an edge of the propagation leads to it"
    if any(
        is_same(alias, alert.entity) for alert in spec.expect.alerts if alert.entity and alert.alert_class == "MustFire"
    ):
        return f"'{alias}' suffers from the cause: an alert must fire on it"
    if any(is_same(alias, victim) for victim in case.entities(fault, "Victim")):
        return f"'{alias}' is a victim of fault '{fault}'"
    return ""


def _find_bystander(case: LintContext, own: int, alias: str) -> str:
    """Find what else an alias names that is neither a cause of its fault nor the same thing as one; empty
    where it is.
    """
    cause = case.scenario.spec.ground_truth.root_causes[own]
    fault = case.faults.get(cause.fault)
    if case.app is None or case.objects is None or fault is None or not case.exists(alias) or find_meant(case, alias):
        return ""  # SK112
    broken = {ref for ref in (cause.entity, *case.entities(cause.fault, "Cause")) if ref}
    if any(is_same(alias, ref) or is_one_thing(case.objects, case.app, alias, ref) for ref in broken):
        return ""
    touched = touches(fault, case.objects, case.app, alias)
    mine = {name for text in (fault.target, *broken) for name in find_components(case.app, text)}
    if (other := find_components(case.app, alias) - mine) and not touched:
        return f"'{alias}' is another component, which fault '{cause.fault}' does not touch"
    of = {
        name for user in _list_users(case, Reference.parse(alias)) for name in find_components(case.app, user) or {user}
    }
    if not touched and not find_components(case.app, alias) and not (of and of <= mine):
        others = sorted(of - mine)
        more = f" and {len(others) - 2} others" if len(others) > 2 else ""
        shared = f"belongs to {', '.join(others[:2])}{more} as well" if of else "belongs to no component"
        return f"'{alias}' {shared}, and fault '{cause.fault}' does not touch it"
    named = " and ".join(sorted(broken)) or f"an object of fault '{cause.fault}'"
    if touched or other:
        return f"'{alias}' is not what fault '{cause.fault}' names as its cause, and is not the same thing as {named}"
    return f"'{alias}' is healthy: what is broken is {named}, and neither of them is the other or owns it"


def _list_users(case: LintContext, ref: Reference) -> list[str]:
    """List workloads that have an object to themselves or share it: they read it, run under it, or are scaled by it."""
    assert case.app is not None
    objects = case.objects or ()
    users = find_readers(objects, ref, case.app.namespace)
    for known, obj in case.known.items():
        spec = obj.get("spec") or {}
        if ref.kind == "ServiceAccount" and known.kind in WORKLOADS:
            account = spec["template"]["spec"].get("serviceAccountName", "default")
            users += [str(known)] if account == ref.name else []
        elif (known.kind, known.name) == (ref.kind, ref.name) and (scaled := spec.get("scaleTargetRef")):
            users.append(f"{scaled['kind']}/{scaled['name']}")
    return users
