"""The operator works with exactly its printed roles: nothing that it does is refused, and each rule is used."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import pytest

from operators.access.bound_cluster import BoundCluster
from operators.leadership.elector import LeaderElector, Timing
from operators.leadership.lease import LEASE
from operators.webhook.certificates import CertificateKeeper
from operators.webhook.server import create_context
from scenario_kit.admission.rights import find_uncovered
from scenario_kit.campaign.trial_store import API_VERSION
from scenario_kit.changes.receipts import ClusterStore
from scenario_kit.errors import Forbidden
from scenario_kit.model import Object, Reference
from scenario_kit.model.kubernetes.reference import make_object_reference
from scenario_kit.ports import Kind, LogLine, PatchType, Probed
from scenario_kit.schema.install import NAME, NAMESPACE, SYSTEM_ROLE, build_access
from scenario_kit.schema.solver import SOLVER
from scenario_kit.schema.webhook import WEBHOOK_NAME, build_service_client, build_webhook_configuration
from scenario_kit.schema.writable import APP_ROLE, OWNED, WRITABLE
from scenario_kit.testing import FakeCluster

RBAC = "rbac.authorization.k8s.io"
PRINTED = build_access()
RULES: dict[tuple[str, str], list[Object]] = {
    (obj["kind"], obj["metadata"]["name"]): obj["rules"] for obj in PRINTED if "rules" in obj
}
Part = tuple[str, str, str, str]


def list_parts(rules: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str, str]]:
    for rule in rules:
        yield from product(rule["verbs"], rule["apiGroups"], rule["resources"])


class AuthorizedCluster:
    """A cluster that enforces the printed roles where they are bound, and records used rules."""

    def __init__(self, inner: FakeCluster) -> None:
        self.inner = inner
        self.used: set[Part] = set()
        self.late_reviews = 0  # how many reviews still do not know a new binding

    def find_roles(self, namespace: str) -> Iterator[tuple[str, str]]:
        """The roles of the operator in a namespace: those of the cluster, and those that are bound there."""
        yield "ClusterRole", NAME
        for binding in self.inner.list("RoleBinding", namespace, group=RBAC) if namespace else ():
            if any(each["name"] == NAME for each in binding["subjects"]):
                yield binding["roleRef"]["kind"], binding["roleRef"]["name"]

    def require(self, verb: str, group: str, resource: str, namespace: str, name: str = "") -> None:
        for kind, role in self.find_roles(namespace):
            for rule in RULES[kind, role]:
                if (
                    verb in rule["verbs"]
                    and group in rule["apiGroups"]
                    and (resource in rule["resources"] or "*" in rule["resources"])
                    and name in rule.get("resourceNames", [name])
                ):
                    noted = resource if resource in rule["resources"] else "*"
                    self.used.add((role, verb, group, noted))
                    return
        raise Forbidden(f"{verb} {resource}.{group} in '{namespace}'", status=403)

    def _review(self, about: Mapping[str, str]) -> bool:
        """Every user may ask what he may do; the answer uses no rule of the printed roles."""
        used, self.used = self.used, set()
        try:
            self.require(about["verb"], about["group"], about["resource"], about["namespace"])
        except Forbidden:
            return False
        finally:
            self.used = used
        self.late_reviews -= 1
        return self.late_reviews < 0

    def _served(self, kind: str, group: str) -> Kind:
        return next(k for k in self.inner.kinds() if k.kind == kind and (not group or k.group == group))

    def _ask(self, verb: str, ref: Reference, below: str = "") -> None:
        served = self._served(ref.kind, ref.group)
        resource = f"{served.plural}/{below}" if below else served.plural
        self.require(verb, served.group, resource, ref.namespace if served.namespaced else "", ref.name)

    def _require_grant(self, obj: Object) -> None:
        """Check escalation as the API server does: nobody grants more than they hold or may bind."""
        namespace, held = obj["metadata"].get("namespace", ""), []
        for kind, role in self.find_roles(namespace):
            held += RULES[kind, role]
        given = obj.get("rules") or []
        if "roleRef" in obj:
            ref = obj["roleRef"]
            if ref["kind"] == "ClusterRole" and ref["name"] in (SOLVER, APP_ROLE):
                self.require("bind", RBAC, "clusterroles", namespace, ref["name"])
                return
            role = self.inner.get(Reference(ref["kind"], ref["name"], namespace, RBAC))
            given = (role or {}).get("rules") or []
        for rule in given:
            if beyond := find_uncovered(rule, held):
                raise Forbidden(f"grants {beyond}", status=403)

    def get(self, ref: Reference) -> Object | None:
        self._ask("get", ref)
        return self.inner.get(ref)

    def list(
        self, kind: str, namespace: str = "", *, group: str = "", labels: Mapping[str, str] | None = None
    ) -> list[Object]:
        self._ask("list", Reference(kind, "", namespace, group))
        return self.inner.list(kind, namespace, group=group, labels=labels)

    def create(self, obj: Object) -> Object:
        if obj["kind"] == "SelfSubjectAccessReview":
            return {**obj, "status": {"allowed": self._review(obj["spec"]["resourceAttributes"])}}
        self._ask("create", make_object_reference(obj, ""))
        self._require_grant(obj)
        return self.inner.create(obj)

    def apply(self, obj: Object) -> Object:
        ref = make_object_reference(obj, "")
        self._ask("patch", ref)
        if self.inner.get(ref) is None:
            self._ask("create", ref)
        return self.inner.apply(obj)

    def patch(self, ref: Reference, patch: Any, type: PatchType = "Merge", *, subresource: str = "") -> Object:
        self._ask("patch", ref, subresource)
        return self.inner.patch(ref, patch, type, subresource=subresource)

    def delete(self, ref: Reference, *, uid: str = "", grace_seconds: int | None = None) -> None:
        self._ask("delete", ref)
        self.inner.delete(ref, uid=uid, grace_seconds=grace_seconds)

    def evict(self, pod: Reference) -> None:
        self._ask("create", pod, "eviction")
        self.inner.evict(pod)

    def kinds(self) -> Sequence[Kind]:
        return self.inner.kinds()

    def logs(self, pod: Object, *, since: float = 0.0) -> Sequence[LogLine]:
        self._ask("get", make_object_reference(pod, ""), "log")
        return self.inner.logs(pod, since=since)

    def probe(self, pod: Reference, port: int, path: str = "") -> Probed:
        self._ask("get", pod, "proxy")
        return self.inner.probe(pod, port, path)


class World:
    """A cluster where the operator is installed, as it is printed."""

    def __init__(self) -> None:
        self.fake = FakeCluster()
        for name in (NAMESPACE, "kube-system", "theirs"):
            self.fake.put({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        for obj in PRINTED:
            if obj["kind"] in ("ClusterRole", "Role", "RoleBinding", "ClusterRoleBinding"):
                self.fake.put(obj)
        self.authorized = AuthorizedCluster(self.fake)
        self.cluster = BoundCluster(self.authorized, pause=lambda seconds: None)

    def make_namespace(self, name: str = "shop") -> None:
        self.cluster.create(thing("Namespace", "v1", name, metadata={"labels": dict([OWNED])}))


@pytest.fixture
def world() -> World:
    return World()


def thing(kind: str, api: str, name: str, namespace: str = "", **body: Any) -> Object:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {}), **body.pop("metadata", {})}
    return {"apiVersion": api, "kind": kind, "metadata": metadata, **body}


def config(name: str = "c", namespace: str = "shop", **data: str) -> Object:
    return thing("ConfigMap", "v1", name, namespace, data=data)


POD = Reference("Pod", "web-1", "shop")


def test_app_role_in_new_namespace_is_bound_to_operator_only(world: World) -> None:
    world.make_namespace()
    binding = world.fake.get(Reference("RoleBinding", APP_ROLE, "shop", RBAC)) or {}

    assert binding["roleRef"] == {"apiGroup": RBAC, "kind": "ClusterRole", "name": APP_ROLE}
    assert binding["subjects"] == [{"kind": "ServiceAccount", "name": NAME, "namespace": NAMESPACE}]
    assert world.cluster.create(config())


def test_missing_binding_is_created_after_a_refusal(world: World) -> None:
    """A namespace of an earlier version or a killed process, or one with a deleted binding."""
    world.fake.put(thing("Namespace", "v1", "shop", metadata={"labels": dict([OWNED])}))

    assert world.cluster.create(config())
    world.fake.delete(Reference("RoleBinding", APP_ROLE, "shop", RBAC))
    world.cluster.delete(make_object_reference(config(), "shop"))
    assert world.fake.get(Reference("RoleBinding", APP_ROLE, "shop", RBAC)) is not None


@pytest.mark.parametrize("namespace", ["theirs", "kube-system", NAMESPACE])
def test_role_binding_is_not_created_outside_trial_namespaces(world: World, namespace: str) -> None:
    with pytest.raises(Forbidden):
        world.cluster.create(thing("Pod", "v1", "p", namespace))
    assert world.fake.get(Reference("RoleBinding", APP_ROLE, namespace, RBAC)) is None


def test_binding_takes_a_moment_and_is_waited_for(world: World) -> None:
    pauses: list[float] = []
    world.authorized.late_reviews = 3
    BoundCluster(world.authorized, pause=pauses.append).create(
        thing("Namespace", "v1", "shop", metadata={"labels": dict([OWNED])})
    )
    assert pauses == [0.2] * 3


def test_persistent_refusal_is_raised(world: World) -> None:
    def before(verb: str, target: str) -> None:
        if target.startswith("shop/ConfigMap"):
            raise Forbidden("by a policy", status=403)

    world.make_namespace()
    world.fake.before = before
    with pytest.raises(Forbidden, match="by a policy"):
        world.cluster.create(config())


# --- each rule is used


def write_every_kind(world: World) -> None:
    """Create, apply, patch and delete each listed kind, as change operations do."""
    rules = [{"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["get", "patch", "update"]}]
    for each in WRITABLE:
        if each.kind == "Node":
            world.fake.put(thing("Node", "v1", "n"))
            world.cluster.patch(Reference("Node", "n", ""), {"spec": {"unschedulable": True}})
            world.cluster.list("Node")
            continue
        served = next((k for k in world.fake.kinds() if (k.group, k.kind) == (each.group, each.kind)), None)
        if served is None:
            world.fake.put(build_definition(each.group, each.kind, each.resource, each.namespaced))
        version = "v1" if not each.group else f"{each.group}/v1"
        body: Object = {"rules": rules} if each.kind == "Role" else {"spec": {}}
        if each.kind.endswith("RoleBinding"):
            body = {"roleRef": {"kind": "Role", "name": "made"}, "subjects": [{"kind": "ServiceAccount", "name": "a"}]}
        obj = thing(each.kind, version, "made", "shop" if each.namespaced else "", **body)
        ref = make_object_reference(obj, "shop")
        world.cluster.create(obj)
        world.cluster.apply(obj)
        world.cluster.patch(ref, {"metadata": {"labels": {"a": "b"}}})
        assert world.cluster.get(ref) is not None
        assert world.cluster.list(each.kind, "shop" if each.namespaced else "", group=each.group)
        if each.kind not in ("Role", "ClusterRole"):
            world.cluster.delete(ref)
    for kind in ("Role", "ClusterRole"):
        world.cluster.delete(Reference(kind, "made", "shop" if kind == "Role" else "", RBAC))


def build_definition(group: str, kind: str, plural: str, namespaced: bool) -> Object:
    spec = {
        "group": group,
        "names": {"kind": kind, "plural": plural},
        "scope": "Namespaced" if namespaced else "Cluster",
        "versions": [{"name": "v1"}],
    }
    return thing("CustomResourceDefinition", "apiextensions.k8s.io/v1", f"{plural}.{group}", spec=spec)


def work_in_an_app(world: World) -> None:
    world.fake.put(thing("Pod", "v1", POD.name, POD.namespace, spec={"containers": [{"name": "web"}]}))
    world.cluster.logs(world.fake.get(POD) or {})
    world.cluster.probe(POD, 80, "/")
    world.cluster.evict(POD)
    world.fake.put(thing("Event", "v1", "e", "shop"))
    world.cluster.delete(Reference("Event", "e", "shop"))
    world.cluster.list("Event", "shop")
    world.cluster.get(Reference("Event", "e", "shop"))
    world.cluster.delete(Reference("PodNetworkChaos", "left", "shop", "chaos-mesh.org"))
    solver = {"kind": "ClusterRole", "name": SOLVER}
    world.cluster.create(
        thing("RoleBinding", f"{RBAC}/v1", SOLVER, "shop", roleRef=solver, subjects=[{"name": SOLVER}])
    )
    shown = {"apiGroups": ["chaos-mesh.org"], "resources": ["*"], "verbs": ["get", "list", "watch", "delete"]}
    world.cluster.create(thing("Role", f"{RBAC}/v1", "extra", "shop", rules=[shown]))


def work_at_home(world: World) -> None:
    for kind in ("ConfigMap", "Secret"):
        world.cluster.apply(thing(kind, "v1", "r", NAMESPACE))
        world.cluster.list(kind, NAMESPACE)
        world.cluster.delete(Reference(kind, "r", NAMESPACE))
    assert ClusterStore(world.cluster, NAMESPACE, "t").all() == []
    for kind in ("Scenario", "Trial", "Validation"):
        obj = thing(kind, API_VERSION, "t", NAMESPACE, spec={})
        ref = make_object_reference(obj, NAMESPACE)
        world.cluster.create(obj) if kind == "Trial" else world.fake.put(obj)
        world.cluster.list(kind, NAMESPACE, group=ref.group)
        world.cluster.get(ref)
        world.cluster.patch(ref, {"metadata": {"finalizers": None}})
        world.cluster.patch(ref, [{"op": "add", "path": "/status", "value": {}}], "Json", subresource="status")
    world.cluster.delete(Reference("Trial", "t", NAMESPACE, "scenariokit.io"))
    for each in (each for each in WRITABLE if each.group == "chaos-mesh.org"):
        obj = thing(each.kind, "chaos-mesh.org/v1alpha1", "hidden", NAMESPACE, spec={})
        world.cluster.create(obj)
        world.cluster.patch(make_object_reference(obj, ""), {"metadata": {"annotations": {"a": "b"}}})
        world.cluster.delete(make_object_reference(obj, ""))
    elector = LeaderElector(world.cluster, "me", Timing(pause=lambda event, seconds: event.set() or event.is_set()))
    assert elector.acquire()
    elector.renew()
    assert world.fake.get(LEASE) is not None


def maintain_webhook(world: World) -> None:
    client = build_service_client(NAMESPACE)
    world.fake.put(build_webhook_configuration(client, "operator"))
    CertificateKeeper(world.cluster, NAMESPACE, create_context()).keep()
    found = world.fake.get(
        Reference("ValidatingWebhookConfiguration", WEBHOOK_NAME, "", "admissionregistration.k8s.io")
    )
    assert (found or {})["webhooks"][0]["clientConfig"]["caBundle"]


def disturb_the_system(world: World) -> None:
    for kind, name in (("Deployment", "d"), ("StatefulSet", "s"), ("DaemonSet", "n")):
        world.fake.put(thing(kind, "apps/v1", name, "kube-system", spec={"replicas": 1}))
        world.cluster.patch(Reference(kind, name, "kube-system"), {"metadata": {"annotations": {"a": "b"}}})
    world.fake.put(config("coredns", "kube-system"))
    world.fake.put(config("other", "kube-system"))
    world.cluster.patch(Reference("ConfigMap", "coredns", "kube-system"), {"data": {"Corefile": ""}})
    with pytest.raises(Forbidden):
        world.cluster.patch(Reference("ConfigMap", "other", "kube-system"), {"data": {"a": ""}})


def read_cluster_state(world: World) -> None:
    """What canaries and the clean room ask."""
    for verb, group, resource in list_parts(RULES["ClusterRole", NAME]):
        if verb != "list" or resource == "*":
            continue
        kind = next((k for k in world.fake.kinds() if (k.group, k.plural) == (group, resource)), None)
        if kind is None:
            world.fake.put(build_definition(group, resource.title(), resource, namespaced=False))
            kind = next(k for k in world.fake.kinds() if (k.group, k.plural) == (group, resource))
        where = "theirs" if kind.namespaced else ""
        world.cluster.list(kind.kind, where, group=kind.group)
        world.cluster.get(Reference(kind.kind, "x", where, kind.group))
    world.cluster.list("PodChaos", "shop", group="chaos-mesh.org")
    world.cluster.get(Reference("PodNetworkChaos", "x", "shop", "chaos-mesh.org"))


#: Rules that are there to be granted, or for watches: `tests/schema/test_bounds.py` shows that each is needed. The
#: impersonation of the solver is a header and no request.
def is_shown_elsewhere(part: Part) -> bool:
    return part[1] in ("update", "watch", "impersonate")


STEPS: tuple[Callable[[World], None], ...] = (
    write_every_kind, work_in_an_app, work_at_home, maintain_webhook, disturb_the_system, read_cluster_state,
)  # fmt: skip


def test_printed_rbac_rules_are_exactly_those_used(world: World) -> None:
    world.make_namespace()
    for step in STEPS:
        step(world)
    printed = {
        (role, *part)
        for (_, role), rules in RULES.items()
        if role in (NAME, APP_ROLE, SYSTEM_ROLE)
        for part in list_parts(rules)
    }

    assert {part for part in printed - world.authorized.used if not is_shown_elsewhere(part)} == set()
    assert world.authorized.used <= printed
