"""Malicious fault types next to a scenario are refused within bounded time and memory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from scenario_kit.load.yaml.document import read_document
from tests.load.test_hostile import MEGABYTES, run_confined

#: One fixture lints them all; each has bounds of its own on processor and wall time.
pytestmark = pytest.mark.timeout(600)
CATALOG = Path(__file__).parents[2] / "catalog"
SCENARIO = read_document(CATALOG / "scenarios/product-catalog-wrong-target-port/scenario.yaml").data
FAULT = read_document(CATALOG / "faults/service-target-port-wrong/fault.yaml").data
Change = Callable[[dict[str, Any], dict[str, Any]], Any]


def parameter(value: Any, **schema: Any) -> Change:
    """Build a parameter with that schema and value."""

    def change(fault: dict[str, Any], use: dict[str, Any]) -> None:
        fault["parameters"]["properties"]["x"] = {"description": "What is tried.", **schema}
        use["parameters"]["x"] = value

    return change


def effect(check: dict[str, Any]) -> Change:
    return lambda fault, _: fault["effect"].append(check)


def query(expr: str) -> Change:
    return effect({"query": {"expr": expr, "is": "Equal", "value": 1}})


def log(pattern: str) -> Change:
    return effect({"log": {"entity": "{{ target }}", "pattern": pattern}})


def changes(change: dict[str, Any]) -> Change:
    """Add a change to a fault with cluster scope."""

    def add(fault: dict[str, Any], _: dict[str, Any]) -> None:
        fault["changes"].append(change)
        fault["scope"] = "Cluster"

    return add


def create(kind: str, api: str = "v1", **body: Any) -> Change:
    metadata = {"name": "{{ neutral('thing') }}", **body.pop("metadata", {})}
    return changes({"create": {"apiVersion": api, "kind": kind, "metadata": metadata, **body}})


def delete(target: str) -> Change:
    return changes({"delete": {"target": target}})


def patch(target: str, **body: Any) -> Change:
    return changes({"patch": {"target": target, "type": "Merge", "patch": body}})


def webhook(**more: Any) -> Change:
    rules = [{"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*/*"]}]
    hook = {"name": "a.b.c", "sideEffects": "None", "admissionReviewVersions": ["v1"], "rules": rules, **more}
    return create("ValidatingWebhookConfiguration", "admissionregistration.k8s.io/v1", webhooks=[hook])


def role(resource: str, **metadata: Any) -> Change:
    rules = [{"apiGroups": [""], "resources": [resource], "verbs": ["get", "list"]}]
    return create("ClusterRole", "rbac.authorization.k8s.io/v1", rules=rules, metadata=metadata)


SERVICE = {"service": {"name": "a", "namespace": "b"}}
HOME = {"matchLabels": {"kubernetes.io/metadata.name": "otel-demo"}}


def repeat(text: str, times: int) -> str:
    """Build a template that repeats a text."""
    return f"{{% for a in range({times}) %}}{text}{{% endfor %}}"


TRIED: dict[str, tuple[str, Change]] = {
    "a pattern of many repeats": ("SK109", parameter("a" * 3_000, type="string", pattern="^a*a*a*a*a*a*a*a*a*b$")),
    "patterns of names": ("SK104", parameter({"a" * 40 + "!": 1}, patternProperties={"^(a+)+$": {}})),
    "objects that are compared": ("SK109", parameter([{"a": i} for i in range(15_000)], uniqueItems=True)),
    "many branches": ("SK104", parameter(["a"] * 10_000, items={"anyOf": [{"const": i} for i in range(10_000)]})),
    "many values": ("SK109", parameter(["a"] * 10_000, items={"anyOf": [{"const": i} for i in range(100)]})),
    "a reference": ("SK104", parameter(1, **{"$ref": "file:///etc/passwd"})),
    "another dialect": ("SK104", parameter(1, **{"$schema": "http://json-schema.org/draft-04/schema#"})),
    "a default of 900,000 letters": ("SK109", parameter(1, type="string", default=repeat("a" * 900, 900))),
    "a query of brackets": ("SK117", query("(" * 2_000 + "up" + ")" * 2_000)),
    "a query of signs": ("SK117", query("-" * 4_000 + "up")),
    "a query that a template nests": ("SK117", query(repeat("abs(" * 20, 900) + "up" + repeat(")" * 20, 900))),
    "a query of a hundred years": ("SK208", query("max_over_time(up[100y:1s])")),
    "a trial of its own": ("SK220", create("Trial", "scenariokit.io/v1alpha1", spec={})),
    "the operator": ("SK220", delete("scenario-kit/Deployment/scenario-kit-operator")),
    "somebody's namespace": ("SK220", delete("Namespace/default")),
    "a kind of the kit": ("SK220", delete("CustomResourceDefinition.apiextensions.k8s.io/trials.scenariokit.io")),
    "a policy for all": ("SK220", create("ValidatingAdmissionPolicy", "admissionregistration.k8s.io/v1", spec={})),
    "an aggregated API": ("SK220", create("APIService", "apiregistration.k8s.io/v1", spec={})),
    "a certificate": ("SK220", create("CertificateSigningRequest", "certificates.k8s.io/v1", spec={})),
    "a token": ("SK220", create("TokenRequest", "authentication.k8s.io/v1", spec={})),
    "an eviction": ("SK220", create("Eviction", "policy/v1")),
    "a list": ("SK220", create("List", items=[])),
    "somebody's secret": ("SK220", patch("kube-system/Secret/x", data={"a": "Yg=="})),
    "somebody's rights": ("SK220", patch("ClusterRoleBinding/system:basic-user", subjects=[])),
    "all nodes": ("SK220", delete("Node/node:all")),
    "a finalizer": ("SK220", create("ConfigMap", metadata={"finalizers": ["example.com/kept"]})),
    "an owner": ("SK220", create("ConfigMap", metadata={"ownerReferences": [{"kind": "Node", "name": "n"}]})),
    "a label of ours": ("SK220", create("ConfigMap", metadata={"labels": {"scenariokit.io/trial": "other"}})),
    "the priority of all": ("SK220", create("PriorityClass", "scheduling.k8s.io/v1", value=1, globalDefault=True)),
    "a webhook for all": ("SK220", webhook(clientConfig=SERVICE)),
    "a webhook outside": ("SK220", webhook(clientConfig={"url": "https://example.com/"}, namespaceSelector=HOME)),
    "a reader of secrets": ("SK203", role("secrets")),
    "a part of another role": ("SK203", role("pods", labels={"rbac.authorization.k8s.io/aggregate-to-view": "true"})),
    "a name with slashes": ("SK123", create("ConfigMap", metadata={"name": "../../kube-system/configmaps/x"})),
    "a name with an escape": ("SK123", create("ConfigMap", metadata={"name": "{{ 'a\\u001b[31mb' }}"})),
    "a target with slashes": ("SK123", delete("{{ 'kube-system/Deployment/../../x' }}")),
    "half a character": ("SK123", create("ConfigMap", data={"a": "{{ '\\ud800' }}"})),
    "a message for GitHub": ("SK304", delete("{{ refuse('no \\n::error::owned ##[error]owned') }}")),
    "a lookahead": ("SK117", log("(?=a)")),
    "a pattern of many steps": ("SK117", log("(a{1,100}){1,10}")),
}  # fmt: skip


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    folder, paths = tmp_path_factory.mktemp("hostile-faults"), []
    for number, (_, change) in enumerate(TRIED.values()):
        fault, scenario = (yaml.safe_load(yaml.safe_dump(document)) for document in (FAULT, SCENARIO))
        fault["name"] = scenario["spec"]["faults"][0]["type"] = "port-closed"
        change(fault, scenario["spec"]["faults"][0])
        paths.append(folder / str(number) / SCENARIO["metadata"]["name"])
        (paths[-1] / "faults/port-closed").mkdir(parents=True)
        (paths[-1] / "scenario.yaml").write_text(yaml.safe_dump(scenario))
        (paths[-1] / "faults/port-closed/fault.yaml").write_text(yaml.safe_dump(fault))
    return dict(zip(TRIED, run_confined([["lint", str(path)] for path in paths]), strict=True))


@pytest.mark.parametrize("name", TRIED)
def test_refused(name: str, results: dict[str, dict[str, Any]]) -> None:
    result = results[name]
    shown = result["out"] + result["err"]

    assert result["code"] == 1, shown[-2000:]
    assert f"{TRIED[name][0]} error" in shown
    assert "bug of scenario-kit" not in shown
    assert "##[" not in shown
    assert not any(line.lstrip().startswith("::") for line in shown.splitlines())
    assert len(shown) < 20_000
    assert result["megabytes"] < MEGABYTES
