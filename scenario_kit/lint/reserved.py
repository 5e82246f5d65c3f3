"""SK220: what no change may reach, whatever a fault declares: the kit, the API, others' rights and secrets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from scenario_kit.lint.case import Case
from scenario_kit.lint.entry import FaultCase
from scenario_kit.lint.rule import Problem, rule
from scenario_kit.lint.spot import Found, Spot, fresh
from scenario_kit.lint.stage import mappings
from scenario_kit.model import APP_NAMESPACE, App, Change, Object, Reference
from scenario_kit.model.reference import GROUP, MANAGEMENT_NAMESPACE, real_name, symbolic_name

#: Kinds that decide what the API server serves or admits for everybody, and who may ask it.
_GOVERNING: Final = frozenset(
    {
        "APIService", "CertificateSigningRequest", "CustomResourceDefinition", "MutatingAdmissionPolicy",
        "MutatingAdmissionPolicyBinding", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding",
    }
)  # fmt: skip
#: Kinds that are requests, not objects: nothing is kept that could be undone.
_REQUESTS: Final = frozenset(
    {
        "Binding", "Eviction", "List", "LocalSubjectAccessReview", "SelfSubjectAccessReview", "SelfSubjectReview",
        "SelfSubjectRulesReview", "SubjectAccessReview", "TokenRequest", "TokenReview",
    }
)  # fmt: skip
#: Kinds that hold or grant rights.
_RIGHTS: Final = frozenset({"ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding", "Secret", "ServiceAccount"})
_OF_CLUSTER: Final = ("ClusterRole", "ClusterRoleBinding")
_OURS: Final = (MANAGEMENT_NAMESPACE, "chaos-mesh")
_WEBHOOKS: Final = ("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration")
#: The label by which a namespace is selected by its name.
_NAME: Final = "kubernetes.io/metadata.name"


class _Target(NamedTuple):
    """What a change is about, with its namespace as references spell it."""

    kind: str
    name: str
    namespace: str
    group: str

    def __str__(self) -> str:
        where = "" if self.namespace == APP_NAMESPACE or self.kind in _OF_CLUSTER else f"{self.namespace}/"
        return f"{where}{self.kind}/{self.name}"


@rule(
    "SK220",
    why=(
        "such a change harms more than the app, cannot be undone, or judges the trial in its own favour; "
        "a stranger's scenario must be safe to run"
    ),
    bad="changes: [{delete: {target: Namespace/default}}]",
    good="changes of objects of the app, and of what the fault itself creates",
    fix="change an object of the app instead",
    about=("Scenario", "Fault"),
)
def reserved(case: Case | FaultCase) -> Iterator[Problem]:
    """A change reaches what no scenario may touch."""
    told: set[str] = set()
    every = [(stage.place, stage.app, stage.changes) for stage in case.stages]
    made = {target for _, app, changes in every for target in _created(changes, app)}
    for place, app, changes in every:
        for change in changes:
            target = _target(change, app)
            message = _refused(change.operation, target, app, made) if target else ""
            if target and message and message not in told:
                told.add(message)
                yield Problem(place, f"{target} {message}", f"{change.operation} of {target}")
    for found in fresh(case, _marked):
        yield _problem(found)
    for found in fresh(case, _hooks):
        if found.spot.value not in _homes(found.written.stage.app):
            yield _problem(found)


def _problem(found: Found) -> Problem:
    told = f"{found.subject} {found.spot.note}"
    return Problem(found.site.place, told, str(found.spot.value)[:200], position=found.site.position)


def _refused(operation: str, target: _Target, app: App, made: set[_Target]) -> str:
    """Why a change is refused; empty where it is not."""
    own = target.namespace in (APP_NAMESPACE, *app.namespaces)
    if target.group == GROUP:
        return f"is an object of {GROUP}: it decides what is run and judged"
    if target.namespace in _OURS and operation in ("delete", "scale", "restart", "undoRollout"):
        return f"lies in '{target.namespace}', where the trial itself is run from"
    if target.kind in _GOVERNING:
        return "decides for everybody what the API server takes"
    if target.kind in _REQUESTS:
        return "is a request, not an object: what it does cannot be undone"
    if operation in ("create", "apply", "chaos") or target in made:
        return ""
    if target.kind == "Namespace" and target.name not in _homes(app):
        return "is somebody else's namespace"
    if target.kind == "Node" and operation == "delete":
        return "is a node, which comes back only if its machine registers it again"
    if target.kind in _RIGHTS and (not own or target.kind in _OF_CLUSTER):
        return "holds rights or secrets of somebody else"
    return ""


def _created(changes: Sequence[Change], app: App) -> Iterator[_Target]:
    for change in changes:
        if change.create or change.apply or change.chaos:
            target = _target(change, app)
            if target:
                yield target._replace(group="")
                yield target


def _target(change: Change, app: App) -> _Target | None:
    if body := change.create or change.apply or change.chaos:
        metadata = body["metadata"]
        namespace = symbolic_name(metadata.get("namespace") or APP_NAMESPACE, app.namespace)
        return _Target(body["kind"], metadata["name"], namespace, body.get("apiVersion", "").rpartition("/")[0])
    if not change.target:
        return None
    ref = Reference.parse(change.target)
    return _Target(ref.kind, ref.name, symbolic_name(ref.namespace, app.namespace), ref.group)


def _homes(app: App) -> set[str]:
    return {real_name(app.namespace, symbol) for symbol in (APP_NAMESPACE, *app.namespaces)}


def _marked(obj: Object) -> Iterator[Spot]:
    """Marks by which others find, keep or remove an object."""
    metadata = obj["metadata"]
    for i, text in enumerate(metadata.get("finalizers") or ()):
        yield Spot(("metadata", "finalizers", i), text, f"has the finalizer '{text}', without which it cannot go")
    for i, owner in mappings(metadata.get("ownerReferences")):
        yield Spot(("metadata", "ownerReferences", i, "kind"), owner.get("kind"), "names an owner, who would remove it")
    if obj["kind"] == "PriorityClass" and obj.get("globalDefault"):
        yield Spot(("globalDefault",), True, "is the priority of every new pod in the cluster")
    for field in ("labels", "annotations"):
        for key in metadata.get(field) or ():
            if str(key).partition("/")[0] == GROUP:
                yield Spot(("metadata", field, key), key, f"has '{key}', by which the kit finds what is its own")


def _hooks(obj: Object) -> Iterator[Spot]:
    """Webhooks, each with the namespace that it is limited to, and those outside of the cluster."""
    for i, hook in mappings(obj.get("webhooks")) if obj["kind"] in _WEBHOOKS else ():
        client: Any = hook.get("clientConfig") or {}
        if client.get("url"):
            yield Spot(("webhooks", i, "clientConfig", "url"), client["url"], "sends objects to an address outside")
        selector: Any = hook.get("namespaceSelector") or {}
        name = (selector.get("matchLabels") or {}).get(_NAME, "")
        yield Spot(("webhooks", i, "namespaceSelector"), name, f"is asked about more than the app: no `{_NAME}`")
