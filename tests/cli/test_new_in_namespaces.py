"""Drafts for an app whose components are in several namespaces, which its definition names without them."""

from pathlib import Path

import pytest
import yaml

from scenario_kit.cli import run
from scenario_kit.lint import lint_file

APP = """
name: pair
title: A page and its store
namespace: pair
namespaces: {data: Stores}
entry: web
twin: none
loads: {steady: {description: The same traffic all the time}}
options: {type: object, additionalProperties: false, properties: {}}
images: ["example.org/web:1", "example.org/store:1"]
versions:
  "1.0":
    components:
    - {name: web, workload: Deployment/web, service: web, role: Entry}
    - {name: store, workload: StatefulSet/store, service: store, role: Store}
    calls: [{caller: web, callee: store, env: [STORE]}]
"""
MANIFESTS = """
{% for name, kind, home in [("web", "Deployment", "app"), ("store", "StatefulSet", "data")] %}
---
apiVersion: apps/v1
kind: {{ kind }}
metadata: {name: {{ name }}, namespace: {{ home }}}
spec:
  replicas: 1
  {% if kind == "StatefulSet" %}serviceName: {{ name }}{% endif %}
  selector: {matchLabels: {app: {{ name }}}}
  template:
    metadata: {labels: {app: {{ name }}}}
    spec:
      containers:
      - name: main
        image: example.org/{{ name }}:1
        ports: [{containerPort: 80}]
        env: [{name: STORE, value: "store.{{ namespaces.data }}:80"}]
---
apiVersion: v1
kind: Service
metadata: {name: {{ name }}, namespace: {{ home }}}
spec: {selector: {app: {{ name }}}, ports: [{port: 80}]}
{% endfor %}
"""


@pytest.fixture
def collection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "catalog" / "apps" / "pair").mkdir(parents=True)
    (tmp_path / "catalog" / "apps" / "pair" / "app.yaml").write_text(APP)
    (tmp_path / "templates" / "apps" / "pair" / "1.0").mkdir(parents=True)
    (tmp_path / "templates" / "apps" / "pair" / "1.0" / "manifests.yaml.j2").write_text(MANIFESTS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("target", "fault", "broken", "alerted"),
    [
        ("store", "pod-failure", "data/StatefulSet/store", "Deployment/web"),
        ("data/StatefulSet/store", "pod-failure", "data/StatefulSet/store", "Deployment/web"),
        ("store", "service-selector-mismatch", "data/Service/store", "Deployment/web"),
        ("web", "pod-failure", "Deployment/web", "Deployment/web"),
    ],
)
def test_a_component_of_another_namespace_is_a_target(
    collection: Path, target: str, fault: str, broken: str, alerted: str
) -> None:
    assert run(["new", "incident", "--app", "pair", "--target", target, "--fault", fault, "--author", "Ada"]) == 0
    file = collection / "incident" / "scenario.yaml"
    spec = yaml.safe_load(file.read_text())["spec"]
    assert spec["faults"][0]["target"] == broken
    assert alerted in {alert["entity"] for alert in spec["expect"]["alerts"]}
    assert [finding.code for finding in lint_file(file) if finding.severity == "Error"] == []
