"""Admission policies for the API server: limits of the operator, and checks of applied Scenarios.

The operator checks the same before (``admission``); the policies are a second line of defence.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from scenario_kit.schema.api_group import GROUP
from scenario_kit.schema.solver import SOLVER
from scenario_kit.schema.webhook import WEBHOOK_NAME
from scenario_kit.schema.writable import APP_ROLE, EXPERIMENTS, OWNED, SECRET_TYPES, SYSTEM_NAMESPACES, WRITABLE

_API: Final = "admissionregistration.k8s.io/v1"
_RBAC: Final = "rbac.authorization.k8s.io"
_BOUNDS: Final = "operator-bounds"
_LABEL, _VALUE = OWNED
_WRITES: Final = ["CREATE", "UPDATE", "DELETE"]


class _Bound(NamedTuple):
    """A condition on the operator's requests for some resources."""

    name: str
    group: str
    resources: tuple[str, ...]
    expression: str
    message: str
    operations: tuple[str, ...] = ("CREATE", "UPDATE")


def _quote_texts(values: Sequence[str]) -> str:
    return "[" + ", ".join(f"'{value}'" for value in values) + "]"


def _has(owner: str) -> str:
    """Return a CEL test whether a namespace has the operator's label."""
    return f"(has({owner}.metadata.labels) && {owner}.metadata.labels[?'{_LABEL}'].orValue('') == '{_VALUE}')"


def _build_home_test(namespace: str) -> str:
    workloads = _quote_texts(("deployments", "statefulsets", "daemonsets"))
    return (
        f"{_has('namespaceObject')} || request.namespace == '{namespace}'"
        f" || (request.namespace in {_quote_texts(SYSTEM_NAMESPACES)} && request.operation == 'UPDATE' && ("
        f"(request.resource.resource == 'configmaps' && request.name == 'coredns')"
        f" || (request.resource.resource in {workloads} && object.spec.template.spec == oldObject.spec.template.spec)))"
    )


def _list_bounds(namespace: str, account: str) -> Iterator[_Bound]:
    """Yield the conditions, one per kind of object."""
    solver = f"object.roleRef.name == '{SOLVER}' && object.subjects.all(s, s.kind == 'User' && s.name == '{SOLVER}')"
    own = f"s.kind == 'ServiceAccount' && s.name == '{account}' && s.namespace == '{namespace}'"
    app = f"object.roleRef.name == '{APP_ROLE}' && object.subjects.all(s, {own})"
    yield _Bound(
        "namespaces", "", ("namespaces",),
        f"(request.operation == 'CREATE' ? {_has('object')} : {_has('oldObject')})"
        f" && (request.operation == 'DELETE' || ({_has('object')} &&"
        " object.metadata.labels[?'pod-security.kubernetes.io/enforce'].orValue('') != 'privileged'))",
        "the operator writes only namespaces that it made itself", ("CREATE", "UPDATE", "DELETE"),
    )  # fmt: skip
    yield _Bound(
        "bindings", _RBAC, ("rolebindings",),
        f"request.namespace != '{namespace}' && (object.roleRef.kind == 'Role' ? (!has(object.subjects) ||"
        f" object.subjects.all(s, s.kind == 'ServiceAccount' || s.name == '{SOLVER}')) :"
        f" has(object.subjects) && (({solver}) || ({app})))",
        "the operator binds roles of the namespace, that of the solver, and its own for apps",
    )  # fmt: skip
    yield _Bound(
        "cluster-roles", _RBAC, ("clusterroles",),
        "!has(object.aggregationRule) && (!has(object.metadata.labels) ||"
        f" object.metadata.labels.all(k, !k.startsWith('{_RBAC}/aggregate-to-'))) && (!has(object.rules) ||"
        " object.rules.all(r, r.verbs.all(v, v in ['get', 'list', 'watch']) && (!has(r.resources) ||"
        " r.resources.all(x, !x.contains('*') && !x.contains('/') && !(x in ['secrets', 'configmaps']))) &&"
        " (!has(r.apiGroups) || r.apiGroups.all(g, g != '*')) && (!has(r.nonResourceURLs) ||"
        " r.nonResourceURLs.all(u, u in ['/healthz', '/livez', '/readyz', '/version']))))",
        "the operator makes only cluster roles that read plain objects",
    )  # fmt: skip
    yield _Bound(
        "cluster-bindings", _RBAC, ("clusterrolebindings",),
        "!object.roleRef.name.startsWith('system:') && !object.roleRef.name.startsWith('scenario-kit')"
        f" && !object.roleRef.name.startsWith('{SOLVER}')"
        " && !(object.roleRef.name in ['cluster-admin', 'admin', 'edit', 'view'])"
        " && (!has(object.subjects) || object.subjects.all(s, s.kind == 'ServiceAccount'))",
        "the operator binds no role of the cluster itself",
    )  # fmt: skip
    yield _Bound(
        "secrets", "", ("secrets",),
        f"!has(object.type) || object.type in {_quote_texts(SECRET_TYPES)}",
        "the operator makes no tokens",
    )  # fmt: skip
    yield _Bound(
        "services", "", ("services",),
        "!has(object.spec.externalIPs) || object.spec.externalIPs.size() == 0",
        "the operator takes no external addresses",
    )  # fmt: skip
    yield _Bound(
        "webhooks", "admissionregistration.k8s.io",
        ("mutatingwebhookconfigurations", "validatingwebhookconfigurations"),
        "!has(object.webhooks) || object.webhooks.all(w, has(w.clientConfig.service) && has(w.namespaceSelector) &&"
        " has(w.namespaceSelector.matchLabels) && 'kubernetes.io/metadata.name' in w.namespaceSelector.matchLabels"
        f" && has(w.rules) && w.rules.all(r, has(r.scope) && r.scope == 'Namespaced')) || {_build_own_webhook_test()}",
        "the operator makes only webhooks about objects of one namespace",
    )  # fmt: skip


def _build_own_webhook_test() -> str:
    """Build the test that a write puts nothing but an authority into the configuration of the operator's webhook."""
    kept = ("rules", "failurePolicy", "matchConditions", "namespaceSelector", "objectSelector")
    same = " && ".join(f"o.{field} == w.{field}" for field in kept)
    return (
        f"(request.operation == 'UPDATE' && request.name == '{WEBHOOK_NAME}' &&"
        " object.webhooks.size() == oldObject.webhooks.size() && object.webhooks.all(w, oldObject.webhooks.exists(o,"
        " o.name == w.name && has(o.clientConfig.service) && has(w.clientConfig.service)"
        f" && o.clientConfig.service == w.clientConfig.service && {same})))"
    )


def build_bounds(namespace: str, account: str) -> list[dict[str, Any]]:
    """Build policies on the operator's requests: namespaces, bindings, roles, Secrets."""
    groups: dict[str, list[str]] = {}
    for each in WRITABLE:
        if each.namespaced:
            groups.setdefault(each.group, []).append(each.resource)
    rules = [_build_rule(group, resources, _WRITES) for group, resources in groups.items()]
    reported = "the operator writes only in namespaces that it made itself"
    found = _build_policy("places", namespace, account, rules, _build_home_test(namespace), reported)
    for bound in _list_bounds(namespace, account):
        rule = _build_rule(bound.group, bound.resources, bound.operations)
        found += _build_policy(bound.name, namespace, account, [rule], bound.expression, bound.message)
    return found


def _build_rule(group: str, resources: Sequence[str], operations: Sequence[str]) -> dict[str, Any]:
    return {
        "apiGroups": [group], "apiVersions": ["*"], "operations": list(operations), "resources": list(resources),
    }  # fmt: skip


def _build_policy(
    name: str, namespace: str, account: str, rules: list[dict[str, Any]], expression: str, message: str
) -> list[dict[str, Any]]:
    user = f"system:serviceaccount:{namespace}:{account}"
    whom = {"name": "operator", "expression": f"request.userInfo.username == '{user}'"}
    return bound(f"{_BOUNDS}-{name}", rules, [{"expression": expression, "message": message}], [whom])


def bound(
    name: str,
    rules: list[dict[str, Any]],
    validations: list[dict[str, str]],
    conditions: list[dict[str, str]] | None = None,
    variables: list[dict[str, str]] | None = None,
) -> list[dict[str, Any]]:
    """Build a policy that denies requests unless all validations hold, with its binding."""
    spec: dict[str, Any] = {
        "failurePolicy": "Fail",
        "matchConstraints": {"resourceRules": rules},
        "validations": validations,
    }
    if conditions:
        spec["matchConditions"] = conditions
    if variables:
        spec["variables"] = variables
    return [
        {"apiVersion": _API, "kind": "ValidatingAdmissionPolicy", "metadata": {"name": name}, "spec": spec},
        {
            "apiVersion": _API,
            "kind": "ValidatingAdmissionPolicyBinding",
            "metadata": {"name": name},
            "spec": {"policyName": name, "validationActions": ["Deny"]},
        },
    ]


#: Kinds that are requests, or control admission, as in ``admission``.
GOVERNING: Final = (
    "APIService", "CertificateSigningRequest", "CustomResourceDefinition", "MutatingAdmissionPolicy",
    "MutatingAdmissionPolicyBinding", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding",
)  # fmt: skip
REQUESTS: Final = (
    "Binding", "Eviction", "List", "LocalSubjectAccessReview", "SelfSubjectAccessReview", "SelfSubjectReview",
    "SelfSubjectRulesReview", "SubjectAccessReview", "TokenRequest", "TokenReview",
)  # fmt: skip


def build_scenario_policies() -> list[dict[str, Any]]:
    """Build the checks of a Scenario when it is applied: kinds, types of Secrets, and built-in cluster roles."""
    never = (*GOVERNING, *REQUESTS)
    kinds = [each.kind for each in WRITABLE]
    experiments = [each.partition("/")[0] for each in EXPERIMENTS]
    governing = f"(b.kind in {_quote_texts(never)} || (has(b.apiVersion) && b.apiVersion.startsWith('{GROUP}/')))"
    validations = [
        (_test_every(f"!{governing}"), "SK220: a change writes what decides for everybody, or is a request and no "
        "object"),
        (_test_every(f"{governing} || b.kind in {_quote_texts(kinds)}"), "SK235: a change writes an object of a kind "
        "that no "
         "change may write"),
        (_test_every("!has(b.apiVersion) || !b.apiVersion.startsWith('chaos-mesh.org/') || b.kind in "
                f"{_quote_texts(experiments)}"), "SK235: a change makes chaos of a kind that no change may make"),
        (_test_every(f"b.kind != 'Secret' || !has(b.type) || b.type in {_quote_texts(SECRET_TYPES)}"),
         "SK203: a change makes a Secret that is a credential of the cluster"),
        (_test_every("b.kind != 'ClusterRoleBinding' || !has(b.roleRef) || !(b.roleRef.name.startsWith('system:') || "
                "b.roleRef.name in ['cluster-admin', 'admin', 'edit', 'view'])"),
         "SK203: a change binds a role of the cluster itself"),
    ]  # fmt: skip
    rules = [_build_rule(GROUP, ["scenarios"], ["CREATE", "UPDATE"])]
    return bound(
        "scenario-changes",
        rules,
        [{"expression": expression, "message": message} for expression, message in validations],
        # A scenario under deletion must not be blocked.
        [{"name": "staying", "expression": "!has(object.metadata.deletionTimestamp)"}],
    )


def _test_every(test: str) -> str:
    """Return a test of each body ``b`` that a solution or decoy creates or applies."""
    body = " && ".join(
        f"(!has(c.{name}) || !has(c.{name}.kind) || [c.{name}].all(b, {test}))" for name in ("create", "apply", "chaos")
    )
    return " && ".join(
        f"(!has(object.spec.{part}) || object.spec.{part}.all(p, !has(p.changes) || p.changes.all(c, {body})))"
        for part in ("solutions", "decoys")
    )
