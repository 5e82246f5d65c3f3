"""The page on adding a change operation, followed to the letter: one module and one entry of the schema are enough."""

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from scenario_kit import load
from scenario_kit.catalog import Catalog, find_data_root
from scenario_kit.changes import ChangeContext, ClusterStore, Engine, operations
from scenario_kit.draft import Answers, draft
from scenario_kit.lint import lint_file
from scenario_kit.model import App, Change, Reference
from scenario_kit.model.authored.change import list_operations
from scenario_kit.schema import build_authoring_schema, load_definitions, source
from scenario_kit.testing import FakeClock, FakeCluster

sys.path.insert(0, str(Path(__file__).parent))
from pages import ROOT, blocks

PAGE = (ROOT / "docs" / "add-a-change-operation.md").read_text()
(MODULE,), (ENTRY,) = blocks(PAGE, "python"), blocks(PAGE, "yaml")
NAME = "pause_rollout"
WEB = Reference("Deployment", "web", "shop")
FAULT = """
name: rollout-paused
version: 1
title: A rollout is paused
description: The Deployment keeps the pods that it has, whatever is written to it.
family: Configuration
targets: [Deployment]
parameters: {type: object, additionalProperties: false, properties: {}}
changes:
- pauseRollout: {target: "{{ target }}"}
- delete: {target: "Service/{{ workload.metadata.name }}"}
effect:
- endpoints: {service: "Service/{{ workload.metadata.name }}", atMost: 0}
  describe: no pod stands behind the Service
undone:
- endpoints: {service: "Service/{{ workload.metadata.name }}", atLeast: 1}
  describe: pods stand behind it again
entities:
- ref: "{{ target }}"
  field: spec.paused
  role: Cause
  fix: &resume [{patch: {target: "{{ target }}", type: Merge, patch: {spec: {paused: false}}}}]
mitigation: Native
persistence: SelfHeals
symptoms:
- {alert: HighRequestErrorRate, entity: Callers}
solutions:
- {name: resume, description: Resume it, changes: *resume}
references: [https://kubernetes.io/docs/concepts/workloads/controllers/deployment/]
"""


def forget():
    list_operations.cache_clear()
    load_definitions.cache_clear()
    build_authoring_schema.cache_clear()
    sys.modules.pop(f"{operations.__name__}.{NAME}", None)


@pytest.fixture
def added(tmp_path, monkeypatch):
    """A tree with the module and the entry of the page."""
    package, schema = tmp_path / "operations", tmp_path / "schema"
    package.mkdir()
    schema.mkdir()
    (package / f"{NAME}.py").write_text(MODULE)
    for path in source.FOLDER.glob("*.yaml"):
        text = path.read_text()
        if path.name == "change.yaml":
            text = text.replace("  properties:\n", f"  properties:\n    {ENTRY}", 1)
        (schema / path.name).write_text(text)
    monkeypatch.setattr(operations, "__path__", [*operations.__path__, str(package)])
    monkeypatch.setattr(source, "FOLDER", schema)
    monkeypatch.setattr(load, "_SCHEMAS", {})
    forget()
    yield package
    monkeypatch.undo()
    forget()


def test_documented_operation_is_sent_and_undone(added):
    cluster = FakeCluster(
        [
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
            for name in ("shop", "kit")
        ]
        + [{
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop"},
            "spec": {"replicas": 2},
        }]
    )  # fmt: skip
    clock = FakeClock(1000.0)
    app = App(name="shop", version="1", namespace="shop", entry="web", components=())
    context = ChangeContext(cluster=cluster, namespace="shop", app=app, now=clock.now)
    engine = Engine(context, clock, ClusterStore(cluster, "kit", "t"), "t")
    change = Change.from_json({"pauseRollout": {"target": "Deployment/web"}})

    assert change.to_json() == {"pauseRollout": {"target": "Deployment/web"}}
    engine.do(change, ordinal=0, group="Fault/f")
    assert cluster.get(WEB)["spec"] == {"replicas": 2, "paused": True}
    stored = Engine(context, clock, ClusterStore(cluster, "kit", "t"), "t").list_receipts()
    assert [(r.change, r.state) for r in stored] == [(change, "Done")]
    assert engine.undo_all() == []
    assert cluster.get(WEB)["spec"] == {"replicas": 2}


def test_lint_checks_the_documented_operation(added, tmp_path):
    path = tmp_path / "catalog" / "faults" / "rollout-paused" / "fault.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(FAULT.replace("persistence: SelfHeals\n", ""))
    catalog = Catalog([tmp_path, find_data_root()])
    assert [(f.code, f.message) for f in lint_file(path, catalog)] == []

    made = draft(
        Answers("otel-demo", "2.2.0", Reference("Deployment", "cart"), "rollout-paused", author="Ada"), catalog
    )
    file = tmp_path / "scenarios" / yaml.safe_load(made.text)["metadata"]["name"] / "scenario.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(made.text)
    assert [(f.code, f.message) for f in lint_file(file, catalog)] == []

    path.write_text(FAULT)
    assert [f.code for f in lint_file(path, Catalog([tmp_path, find_data_root()]))] == ["SK435"]
    path.write_text(FAULT.replace("pauseRollout", "pauseRollouts"))
    assert "SK102" in {f.code for f in lint_file(path, Catalog([tmp_path, find_data_root()]))}


@pytest.mark.parametrize("answer", ["send", "transform", "list_paths"])
def test_operation_without_required_method_is_refused(answer, added):
    start = MODULE.index(f"    def {answer}(")
    end = MODULE.find("\n    def ", start)
    (added / f"{NAME}.py").write_text(MODULE[:start] + (MODULE[end + 1 :] if end > 0 else ""))
    with pytest.raises(TypeError, match=f"'pauseRollout' does not implement {answer}"):
        list_operations()


def test_incomplete_operation_is_a_type_error(tmp_path):
    start = MODULE.index("    def list_paths(")
    module = tmp_path / f"{NAME}.py"
    module.write_text(MODULE[:start])
    whole = tmp_path / "whole.py"
    whole.write_text(MODULE)
    options = ["--strict", "--follow-imports=silent", "--cache-dir", str(ROOT / ".mypy_cache")]
    command = [sys.executable, "-m", "mypy", *options, str(module), str(whole)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    errors = [line for line in done.stdout.splitlines() if "error:" in line]
    assert len(errors) == 1, done.stdout + done.stderr
    assert module.name in errors[0]
    assert 'has abstract attributes "list_paths"' in errors[0]
