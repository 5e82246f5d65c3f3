"""What code may rely on from a ``ports.Cluster``: one suite over the fake and a real API server."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest

from scenario_kit.errors import AlreadyExists, Conflict, EvictionRefused, KitError, NotFound, Rejected
from scenario_kit.model import Object, Reference
from scenario_kit.ports import Cluster
from scenario_kit.testing import FakeCluster


@pytest.fixture(params=["fake", pytest.param("real", marks=pytest.mark.lab)])
def cluster(request: pytest.FixtureRequest) -> Cluster:
    return FakeCluster() if request.param == "fake" else request.getfixturevalue("kube")


@pytest.fixture
def namespace(cluster: Cluster) -> Iterator[str]:
    name = f"c-{uuid.uuid4().hex[:8]}"
    cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    return name


def config(namespace: str, name: str = "settings", **data: str) -> Object:
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def deployment(namespace: str, name: str = "cart", replicas: int = 1) -> Object:
    containers = [
        {
            "name": "main",
            "image": "example.org/cart:1",
            "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
            "ports": [{"containerPort": 8080}],
        }
    ]
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace, "labels": {"app": name}},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": {"metadata": {"labels": {"app": name}}, "spec": {"containers": containers}},
        },
    }


def settings(namespace: str, name: str = "settings") -> Reference:
    return Reference("ConfigMap", name, namespace)


def test_created_object_can_be_read(cluster: Cluster, namespace: str) -> None:
    created = cluster.create(config(namespace, a="1"))
    assert created["metadata"]["uid"]
    assert created["metadata"]["resourceVersion"]
    assert created["metadata"]["creationTimestamp"]
    assert cluster.get(settings(namespace)) == created


def test_missing_object_is_none(cluster: Cluster, namespace: str) -> None:
    assert cluster.get(settings(namespace)) is None


def test_unknown_kind_is_not_found(cluster: Cluster, namespace: str) -> None:
    with pytest.raises(NotFound):
        cluster.get(Reference("Unheard", "x", namespace))
    with pytest.raises(NotFound):
        cluster.list("Unheard")
    with pytest.raises(NotFound):
        cluster.get(Reference("ConfigMap", "x", namespace, "unheard.io"))


def test_second_create_is_refused(cluster: Cluster, namespace: str) -> None:
    cluster.create(config(namespace, a="1"))
    with pytest.raises(AlreadyExists):
        cluster.create(config(namespace, a="2"))


def test_create_in_missing_namespace_is_not_found(cluster: Cluster) -> None:
    with pytest.raises(NotFound):
        cluster.create(config("nowhere-to-be-found"))


def test_create_with_a_generated_name(cluster: Cluster, namespace: str) -> None:
    metadata = {"generateName": "cart-", "namespace": namespace}
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
    names = {cluster.create(body)["metadata"]["name"] for _ in range(3)}
    assert len(names) == 3
    assert all(n.startswith("cart-") for n in names)


@pytest.mark.parametrize("name", ["Upper", "under_score", "-dash"])
def test_invalid_name_is_rejected(cluster: Cluster, namespace: str, name: str) -> None:
    with pytest.raises(Rejected):
        cluster.create(config(namespace, name))


def test_version_that_is_not_served_is_rejected_with_the_right_one(cluster: Cluster, namespace: str) -> None:
    budget = {
        "apiVersion": "policy/v1beta1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "cart", "namespace": namespace},
        "spec": {"minAvailable": 1},
    }
    for write in (cluster.create, cluster.apply):
        with pytest.raises(Rejected, match="it serves policy/v1"):
            write(budget)


def test_symbolic_or_missing_namespace_is_refused_locally(cluster: Cluster) -> None:
    with pytest.raises(KitError):
        cluster.get(Reference.parse("ConfigMap/settings"))
    with pytest.raises(KitError):
        cluster.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}})


def test_list_by_namespace_and_labels_fills_in_the_kind(cluster: Cluster, namespace: str) -> None:
    cluster.create(deployment(namespace, "cart"))
    cluster.create(deployment(namespace, "ad"))
    found = cluster.list("Deployment", namespace)
    assert [(o["apiVersion"], o["kind"], o["metadata"]["name"]) for o in found] == [
        ("apps/v1", "Deployment", "ad"),
        ("apps/v1", "Deployment", "cart"),
    ]
    assert [o["metadata"]["name"] for o in cluster.list("Deployment", namespace, labels={"app": "ad"})] == ["ad"]
    assert {"ad", "cart"} <= {o["metadata"]["name"] for o in cluster.list("Deployment", group="apps")}
    assert cluster.list("Deployment", namespace, labels={"app": "other"}) == []


def test_ambiguous_kind_without_group_is_core(cluster: Cluster, namespace: str) -> None:
    involved = {"kind": "Pod", "name": "x", "namespace": namespace}
    metadata = {"name": "e1", "namespace": namespace}
    cluster.create({"apiVersion": "v1", "kind": "Event", "metadata": metadata, "involvedObject": involved})
    assert [e["apiVersion"] for e in cluster.list("Event", namespace)] == ["v1"]


def test_kinds_can_be_listed(cluster: Cluster) -> None:
    kinds = {(k.group, k.kind): k for k in cluster.kinds()}
    assert kinds["apps", "Deployment"].plural == "deployments"
    assert kinds["apps", "Deployment"].namespaced
    assert not kinds["", "Namespace"].namespaced
    assert kinds["networking.k8s.io", "NetworkPolicy"].plural == "networkpolicies"


@pytest.mark.parametrize(
    ("patch_type", "patch", "data"),
    [
        ("Merge", {"data": {"b": "3", "a": None}}, {"b": "3"}),
        ("Strategic", {"data": {"b": "3", "a": None}}, {"b": "3"}),
        ("Json", [{"op": "replace", "path": "/data/b", "value": "3"}], {"a": "1", "b": "3"}),
        ("Json", [{"op": "replace", "path": "/data/new", "value": "3"}], {"a": "1", "b": "2", "new": "3"}),
        ("Json", [{"op": "test", "path": "/data/a", "value": "1"}, {"op": "remove", "path": "/data/a"}], {"b": "2"}),
    ],
)
def test_patches(cluster: Cluster, namespace: str, patch_type: str, patch: object, data: dict[str, str]) -> None:
    cluster.create(config(namespace, a="1", b="2"))
    patched = cluster.patch(settings(namespace), patch, patch_type)  # type: ignore[arg-type]
    assert patched["data"] == data
    assert cluster.get(settings(namespace)) == patched


@pytest.mark.parametrize(
    "patch",
    [
        [{"op": "test", "path": "/data/a", "value": "other"}],
        [{"op": "remove", "path": "/data/missing"}],
        [{"op": "replace", "path": "/missing/deep", "value": "x"}],
    ],
)
def test_inapplicable_json_patch_is_rejected(cluster: Cluster, namespace: str, patch: object) -> None:
    cluster.create(config(namespace, a="1"))
    with pytest.raises(Rejected):
        cluster.patch(settings(namespace), patch, "Json")


def test_patch_of_missing_object_is_not_found(cluster: Cluster, namespace: str) -> None:
    with pytest.raises(NotFound):
        cluster.patch(settings(namespace), {"data": {"a": "1"}})


def test_no_op_patch_keeps_the_version(cluster: Cluster, namespace: str) -> None:
    created = cluster.create(config(namespace, a="1"))
    patched = cluster.patch(settings(namespace), {"data": {"a": "1"}})
    assert patched["metadata"]["resourceVersion"] == created["metadata"]["resourceVersion"]


def test_patch_from_an_old_version_conflicts(cluster: Cluster, namespace: str) -> None:
    created = cluster.create(config(namespace, a="1"))
    cluster.patch(settings(namespace), {"data": {"a": "2"}})
    version = created["metadata"]["resourceVersion"]
    with pytest.raises(Conflict):
        cluster.patch(settings(namespace), {"metadata": {"resourceVersion": version}, "data": {"a": "3"}})


def test_strategic_patch_merges_lists_by_key(cluster: Cluster, namespace: str) -> None:
    cluster.create(deployment(namespace))
    ref = Reference("Deployment", "cart", namespace)
    env = [{"name": "B", "value": "9"}, {"name": "A", "$patch": "delete"}, {"name": "C", "value": "3"}]
    patch = {"spec": {"template": {"spec": {"containers": [{"name": "main", "env": env}]}}}}
    container = cluster.patch(ref, patch, "Strategic")["spec"]["template"]["spec"]["containers"][0]
    assert container["image"] == "example.org/cart:1"
    assert sorted((e["name"], e["value"]) for e in container["env"]) == [("B", "9"), ("C", "3")]
    assert container["ports"][0]["containerPort"] == 8080


@pytest.mark.parametrize(("how", "names"), [("patch", ["new", "main"]), ("apply", ["main", "new"])])
def test_new_list_items_come_first_in_patch_and_last_in_apply(
    cluster: Cluster, namespace: str, how: str, names: list[str]
) -> None:
    cluster.create(deployment(namespace))
    ref = Reference("Deployment", "cart", namespace)
    spec = {"template": {"spec": {"containers": [{"name": "new", "image": "example.org/new:1"}]}}}
    if how == "patch":
        written = cluster.patch(ref, {"spec": spec}, "Strategic")
    else:
        metadata = {"name": ref.name, "namespace": namespace}
        written = cluster.apply({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec})
    assert [c["name"] for c in written["spec"]["template"]["spec"]["containers"]] == names


def test_strategic_replace_directive_on_existing_values(cluster: Cluster, namespace: str) -> None:
    cluster.create(deployment(namespace))
    ref = Reference("Deployment", "cart", namespace)
    labels = {"$patch": "replace", "app": "cart", "x": "y"}
    new = {"$patch": "replace", "a": "b"}
    env = [{"$patch": "replace"}, {"name": "C", "value": "3"}]
    container = {"name": "main", "env": env, "command": ["x"]}
    pod = {"containers": [container], "nodeSelector": new}
    patch = {"spec": {"template": {"metadata": {"labels": labels, "annotations": new}, "spec": pod}}}
    template = cluster.patch(ref, patch, "Strategic")["spec"]["template"]
    assert template["metadata"]["labels"] == {"app": "cart", "x": "y"}
    assert not template["metadata"].get("annotations")
    assert not template["spec"].get("nodeSelector")
    assert [e["name"] for e in template["spec"]["containers"][0]["env"]] == ["C"]


def test_merge_patch_replaces_lists(cluster: Cluster, namespace: str) -> None:
    cluster.create(deployment(namespace))
    ref = Reference("Deployment", "cart", namespace)
    containers = [{"name": "other", "image": "example.org/other:1"}]
    patched = cluster.patch(ref, {"spec": {"template": {"spec": {"containers": containers}}}})
    assert [c["name"] for c in patched["spec"]["template"]["spec"]["containers"]] == ["other"]


def test_generation_changes_with_the_spec_only(cluster: Cluster, namespace: str) -> None:
    ref = Reference("Deployment", "cart", namespace)
    assert cluster.create(deployment(namespace))["metadata"]["generation"] == 1
    assert cluster.patch(ref, {"metadata": {"labels": {"x": "y"}}})["metadata"]["generation"] == 1
    assert cluster.patch(ref, {"spec": {"replicas": 3}})["metadata"]["generation"] == 2
    status = {"status": {"observedGeneration": 2}}
    assert cluster.patch(ref, status, subresource="status")["metadata"]["generation"] == 2


def test_status_is_written_through_its_subresource_only(cluster: Cluster, namespace: str) -> None:
    ref = Reference("Deployment", "cart", namespace)
    cluster.create(deployment(namespace))
    both = {"spec": {"replicas": 4}, "status": {"observedGeneration": 7}}
    assert "observedGeneration" not in cluster.patch(ref, both).get("status", {})
    patched = cluster.patch(ref, {"spec": {"replicas": 9}, "status": {"observedGeneration": 7}}, subresource="status")
    assert patched["status"]["observedGeneration"] == 7
    assert patched["spec"]["replicas"] == 4


def test_scale(cluster: Cluster, namespace: str) -> None:
    ref = Reference("Deployment", "cart", namespace)
    cluster.create(deployment(namespace))
    assert cluster.patch(ref, {"spec": {"replicas": 3}}, subresource="scale")["spec"] == {"replicas": 3}
    cluster.patch(ref, {"spec": {"replicas": 0}}, subresource="scale")
    found = cluster.get(ref)
    assert found is not None
    assert found["spec"]["replicas"] == 0


def test_selector_cannot_change(cluster: Cluster, namespace: str) -> None:
    cluster.create(deployment(namespace))
    patch = {"spec": {"selector": {"matchLabels": {"app": "other"}}}}
    with pytest.raises(Rejected):
        cluster.patch(Reference("Deployment", "cart", namespace), patch)


def test_apply_creates_updates_and_removes_owned_fields(cluster: Cluster, namespace: str) -> None:
    assert cluster.apply(config(namespace, a="1", b="2"))["data"] == {"a": "1", "b": "2"}
    cluster.patch(settings(namespace), {"data": {"foreign": "x"}})
    assert cluster.apply(config(namespace, a="3"))["data"] == {"a": "3", "foreign": "x"}


def test_apply_merges_containers_by_name(cluster: Cluster, namespace: str) -> None:
    cluster.apply(deployment(namespace))
    changed = deployment(namespace)
    changed["spec"]["template"]["spec"]["containers"][0]["env"] = [{"name": "A", "value": "5"}]
    applied = cluster.apply(changed)
    assert applied["spec"]["template"]["spec"]["containers"][0]["env"] == [{"name": "A", "value": "5"}]
    assert applied["metadata"]["generation"] == 2


def test_repeated_apply_is_idempotent(cluster: Cluster, namespace: str) -> None:
    first = cluster.apply(deployment(namespace))
    assert cluster.apply(deployment(namespace))["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]


def test_writes_carry_one_neutral_manager(cluster: Cluster, namespace: str) -> None:
    cluster.create(config(namespace, a="1"))
    cluster.patch(settings(namespace), {"data": {"a": "2"}})
    found = cluster.apply(config(namespace, a="3"))
    assert {m["manager"] for m in found["metadata"]["managedFields"]} == {"platform"}


def test_delete_is_idempotent(cluster: Cluster, namespace: str) -> None:
    cluster.create(config(namespace))
    cluster.delete(settings(namespace))
    assert cluster.get(settings(namespace)) is None
    cluster.delete(settings(namespace))


def test_delete_with_uid_deletes_that_object_only(cluster: Cluster, namespace: str) -> None:
    created = cluster.create(config(namespace))
    with pytest.raises(Conflict):
        cluster.delete(settings(namespace), uid=str(uuid.uuid4()))
    cluster.delete(settings(namespace), uid=created["metadata"]["uid"])
    assert cluster.get(settings(namespace)) is None


def test_finalizer_holds_an_object(cluster: Cluster, namespace: str) -> None:
    held = config(namespace)
    held["metadata"]["finalizers"] = ["example.org/hold"]
    cluster.create(held)
    cluster.delete(settings(namespace))
    found = cluster.get(settings(namespace))
    assert found is not None
    assert found["metadata"]["deletionTimestamp"]
    cluster.patch(settings(namespace), {"metadata": {"finalizers": None}})
    assert cluster.get(settings(namespace)) is None


def test_terminating_namespace_rejects_new_objects(cluster: Cluster, namespace: str) -> None:
    held = config(namespace, "held")
    held["metadata"]["finalizers"] = ["example.org/hold"]
    cluster.create(held)
    cluster.delete(Reference("Namespace", namespace))
    found = cluster.get(Reference("Namespace", namespace))
    assert found is not None
    assert found["status"]["phase"] == "Terminating"
    with pytest.raises(Rejected):
        cluster.create(config(namespace, "late"))


def test_new_definition_is_served(cluster: Cluster, namespace: str) -> None:
    suffix = uuid.uuid4().hex[:6]
    group, kind = f"t{suffix}.example.org", f"Widget{suffix}"
    names = {"plural": f"{kind.lower()}s", "singular": kind.lower(), "kind": kind, "listKind": f"{kind}List"}
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    cluster.create(
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{names['plural']}.{group}"},
            "spec": {
                "group": group,
                "names": names,
                "scope": "Namespaced",
                "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
            },
        }
    )
    body = {"apiVersion": f"{group}/v1", "kind": kind, "metadata": {"name": "w", "namespace": namespace}}
    create_when_served(cluster, body)
    assert cluster.get(Reference(kind, "w", namespace)) is not None
    assert [o["metadata"]["name"] for o in cluster.list(kind, namespace, group=group)] == ["w"]
    with pytest.raises(Rejected):
        cluster.patch(Reference(kind, "w", namespace), {"spec": {}}, "Strategic")


def create_when_served(cluster: Cluster, body: Object) -> None:
    """A definition is served a moment after it is stored; each attempt is a round trip, so this does not spin."""
    for _ in range(2000):
        try:
            cluster.create(body)
            return
        except NotFound as error:
            last = error
    raise last


def test_logs_of_missing_pod_are_not_found(cluster: Cluster, namespace: str) -> None:
    gone = {"metadata": {"name": "gone", "namespace": namespace}, "spec": {"containers": [{"name": "main"}]}}
    with pytest.raises(NotFound):
        cluster.logs(gone)


def running_pod(cluster: Cluster, namespace: str, name: str = "cart-a", phase: str = "Running") -> Reference:
    account = Reference("ServiceAccount", "default", namespace)
    if cluster.get(account) is None:
        metadata = {"name": "default", "namespace": namespace}
        cluster.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata})
    metadata = {"name": name, "namespace": namespace, "labels": {"app": "cart"}}
    spec = {"containers": [{"name": "main", "image": "example.org/cart:1"}]}
    cluster.create({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})
    ref = Reference("Pod", name, namespace)
    conditions = [{"type": "Ready", "status": "True" if phase == "Running" else "False"}]
    cluster.patch(ref, {"status": {"phase": phase, "conditions": conditions}}, subresource="status")
    return ref


def budget(cluster: Cluster, namespace: str, name: str = "cart", **status: int) -> Reference:
    metadata = {"name": name, "namespace": namespace}
    spec = {"minAvailable": 1, "selector": {"matchLabels": {"app": "cart"}}}
    cluster.create({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": metadata, "spec": spec})
    ref = Reference("PodDisruptionBudget", name, namespace, "policy")
    if status:
        counts = {"currentHealthy": 1, "desiredHealthy": 1, "expectedPods": 1, "disruptionsAllowed": 0, **status}
        cluster.patch(ref, {"status": {"observedGeneration": 1, **counts}}, subresource="status")
    return ref


def test_eviction_without_a_budget_deletes(cluster: Cluster, namespace: str) -> None:
    pod = running_pod(cluster, namespace)
    cluster.evict(pod)
    assert cluster.get(pod) is None
    cluster.evict(pod)


def test_exhausted_disruption_budget_refuses_eviction(cluster: Cluster, namespace: str) -> None:
    pod = running_pod(cluster, namespace)
    budget(cluster, namespace, disruptionsAllowed=0)
    with pytest.raises(EvictionRefused, match="cart needs 1 healthy pods and has 1 currently"):
        cluster.evict(pod)
    assert "deletionTimestamp" not in (cluster.get(pod) or {})["metadata"]


def test_unprocessed_budget_refuses_eviction(cluster: Cluster, namespace: str) -> None:
    pod = running_pod(cluster, namespace)
    budget(cluster, namespace)
    with pytest.raises(EvictionRefused, match="cart is still being processed"):
        cluster.evict(pod)


def test_eviction_is_taken_from_the_budget(cluster: Cluster, namespace: str) -> None:
    first, second = running_pod(cluster, namespace), running_pod(cluster, namespace, "cart-b")
    ref = budget(cluster, namespace, disruptionsAllowed=1, currentHealthy=2, expectedPods=2)
    cluster.evict(first)
    found = (cluster.get(ref) or {})["status"]
    assert found["disruptionsAllowed"] == 0
    assert list(found["disruptedPods"]) == ["cart-a"]
    with pytest.raises(EvictionRefused):
        cluster.evict(second)


def test_two_budgets_refuse_an_eviction(cluster: Cluster, namespace: str) -> None:
    pod = running_pod(cluster, namespace)
    budget(cluster, namespace, disruptionsAllowed=1)
    budget(cluster, namespace, "shop", disruptionsAllowed=1)
    with pytest.raises(EvictionRefused, match="more than one PodDisruptionBudget"):
        cluster.evict(pod)


def test_pod_that_is_not_running_is_evicted_despite_budget(cluster: Cluster, namespace: str) -> None:
    pod = running_pod(cluster, namespace, phase="Pending")
    budget(cluster, namespace, disruptionsAllowed=0)
    cluster.evict(pod)
    assert cluster.get(pod) is None
