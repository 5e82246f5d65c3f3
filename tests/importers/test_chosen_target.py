"""Faults whose target the app lacks: what the report says, and where ``--target`` aims them."""

from __future__ import annotations

import pytest

from scenario_kit.catalog import Catalog
from scenario_kit.errors import UsageError
from tests.importers.results import decision, import_text, spec


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return Catalog()


CHAOS = """\
apiVersion: chaos-mesh.org/v1alpha1
kind: NetworkChaos
metadata: {name: slow-web, labels: {team: a}}
spec:
  action: delay
  mode: all
  delay: {latency: 250ms}
  selector: {namespaces: [web], labelSelectors: {app: nginx}}
"""


def test_experiment_at_unknown_component_is_aimed_at_the_chosen_one(catalog: Catalog) -> None:
    result = import_text("chaos-mesh", catalog, CHAOS, app="otel-demo", target="cart")

    assert spec(result)["faults"][0]["target"] == "Deployment/cart"
    label = decision(result, "spec.selector.labelSelectors")
    assert (label.treatment, label.result) == ("Guessed", "target: Deployment/cart")
    assert label.reason == "--target; otel-demo has no component for nginx"


def test_chosen_target_does_not_replace_a_known_one(catalog: Catalog) -> None:
    text = CHAOS.replace("nginx", "checkout")
    result = import_text("chaos-mesh", catalog, text, app="otel-demo", target="cart")

    assert spec(result)["faults"][0]["target"] == "Deployment/checkout"


def test_report_of_unknown_component_names_the_app_and_the_option(catalog: Catalog) -> None:
    result = import_text("chaos-mesh", catalog, CHAOS, app="otel-demo")

    unknown = decision(result, "spec.selector")
    assert unknown.reason == "otel-demo has no component for nginx"
    assert "--target" in unknown.fix
    left = decision(result, "spec.delay.latency")
    assert left.reason == "it belongs to an object from which no draft was written"


@pytest.mark.parametrize(
    ("app", "target", "message"),
    [("", "cart", "of no app"), ("otel-demo", "crt", "has no component 'crt'")],
)
def test_unknown_target_is_refused(app: str, target: str, message: str, catalog: Catalog) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        import_text("chaos-mesh", catalog, CHAOS, app=app, target=target)
    assert caught.value.fix


@pytest.mark.parametrize(
    ("format", "text"),
    [
        ("litmus", "apiVersion: litmuschaos.io/v1alpha1\nkind: ChaosEngine\nmetadata: {name: e}\nspec:\n"
         "  appinfo: {appns: default, applabel: app=nginx}\n  experiments: [{name: pod-delete}]\n"),
        ("krkn", "application_outage: {duration: 60, namespace: web, pod_selector: {app: nginx}, block: [Ingress]}"),
    ],
)  # fmt: skip
def test_other_formats_are_aimed_at_the_chosen_component(format: str, text: str, catalog: Catalog) -> None:
    result = import_text(format, catalog, text, app="otel-demo", target="cart")

    assert spec(result)["faults"][0]["target"] == "Deployment/cart"
    assert any(each.result == "target: Deployment/cart" and each.treatment == "Guessed" for each in result.decisions)


def test_machines_are_not_aimed_at_the_chosen_component(catalog: Catalog) -> None:
    text = "scenarios:\n- {name: a, scenario: kubevirt_vm_outage, parameters: {vm_name: b}}\n"
    result = import_text("krkn", catalog, text, app="otel-demo", target="cart")

    assert not result.drafts
    assert "virtual machine" in decision(result, "scenarios[0]").reason


def test_target_of_a_file_that_names_none_is_a_guess(catalog: Catalog) -> None:
    result = import_text("krkn", catalog, "- {id: kill-pods, config: {kill: 1}}", app="otel-demo", target="cart")

    assert spec(result)["faults"][0]["target"] == "Deployment/cart"
    guess = decision(result, "[0].config")
    assert (guess.treatment, guess.reason) == ("Guessed", "--target; it names no component")


def test_claim_of_another_cluster_is_not_kept(catalog: Catalog) -> None:
    text = "pvc_scenario: {pvc_name: kraken-test-pvc, namespace: kraken, fill_percentage: 98}"
    result = import_text("krkn", catalog, text, app="otel-demo", target="cart")

    assert not any("kraken-test-pvc" in draft.text for draft in result.drafts)
