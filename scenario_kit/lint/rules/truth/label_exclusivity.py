"""SK124: labels that also match another cause, a victim, or a bystander."""

from __future__ import annotations

from collections.abc import Iterator

from scenario_kit.lint.context.affected_objects import find_components, select_same_pods, touches
from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.lint.context.wrong_namespace import find_intended
from scenario_kit.lint.framework.rule import Problem, register_check
from scenario_kit.load.yaml.edit import Drop, Edit
from scenario_kit.model import Reference
from scenario_kit.model.json_document import Place
from scenario_kit.model.kubernetes.pod_template import read_pod_spec
from scenario_kit.model.kubernetes.reference import WORKLOADS
from scenario_kit.render.objects.config_consumers import find_readers


@register_check("SK124")
def check_aliases(case: LintContext) -> Iterator[Problem]:
    causes = case.scenario.spec.ground_truth.root_causes
    for i, cause in enumerate(causes):
        for j, alias in enumerate(cause.aliases):
            message = (
                _find_other_cause(case, i, alias)
                or _explain_victim(case, cause.fault, alias)
                or _find_bystander(case, i, alias)
            )
            if message:
                place = ("spec", "groundTruth", "rootCauses", i, "aliases", j)
                drop: tuple[Edit, ...] = (Drop(place if len(cause.aliases) > 1 else place[:-1]),)
                yield Problem(place, message, alias, "a name of this cause alone", f"remove `{alias}`", edits=drop)
        if distractor := _find_masking_distractor(case, cause.fault, cause.entity):
            message = f"'{cause.entity}' is also what the distractor '{distractor}' changes"
            fix = "choose another target for the distractor: blaming it would be right by chance"
            yield Problem(("spec", "groundTruth", "rootCauses", i, "entity"), message, cause.entity or "", fix=fix)
        before = sum(o.fault == cause.fault and _is_alike(o.entity, cause.entity) for o in causes[:i])
        if before and before >= (1 if cause.entity else _count_nameless(case, cause.fault)):
            label: Place = ("spec", "groundTruth", "rootCauses", i)
            message = f"fault '{cause.fault}' is labelled twice as {cause.entity or 'the same cause'}"
            yield Problem(label, message, cause.entity or "", "one label per cause", "remove it", edits=(Drop(label),))


def _find_masking_distractor(case: LintContext, fault: str, entity: Reference | None) -> str:
    """Return the distractor that changes the labelled object; empty if there is none."""
    others = (u.name for u in case.scenario.spec.faults if u.role == "Distractor" and u.name != fault)
    return next((n for n in others if entity and any(entity.is_same(e) for e in case.entities(n, "Cause"))), "")


def _count_nameless(case: LintContext, fault: str) -> int:
    """Return how many labels of a fault may have no entity: the number of its causes with generated names."""
    rendered = case.faults.get(fault)
    return sum(e.generated for e in rendered.causes) if rendered else 0


def _is_alike(one: Reference | None, other: Reference | None) -> bool:
    return one.is_same(other) if one and other else one == other


def _find_other_cause(case: LintContext, own: int, alias: Reference) -> str:
    """Explain that an alias names another cause, labelled or changed by another fault; empty if it does not."""
    causes = case.scenario.spec.ground_truth.root_causes
    for i, other in enumerate(causes):
        if i != own and any(alias.is_same(name) for name in (other.entity, *other.aliases) if name):
            return f"'{alias}' also names the root cause of fault '{other.fault}'"
    for use in case.scenario.spec.faults:
        if use.name != causes[own].fault and any(alias.is_same(e) for e in case.entities(use.name, "Cause")):
            return f"'{alias}' is what fault '{use.name}' changes"
    return ""


def _explain_victim(case: LintContext, fault: str, alias: Reference) -> str:
    if any(alias.is_same(cause) for cause in case.entities(fault, "Cause")):
        return ""
    spec = case.scenario.spec
    if any(alias.is_same(edge.to) for edge in spec.ground_truth.propagation):
        return f"'{alias}' suffers from the cause: an edge of the propagation leads to it"
    if any(
        alias.is_same(alert.entity) for alert in spec.expect.alerts if alert.entity and alert.alert_class == "MustFire"
    ):
        return f"'{alias}' suffers from the cause: an alert must fire on it"
    if any(alias.is_same(victim) for victim in case.entities(fault, "Victim")):
        return f"'{alias}' is a victim of fault '{fault}'"
    return ""


def _find_bystander(case: LintContext, own: int, alias: Reference) -> str:
    """Explain that an alias names neither a cause of its fault nor the same pods; empty if it does."""
    cause = case.scenario.spec.ground_truth.root_causes[own]
    fault = case.faults.get(cause.fault)
    if (
        case.app is None
        or case.objects is None
        or fault is None
        or not case.exists(alias)
        or find_intended(case, alias)
    ):
        return ""  # SK112
    broken = {ref for ref in (cause.entity, *case.entities(cause.fault, "Cause")) if ref}
    if any(alias.is_same(ref) or select_same_pods(case.objects, case.app, alias, ref) for ref in broken):
        return ""
    touched = touches(fault, case.objects, case.app, alias)
    mine = {name for text in (fault.target, *broken) for name in find_components(case.app, text)}
    if (other := find_components(case.app, alias) - mine) and not touched:
        return f"'{alias}' is another component, which fault '{cause.fault}' does not touch"
    of = {name for user in _list_users(case, alias) for name in find_components(case.app, user) or {user}}
    if not touched and not find_components(case.app, alias) and not (of and of <= mine):
        others = sorted(of - mine)
        more = f" and {len(others) - 2} others" if len(others) > 2 else ""
        shared = f"belongs to {', '.join(others[:2])}{more} as well" if of else "belongs to no component"
        return f"'{alias}' {shared}, and fault '{cause.fault}' does not touch it"
    named = " and ".join(sorted(broken)) or f"an object of fault '{cause.fault}'"
    if touched or other:
        return f"'{alias}' is neither a cause of fault '{cause.fault}' nor the same object as {named}"
    return f"'{alias}' is healthy: the broken object is {named}, and neither of them owns the other"


def _list_users(case: LintContext, ref: Reference) -> list[Reference]:
    """List workloads that use an object: they read it, run as it, or are scaled by it."""
    assert case.app is not None
    objects = case.objects or ()
    users = find_readers(objects, ref, case.app.namespace)
    for known, obj in case.known.items():
        spec = obj.get("spec") or {}
        if ref.kind == "ServiceAccount" and known.kind in WORKLOADS:
            account = read_pod_spec(obj).get("serviceAccountName", "default")
            users += [known] if account == ref.name else []
        elif (known.kind, known.name) == (ref.kind, ref.name) and (scaled := spec.get("scaleTargetRef")):
            users.append(Reference(scaled["kind"], scaled["name"]))
    return users
