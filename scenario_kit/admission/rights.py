"""Permissions that a change grants: at most the app's own, or declared and still bounded.

As in Kubernetes' escalation check, a rule is split into single verbs, groups, resources and names, and each part
must be covered by one of the allowed rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, Final, NamedTuple

from scenario_kit.admission.bounds import RBAC, AdmissionBounds
from scenario_kit.admission.breach import Breach
from scenario_kit.model import Object
from scenario_kit.model.chaos.kinds import GROUP as CHAOS_GROUP
from scenario_kit.model.json_document import Place
from scenario_kit.model.kubernetes.reference import GROUP, find_named

Rule = Mapping[str, Any]
READ: Final = ("get", "list", "watch")
_CHANGE: Final = (*READ, "create", "delete", "patch", "update")
_PATCH: Final = (*READ, "patch", "update")
_HEALTH: Final = ("/healthz", "/livez", "/readyz", "/version")
#: API groups whose objects reveal the answer, and the wildcard.
_ANSWERS: Final = (CHAOS_GROUP, GROUP, "*")


def _build_rule(group: str, resources: str, verbs: Sequence[str]) -> Rule:
    return {"apiGroups": [group], "resources": resources.split(), "verbs": list(verbs)}


#: Maximum of `NamespaceRights`: nothing that holds or grants permissions, or gets into a running pod; and nothing
#: that the operator does not hold itself in the namespace of an app (``schema.install``), since it cannot grant more.
NAMESPACE_MAXIMUM: Final = (
    _build_rule("", "configmaps", _CHANGE),
    _build_rule("", "endpoints events limitranges persistentvolumeclaims pods", READ),
    _build_rule("", "pods/log", ("get",)),
    _build_rule("", "replicationcontrollers resourcequotas services", READ),
    _build_rule("apps", "controllerrevisions", READ),
    _build_rule("apps", "daemonsets deployments replicasets statefulsets", _PATCH),
    _build_rule("autoscaling", "horizontalpodautoscalers", _PATCH),
    _build_rule("batch", "cronjobs jobs", READ),
    _build_rule("discovery.k8s.io", "endpointslices", READ),
    _build_rule("metrics.k8s.io", "pods", READ),
    _build_rule("networking.k8s.io", "ingresses networkpolicies", READ),
    _build_rule("policy", "poddisruptionbudgets", READ),
)
#: Maximum of `ClusterRights`: read access to what is not confidential.
CLUSTER_MAXIMUM: Final = (
    _build_rule("", "endpoints limitranges namespaces nodes persistentvolumeclaims persistentvolumes pods", READ),
    _build_rule("", "replicationcontrollers resourcequotas services", READ),
    _build_rule("apps", "controllerrevisions daemonsets deployments replicasets statefulsets", READ),
    _build_rule("autoscaling", "horizontalpodautoscalers", READ),
    _build_rule("batch", "cronjobs jobs", READ),
    _build_rule("discovery.k8s.io", "endpointslices", READ),
    _build_rule("metrics.k8s.io", "nodes pods", READ),
    _build_rule("networking.k8s.io", "ingresses ingressclasses networkpolicies", READ),
    _build_rule("policy", "poddisruptionbudgets", READ),
    _build_rule("scheduling.k8s.io", "priorityclasses", READ),
    _build_rule("storage.k8s.io", "storageclasses", READ),
    {"nonResourceURLs": list(_HEALTH), "verbs": ["get"]},
)
#: Maximum for roles of an app: also its own Secrets.
_APP_MAXIMUM: Final = (*NAMESPACE_MAXIMUM, _build_rule("", "secrets", READ))


#: Maximum number of permissions in a role, each compared with all that the app has; roles have some hundreds.
MAX_PERMISSIONS: Final = 10_000


class _RulePart(NamedTuple):
    """One verb on one resource (and name, if the rule has names), or on one URL."""

    verb: str
    group: str
    resource: str
    name: str = ""
    url: str = ""


def _split_rule(rule: Rule) -> Iterator[_RulePart]:
    verbs = rule.get("verbs") or ()
    for verb, url in product(verbs, rule.get("nonResourceURLs") or ()):
        yield _RulePart(str(verb), "", "", "", str(url))
    names = rule.get("resourceNames") or ("",)
    for parts in product(verbs, rule.get("apiGroups") or (), rule.get("resources") or (), names):
        yield _RulePart(*map(str, parts))


def _count_parts(rule: Rule) -> int:
    groups, resources, names = (len(rule.get(f) or ()) for f in ("apiGroups", "resources", "resourceNames"))
    return len(rule.get("verbs") or ()) * (len(rule.get("nonResourceURLs") or ()) + groups * resources * max(names, 1))


def _covers(rule: Rule, part: _RulePart) -> bool:
    def holds(field: str, value: str) -> bool:
        return "*" in (rule.get(field) or ()) or value in (rule.get(field) or ())

    if not holds("verbs", part.verb):
        return False
    if part.url:
        urls = [str(url) for url in rule.get("nonResourceURLs") or ()]
        return part.url in urls or any(u.endswith("*") and part.url.startswith(u[:-1]) for u in urls)
    if part.group not in (rule.get("apiGroups") or ()) and "*" not in (rule.get("apiGroups") or ()):
        return False
    names = rule.get("resourceNames") or ()
    below = part.resource.partition("/")[2]
    alike = below and f"*/{below}" in (rule.get("resources") or ())
    return (holds("resources", part.resource) or bool(alike)) and (not names or part.name in names)


def find_uncovered(rule: Rule, owned: Iterable[Rule]) -> list[_RulePart]:
    """Find the parts of a rule that no other rule covers."""
    known = tuple(owned)
    return [part for part in _split_rule(rule) if not any(_covers(other, part) for other in known)]


def check_granted(obj: Object, bounds: AdmissionBounds) -> Iterator[Breach]:
    """Report permissions of a role or a binding beyond the app's."""
    kind = obj["kind"]
    if kind in ("Role", "ClusterRole"):
        yield from _check_role(obj, bounds)
    elif kind in ("RoleBinding", "ClusterRoleBinding"):
        yield from _check_binding(obj, bounds)


def _check_role(obj: Object, bounds: AdmissionBounds) -> Iterator[Breach]:
    everywhere = obj["kind"] == "ClusterRole"
    if obj.get("aggregationRule") is not None:
        note = "has an aggregation rule, so that its permissions depend on roles of others"
        yield Breach("SK203", ("aggregationRule",), "aggregationRule", note)
    for key in obj["metadata"].get("labels") or ():
        if str(key).startswith(f"{RBAC}/aggregate-to-"):
            yield Breach("SK203", ("metadata", "labels", key), key, "extends the permissions of other accounts")
    count = sum(_count_parts(rule) for rule in obj.get("rules") or () if isinstance(rule, Mapping))
    if count > MAX_PERMISSIONS:
        note = f"lists {count:,} permissions (verbs × API groups × resources × names)"
        yield Breach("SK203", ("rules",), count, note, expected=f"at most {MAX_PERMISSIONS:,}")
        return
    owned = () if everywhere else bounds.rules
    most = CLUSTER_MAXIMUM if everywhere else _APP_MAXIMUM if bounds.of_app else NAMESPACE_MAXIMUM
    for i, rule in enumerate(obj.get("rules") or ()):
        if not isinstance(rule, Mapping):
            continue
        yield from _check_own_answers(rule, i)
        never = [part for part in find_uncovered(rule, (*owned, *most)) if part.group not in _ANSWERS]
        if bounds.of_app:
            yield from _report_excess(rule, i, never, everywhere=everywhere)
        else:
            yield from (_build_breach(rule, i, part, everywhere) for part in never)
        if never or bounds.of_app:
            continue
        declared = "ClusterRights" if everywhere else "NamespaceRights"
        for part in find_uncovered(rule, owned)[:1]:
            if part.group not in _ANSWERS:
                note = (
                    f"allows {_describe_part(part)}{' everywhere' if everywhere else ''}, which no role of the app does"
                )
                yield Breach("SK202", ("rules", i, "verbs"), part.verb, note, declared)


def _check_own_answers(rule: Rule, i: int) -> Iterator[Breach]:
    for j, group in enumerate(rule.get("apiGroups") or ()):
        if group in _ANSWERS:
            yield Breach("SK213", ("rules", i, "apiGroups", j), group, f"grants permissions on objects of '{group}'")


def _build_breach(rule: Rule, i: int, part: _RulePart, everywhere: bool) -> Breach:
    """Build the breach for an excessive rule: at the verb if read access would be admitted, else at the resource."""
    where = "in every namespace" if everywhere else "beyond the maximum of a declared exception"
    if part.url:
        place: Place = ("rules", i, "nonResourceURLs", list(rule["nonResourceURLs"]).index(part.url))
        return Breach("SK203", place, part.url, f"allows {part.verb} on {part.url} of the API server")
    readable = not find_uncovered({**rule, "resources": [part.resource], "apiGroups": [part.group], "verbs": READ},
                             CLUSTER_MAXIMUM if everywhere else NAMESPACE_MAXIMUM)  # fmt: skip
    field, value = ("verbs", part.verb) if readable else ("resources", part.resource)
    at = [str(each) for each in rule[field]].index(value)
    return Breach("SK203", ("rules", i, field, at), value, f"allows {_describe_part(part)} {where}")


def _report_excess(rule: Rule, i: int, never: Sequence[_RulePart], *, everywhere: bool) -> Iterator[Breach]:
    """Report what a role of an app has beyond the maximum, once for each API group and resource.

    Published roles combine groups and resources of one rule, of which some do not exist: nobody can grant those.
    """
    homes: dict[str, set[str]] = {}
    for each in _APP_MAXIMUM:
        for group, resource in product(each["apiGroups"], each["resources"]):
            homes.setdefault(resource, set()).add(group)
    strange: dict[str, list[str]] = {}
    excess: dict[tuple[str, str], list[_RulePart]] = {}
    for part in never:
        if not part.url and part.group not in homes.get(part.resource, {part.group}):
            strange.setdefault(part.group, []).append(part.resource)
        else:
            excess.setdefault((part.group, part.resource or part.url), []).append(part)
    for group, resources in strange.items():
        names = list(dict.fromkeys(resources))
        at = [str(each) for each in rule["apiGroups"]].index(group)
        note = f"combines the API group '{group}' with {', '.join(names)}, which it does not have"
        whole = len(names) == len(rule["resources"])
        fix = "leave the group out" if whole else "write one rule for each API group, with its own resources"
        yield Breach("SK203", ("rules", i, "apiGroups", at), group, note, fix=fix)
    for (_, value), parts in excess.items():
        field = "nonResourceURLs" if parts[0].url else "resources"
        at = [str(each) for each in rule[field]].index(value)
        what = _describe_part(parts[0]).partition(" on ")[2]
        verbs = ", ".join(dict.fromkeys(part.verb for part in parts))
        where = " of the API server" if parts[0].url else " in every namespace" if everywhere else ""
        note = f"allows {verbs} on {what}{where}, more than an app may have"
        within = everywhere and all(any(_covers(each, part) for each in _APP_MAXIMUM) for part in parts)
        fix = "" if within else f"leave {verbs} on {what} out; a program that needs it cannot run in a trial"
        yield Breach("SK203", ("rules", i, field, at), value, note, fix=fix)


def _describe_part(part: _RulePart) -> str:
    if part.url:
        return f"{part.verb} on {part.url}"
    resource = f"{part.resource}.{part.group}" if part.group else part.resource
    verb = "every verb" if part.verb == "*" else part.verb
    return f"{verb} on {'all resources' if resource == '*' else resource}"


def _check_binding(obj: Object, bounds: AdmissionBounds) -> Iterator[Breach]:
    ref = obj.get("roleRef") or {}
    kind, name = str(ref.get("kind", "")), str(ref.get("name", ""))
    # The role must exist when it is bound; a later one could be created by others first.
    role = find_named(bounds.ready, kind, name)
    everywhere = obj["kind"] == "ClusterRoleBinding"
    if not everywhere and kind == "ClusterRole":
        note = f"binds ClusterRole '{name}' in the app's namespace instead of a Role"
        yield Breach("SK203", ("roleRef", "name"), name, note, expected="a Role of the app, or of the fault")
    elif role is None:
        what = "of the whole cluster" if everywhere else "in the app's namespace"
        note = f"binds {kind} '{name}' {what}, which is not a role of the app"
        yield Breach(
            "SK203", ("roleRef", "name"), name, note, expected="a role of the app, or one that the fault creates"
        )
    elif everywhere and not bounds.of_app:
        note = f"binds {kind} '{name}' in every namespace"
        yield Breach("SK202", ("roleRef", "name"), name, note, "ClusterRights")
    for i, subject in enumerate(obj.get("subjects") or ()):
        if isinstance(subject, Mapping):
            yield from _check_subject(subject, i, obj, bounds)


def _check_subject(subject: Mapping[str, Any], i: int, obj: Object, bounds: AdmissionBounds) -> Iterator[Breach]:
    kind, name = str(subject.get("kind", "")), str(subject.get("name", ""))
    home = str(subject.get("namespace") or obj["metadata"].get("namespace") or bounds.namespace)
    if kind != "ServiceAccount":
        note = f"grants permissions to the {kind or 'subject'} '{name}', which is not an account of the app"
        yield Breach("SK203", ("subjects", i, "name"), name, note, expected="a ServiceAccount of the app")
    elif home not in bounds.namespaces:
        note = f"grants permissions to '{name}' of namespace '{home}', which is not the app's"
        yield Breach("SK203", ("subjects", i, "namespace"), home, note, expected="a ServiceAccount of the app")
