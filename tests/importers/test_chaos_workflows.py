"""Workflows of Chaos Mesh as staged faults."""

from __future__ import annotations

import pytest

from scenario_kit.catalog import Catalog
from scenario_kit.importers import ImportResult
from tests.importers.results import decision, import_text, spec


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return Catalog()


def test_workflow_becomes_staged_faults(catalog: Catalog) -> None:
    result = import_text("chaos-mesh", catalog)
    late, lossy = spec(result)["faults"]
    assert (late["type"], late["target"], "start" in late) == ("network-delay", "Deployment/search", False)
    assert late["parameters"]["latencyMilliseconds"] == 900
    assert (lossy["type"], lossy["target"]) == ("network-loss", "Deployment/geo")
    assert lossy["start"] == {"afterSeconds": 300}
    assert lossy["parameters"]["lossPercent"] == 80
    assert decision(result, "spec.templates[3].networkChaos.loss.loss").treatment == "Guessed"
    assert spec(result, 1)["faults"][0]["recurrence"] == {"everySeconds": 600}


def test_stages_of_a_workflow(catalog: Catalog) -> None:
    def stage(name: str, more: str = "") -> str:
        target = "selector: {namespaces: [otel-demo], labelSelectors: {app: " + name + "}}"
        chaos = "{action: pod-failure, mode: all, " + target + "}"
        return f"  - {{name: {name}, templateType: PodChaos, deadline: 2m, podChaos: {chaos}{more}}}\n"

    text = (
        "apiVersion: chaos-mesh.org/v1alpha1\nkind: Workflow\nmetadata: {name: w}\nspec:\n  entry: main\n  templates:\n"
        "  - {name: main, templateType: Serial, children: [both, quote, ring, gone]}\n"
        "  - {name: both, templateType: Parallel, children: [cart, payment]}\n"
        "  - {name: ring, templateType: Serial, children: [main]}\n"
        "  - {name: task, templateType: Task, task: {container: {image: x}}}\n"
        + stage("cart") + stage("payment") + stage("quote")
    )  # fmt: skip
    result = import_text("chaos-mesh", catalog, text)
    starts = {fault["target"]: fault.get("start") for fault in spec(result)["faults"]}
    assert starts == {
        "Deployment/cart": None, "Deployment/payment": None, "Deployment/quote": {"afterSeconds": 120},
    }  # fmt: skip
    reasons = {each.place: each.reason for each in result.decisions if each.treatment == "Refused"}
    assert "cycle" in reasons["spec.templates[0]"]
    assert "does not exist" in reasons["spec.templates[0].children[3]"]
    assert "unreachable" in reasons["spec.templates[3]"]


def write_workflow(*templates: str) -> str:
    head = "apiVersion: chaos-mesh.org/v1alpha1\nkind: Workflow\nmetadata: {name: w}\nspec:\n  entry: main\n"
    return head + "  templates:\n" + "".join(f"  - {{{each}}}\n" for each in templates)


def fail_pods(name: str, more: str = "") -> str:
    target = "selector: {namespaces: [otel-demo], labelSelectors: {app: " + name + "}}"
    chaos = "{action: pod-failure, mode: all, " + target + "}"
    return f"name: {name}, templateType: PodChaos, podChaos: {chaos}{more}"


def list_starts(result: ImportResult) -> dict[str, int]:
    return {use["target"]: use.get("start", {}).get("afterSeconds", 0) for use in spec(result)["faults"]}


def test_deadline_of_a_serial_stage_ends_it(catalog: Catalog) -> None:
    text = write_workflow(
        "name: main, templateType: Serial, children: [first, quote]",
        "name: first, templateType: Serial, deadline: 90s, children: [cart, payment, email]",
        *(fail_pods(name, ", deadline: 60s") for name in ("cart", "payment", "email", "quote")),
    )
    result = import_text("chaos-mesh", catalog, text)

    assert list_starts(result) == {"Deployment/cart": 0, "Deployment/payment": 60, "Deployment/quote": 90}
    assert "after the deadline" in decision(result, "spec.templates[1].children[2]").reason


def test_stage_after_one_without_deadline_never_starts(catalog: Catalog) -> None:
    text = write_workflow(
        "name: main, templateType: Serial, children: [cart, quote]", fail_pods("cart"), fail_pods("quote")
    )
    result = import_text("chaos-mesh", catalog, text)

    assert list_starts(result) == {"Deployment/cart": 0}
    assert "never ends" in decision(result, "spec.templates[0].children[1]").reason


def test_template_behind_a_branch_is_refused_for_the_branch(catalog: Catalog) -> None:
    text = write_workflow(
        "name: main, templateType: Task, task: {container: {image: x}},"
        " conditionalBranches: [{target: cart, expression: 'exitCode == 0'}]",
        fail_pods("cart"),
    )
    result = import_text("chaos-mesh", catalog, text)

    assert not result.drafts
    assert "branch on the result" in decision(result, "spec.templates[1]").reason
