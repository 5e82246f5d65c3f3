"""Access control on a real API server: refusals for scenarios and for the operator."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from operators.access.bound_cluster import BoundCluster, is_allowed
from scenario_kit.clients import KubeCluster
from scenario_kit.errors import ClusterError
from scenario_kit.lab import toolchain
from scenario_kit.model import Object, Reference
from scenario_kit.schema.install import build_app_binding, get_identity
from scenario_kit.schema.solver import build_solver_account
from scenario_kit.schema.webhook import WEBHOOK_NAME, build_service_client, build_webhook_configuration
from scenario_kit.schema.writable import OWNED
from tests.e2e.conftest import Done, Lab
from tools.admission.tried import try_in_lab

RBAC = "rbac.authorization.k8s.io"
WHO = [{"kind": "ServiceAccount", "name": "default", "namespace": "default"}]


@pytest.fixture(scope="module")
def operator(lab_session: Lab) -> KubeCluster:
    return KubeCluster(Path(lab_session.state.operator_kubeconfig))


@pytest.fixture(scope="module")
def home(operator: KubeCluster) -> Iterator[str]:
    labels = dict([OWNED])
    cluster = BoundCluster(operator)  # as the operator does: it binds its role there
    cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "bounds", "labels": labels}})
    yield "bounds"
    operator.delete(Reference("Namespace", "bounds"))


def test_no_attempt_is_accepted(lab: Lab) -> None:
    tried = list(try_in_lab(lab.name))

    assert len(tried) >= 40
    assert [(each.attempt.name, each.said) for each in tried if not each.refused] == []


def obj(kind: str, api: str = "v1", namespace: str = "", **body: Any) -> Object:
    metadata = {"name": "attempt", **({"namespace": namespace} if namespace else {}), **body.pop("metadata", {})}
    return {"apiVersion": api, "kind": kind, "metadata": metadata, **body}


def rbac(kind: str, role: str, name: str, namespace: str = "") -> Object:
    ref = {"apiGroup": RBAC, "kind": role, "name": name}
    return obj(kind, f"{RBAC}/v1", namespace, roleRef=ref, subjects=WHO)


def bind_own_role(namespace: str) -> Object:
    binding = build_app_binding(namespace)
    return {**binding, "metadata": {**binding["metadata"], "name": "attempt"}}


HOOK: Object = {
    "name": "a.b.internal",
    "sideEffects": "None",
    "admissionReviewVersions": ["v1"],
    "clientConfig": {"service": {"namespace": "bounds", "name": "hook"}},
    "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}],
}
REFUSED: dict[str, Object] = {
    "an object in a namespace of somebody else": obj("ConfigMap", namespace="default"),
    "a pod of the cluster": obj("Pod", namespace="kube-system", spec={"containers": [{"name": "a", "image": "b"}]}),
    "a namespace without the label": obj("Namespace"),
    "a namespace of the privileged": obj(
        "Namespace", metadata={"labels": dict([OWNED]) | {"pod-security.kubernetes.io/enforce": "privileged"}}
    ),
    "a binding of admin": rbac("RoleBinding", "ClusterRole", "admin", "bounds"),
    "a binding of view": rbac("RoleBinding", "ClusterRole", "view", "bounds"),
    "the solver's role for others": rbac("RoleBinding", "ClusterRole", "oncall", "bounds"),
    "its role for apps for others": rbac("RoleBinding", "ClusterRole", "scenario-kit-app", "bounds"),
    "its role for apps in a namespace of the cluster": bind_own_role("kube-system"),
    "its role for apps in a namespace of somebody else": bind_own_role("default"),
    "its role for apps beside itself": bind_own_role("scenario-kit"),
    "its role for the system": rbac("RoleBinding", "ClusterRole", "scenario-kit-system", "bounds"),
    "a binding of cluster-admin": rbac("ClusterRoleBinding", "ClusterRole", "cluster-admin"),
    "its own role for others": rbac("ClusterRoleBinding", "ClusterRole", "scenario-kit-operator"),
    "a role that writes": obj(
        "ClusterRole", f"{RBAC}/v1", rules=[{"apiGroups": [""], "resources": ["pods"], "verbs": ["delete"]}]
    ),
    "a role that reads Secrets": obj(
        "ClusterRole", f"{RBAC}/v1", rules=[{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}]
    ),
    "a role of others": obj(
        "ClusterRole", f"{RBAC}/v1", aggregationRule={"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]}, rules=[]
    ),
    "a token": obj(
        "Secret",
        namespace="scenario-kit",
        type="kubernetes.io/service-account-token",
        metadata={"annotations": {"kubernetes.io/service-account.name": "default"}},
    ),
    "an external address": obj(
        "Service", namespace="bounds", spec={"externalIPs": ["8.8.8.8"], "ports": [{"port": 53}]}
    ),
    "a webhook about all": obj("ValidatingWebhookConfiguration", "admissionregistration.k8s.io/v1", webhooks=[HOOK]),
    "a kind": obj("StorageClass", "storage.k8s.io/v1", provisioner="a.b/c"),
    "a policy": obj("ValidatingAdmissionPolicy", "admissionregistration.k8s.io/v1", spec={}),
}


@pytest.mark.parametrize("name", REFUSED)
def test_operator_is_refused(name: str, operator: KubeCluster, home: str) -> None:
    with pytest.raises(ClusterError) as refusal:
        operator.create(REFUSED[name])

    assert "forbidden" in str(refusal.value) or "denied" in str(refusal.value)


def test_operator_reads_no_other_secrets_and_labels_no_namespace(operator: KubeCluster) -> None:
    with pytest.raises(ClusterError):
        operator.list("Secret", "kube-system")
    with pytest.raises(ClusterError):
        operator.patch(Reference("Namespace", "default"), {"metadata": {"labels": dict([OWNED])}})


def test_operator_writes_in_trial_namespaces(operator: KubeCluster, home: str) -> None:
    rule = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]}
    selector = {"matchLabels": {"kubernetes.io/metadata.name": home}}
    hook = {**HOOK, "namespaceSelector": selector, "rules": [{**HOOK["rules"][0], "scope": "Namespaced"}]}
    webhook = obj("ValidatingWebhookConfiguration", "admissionregistration.k8s.io/v1", webhooks=[hook])

    for each in (
        obj("ConfigMap", namespace=home),
        obj("Role", f"{RBAC}/v1", home, rules=[rule]),
        rbac("RoleBinding", "Role", "attempt", home),
        webhook,
    ):
        assert operator.create(each)["metadata"]["name"] == "attempt"
    operator.delete(Reference("ValidatingWebhookConfiguration", "attempt", "", "admissionregistration.k8s.io"))


def test_operator_may_only_change_its_webhooks_ca_bundle(lab: Lab, operator: KubeCluster) -> None:
    ref = Reference("ValidatingWebhookConfiguration", WEBHOOK_NAME, "", "admissionregistration.k8s.io")
    before = lab.cluster.get(ref)
    assert before is not None
    installed = build_webhook_configuration(build_service_client("scenario-kit"), get_identity())
    client, policy, groups = (f"/webhooks/0/{each}" for each in ("clientConfig", "failurePolicy", "rules/0/apiGroups"))
    bundle = before["webhooks"][0]["clientConfig"]["caBundle"]
    try:
        lab.cluster.delete(ref)
        lab.cluster.create(installed)
        operator.patch(ref, [{"op": "add", "path": f"{client}/caBundle", "value": bundle}], "Json")
        for path, value in ((policy, "Fail"), (f"{client}/service/namespace", "default"), (groups, ["*"])):
            with pytest.raises(ClusterError, match="denied"):
                operator.patch(ref, [{"op": "replace", "path": path, "value": value}], "Json")
    finally:
        lab.cluster.delete(ref)
        lab.cluster.create({**before, "metadata": {"name": WEBHOOK_NAME}})


READ = ("get", "list", "watch")
RIGHTS = "rbac.authorization.k8s.io"
#: (verbs, API group, resource, namespace): what the operator's role does not give, each verb an attempt.
BEYOND = (
    (READ, "", "secrets", "kube-system"),
    (("create", "update", "delete"), "", "secrets", "default"),
    (("get", "list"), "", "secrets", ""),
    (("get",), "", "pods/log", "kube-system"),
    (("create", "get"), "", "pods/exec", "kube-system"),
    (("create", "get"), "", "pods/attach", "default"),
    (("create", "get"), "", "pods/portforward", "kube-system"),
    (("create",), "", "pods/eviction", "kube-system"),
    (("create", "delete", "update"), "", "nodes", ""),
    (("get",), "", "nodes/proxy", ""),
    (("create",), "", "serviceaccounts/token", "kube-system"),
    (("impersonate",), "", "users", ""),
    (("impersonate",), "", "groups", ""),
    (("impersonate",), "", "serviceaccounts", "kube-system"),
    (("create", "patch"), "", "events", "default"),
    (("bind", "escalate"), RIGHTS, "clusterroles", ""),
    (("bind", "escalate"), RIGHTS, "roles", "kube-system"),
    (READ, "coordination.k8s.io", "leases", "kube-system"),
    (("create", "update", "delete"), "coordination.k8s.io", "leases", "kube-node-lease"),
    (("create", "update", "delete"), "apiextensions.k8s.io", "customresourcedefinitions", ""),
    (("create", "delete"), "admissionregistration.k8s.io", "validatingadmissionpolicies", ""),
    (("create", "approve", "list"), "certificates.k8s.io", "certificatesigningrequests", ""),
    (("create", "list"), "apiregistration.k8s.io", "apiservices", ""),
    (("create", "delete"), "storage.k8s.io", "storageclasses", ""),
    (("create", "update"), "chaos-mesh.org", "physicalmachinechaos", "scenario-kit"),
    # Namespaced objects, where its role for apps is not bound: nothing but the components of the system.
    (("create", "patch", "update", "delete"), "apps", "deployments", "default"),
    (("create", "update", "delete"), "apps", "deployments", "kube-system"),
    (("create", "patch", "delete"), "", "configmaps", "default"),
    (("create", "patch", "delete"), "", "configmaps", "kube-system"),
    (("create", "delete", "deletecollection"), "", "pods", "chaos-mesh"),
    (("create", "patch"), "", "serviceaccounts", "scenario-kit"),
    (("create", "patch"), "apps", "deployments", "scenario-kit"),
    (("patch", "delete"), RIGHTS, "rolebindings", "scenario-kit"),
    (("create", "patch"), RIGHTS, "roles", "scenario-kit"),
    (("create", "patch", "delete"), "chaos-mesh.org", "podchaos", "default"),
    (("patch", "update"), "apps", "deployments/scale", "kube-system"),
    (("create", "delete", "update"), "scenariokit.io", "scenarios", "default"),
    (("create", "delete"), "scenariokit.io", "trials", "default"),
)


def test_operator_role_denies_everything_else(operator: KubeCluster, home: str) -> None:
    attempts = [(verb, *where) for verbs, *where in BEYOND for verb in verbs]

    assert len(attempts) >= 40
    assert [each for each in attempts if is_allowed(operator, *each)] == []
    assert is_allowed(operator, "list", "", "secrets", "scenario-kit")
    assert is_allowed(operator, "patch", "coordination.k8s.io", "leases", "scenario-kit")
    assert is_allowed(operator, "delete", "apps", "deployments", home)
    assert is_allowed(operator, "patch", "apps", "deployments", "kube-system")


def test_printed_kubeconfig_grants_exactly_solver_rights(
    lab: Lab, kit: Callable[..., Done], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for each in build_solver_account("scenario-kit"):
        lab.cluster.apply(each)
    monkeypatch.setenv("KUBECONFIG", lab.state.kubeconfig)
    printed = kit("operator", "kubeconfig", "--as", "solver", "--context", f"scenario-kit-{lab.name}")
    assert printed.code == 0, printed.err
    file = tmp_path / "oncall.kubeconfig"
    file.write_text(printed.out)

    def kubectl(*words: str) -> int:
        command = [str(toolchain.resolve("kubectl")), "--kubeconfig", str(file), *words]
        return subprocess.run(command, capture_output=True, timeout=60, check=False).returncode

    assert kubectl("get", "nodes") == 0
    assert kubectl("get", "secrets", "-n", "kube-system") == 1
    assert kubectl("get", "scenarios", "-n", "scenario-kit") == 1
    assert kubectl("get", "nodes", "--as", "system:admin") == 1
