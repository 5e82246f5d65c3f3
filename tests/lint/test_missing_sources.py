"""SK139: what pods of an app need to start has to be in its manifests."""

from pathlib import Path

import pytest
import yaml

from scenario_kit.catalog import Catalog, find_data_root
from scenario_kit.lint import lint_file
from scenario_kit.model import Finding

APP = """
name: pair
title: A page
namespace: pair
namespaces: {data: Stores}
entry: web
twin: none
loads: {steady: {description: The same traffic all the time}}
options:
  type: object
  additionalProperties: false
  properties: {secured: {type: boolean, description: Whether there is a Secret, default: true}}
images: ["example.org/web:1"]
versions:
  "1.0":
    components: [{name: web, workload: Deployment/web, role: Entry}]
    calls: []
"""
OTHERS = """
{% if options.secured %}
---
apiVersion: v1
kind: Secret
metadata: {name: login}
data: {}
{% endif %}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: data}
data: {}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: web}
"""


def lint(tmp_path: Path, pod: dict) -> list[str]:
    return [f.message.partition(",")[0] for f in lint_app(tmp_path, pod, APP)]


def lint_app(tmp_path: Path, pod: dict, app: str, *others: dict) -> list[Finding]:
    labels = {"app": "web"}
    main = {"name": "main", "image": "example.org/web:1", **pod.pop("container", {})}
    spec = {"selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [main], **pod}}}  # fmt: skip
    web = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": spec}
    (tmp_path / "catalog" / "apps" / "pair").mkdir(parents=True)
    (tmp_path / "catalog" / "apps" / "pair" / "app.yaml").write_text(app)
    folder = tmp_path / "templates" / "apps" / "pair" / "1.0"
    folder.mkdir(parents=True)
    (folder / "manifests.yaml.j2").write_text(yaml.safe_dump_all([web, *others]) + OTHERS)
    found = lint_file(tmp_path / "catalog" / "apps" / "pair" / "app.yaml", Catalog([tmp_path, find_data_root()]))
    return [f for f in found if f.code == "SK139"]


def needs(*names: str) -> list[str]:
    return [f"Deployment/web needs {name}" for name in names]


@pytest.mark.parametrize(
    ("pod", "missing"),
    [
        ({}, ()),
        ({"serviceAccountName": "web"}, ()),
        ({"serviceAccountName": "default"}, ()),
        ({"serviceAccountName": "api"}, ("ServiceAccount/api",)),
        ({"container": {"envFrom": [{"configMapRef": {"name": "settings"}}]}}, ("ConfigMap/settings",)),
        ({"container": {"envFrom": [{"configMapRef": {"name": "settings", "optional": True}}]}}, ()),
        (
            {"container": {"env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "login", "key": "a"}}}]}},
            ("Secret/login",),
        ),
        ({"initContainers": [{"name": "i", "image": "example.org/web:1", "envFrom": [{"secretRef": {"name": "x"}}]}]},
         ("Secret/x",)),
        ({"volumes": [{"name": "v", "configMap": {"name": "kube-root-ca.crt"}}]}, ()),
        ({"volumes": [{"name": "v", "secret": {"secretName": "tls"}}]}, ("Secret/tls",)),
        ({"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "disk"}}]}, ("PersistentVolumeClaim/disk",)),
        (
            {"volumes": [{"name": "v", "projected": {"sources": [
                {"secret": {"name": "tls"}}, {"serviceAccountToken": {"path": "t"}}, {"configMap": {"name": "ca"}}]}}]},
            ("Secret/tls", "ConfigMap/ca"),
        ),
    ],
)  # fmt: skip
def test_what_a_pod_needs_is_in_its_namespace(tmp_path: Path, pod: dict, missing: tuple[str, ...]) -> None:
    assert sorted(lint(tmp_path, pod)) == sorted(needs(*missing))


@pytest.mark.parametrize(
    ("need", "fix"),
    [("dynamic-storag", "dynamic-storage"), ("dynamic-storage", ""), ("operator:kafka", ""), ("nodes>=3", "")],
)
def test_capability_of_an_option_exists(tmp_path: Path, need: str, fix: str) -> None:
    text = APP.replace("default: true}", f"default: true, x-requires: {{'true': ['{need}']}}}}")
    found = [f for f in lint_app(tmp_path, {}, text) if f.message.startswith("there is no capability")]
    assert [fix in f.fix for f in found] == ([True] if fix else [])


def make_ingress(service: str) -> dict:
    path = {"path": "/", "pathType": "Prefix", "backend": {"service": {"name": service, "port": {"number": 80}}}}
    spec = {"rules": [{"host": "pair.example", "http": {"paths": [path]}}]}
    return {"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": {"name": "door"}, "spec": spec}


def make_autoscaler(kind: str, name: str) -> dict:
    scaled = {"apiVersion": "apps/v1", "kind": kind, "name": name}
    spec = {"scaleTargetRef": scaled, "maxReplicas": 3}
    metadata = {"name": "more"}
    return {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": metadata, "spec": spec}


@pytest.mark.parametrize(
    ("made", "messages"),
    [
        (make_ingress("front"), []),
        (
            make_ingress("fornt"),
            ["Ingress/door needs Service/fornt, which the app does not have: its requests would fail"],
        ),
        (make_autoscaler("Deployment", "web"), []),
        (
            make_autoscaler("StatefulSet", "web"),
            ["HorizontalPodAutoscaler/more needs StatefulSet/web, which the app does not have: it would scale nothing"],
        ),
        # Of kinds that other software serves, nothing is known.
        (make_autoscaler("Rollout", "web"), []),
    ],
)
def test_ingresses_and_autoscalers_name_what_exists(tmp_path: Path, made: dict, messages: list[str]) -> None:
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "front"}}
    service["spec"] = {"selector": {"app": "web"}, "ports": [{"port": 80}]}
    found = lint_app(tmp_path, {}, APP, service, made)
    assert [f.message for f in found if " needs " in f.message] == messages
