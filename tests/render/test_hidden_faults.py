"""Hidden faults: the chaos object moves out of sight, and the target is the cause."""

from __future__ import annotations

import re

import pytest

from scenario_kit import campaign
from scenario_kit.catalog import Catalog
from scenario_kit.errors import AuthoringError
from scenario_kit.model import Fault, Reference
from scenario_kit.model.authored.scenario import FaultUse, Recurrence
from scenario_kit.model.chaos.kinds import GROUP
from scenario_kit.model.kubernetes.reference import MANAGEMENT_NAMESPACE
from scenario_kit.render import render_app, render_fault, resolve_options
from scenario_kit.render.faults.variants.hidden_faults import QUIET_EVENTS
from scenario_kit.schema import install

CATALOG = Catalog()
APP = CATALOG.app("otel-demo", "2.2.0")


def render(
    type: str, target: str = "Deployment/cart", visibility: str = "Hidden", namespace: str = "otel-demo-bcdf", **use
) -> Fault:
    options = resolve_options(APP, {}, "steady")
    objects = render_app(APP, options, 50, namespace, templates=CATALOG.templates(APP.name))
    desired = FaultUse(name="slow", type=type, target=Reference.parse(target), visibility=visibility, **use)
    return render_fault(CATALOG.fault(type), desired, APP, objects, namespace, "s")


def test_hidden_object_is_in_management_namespace_and_selects_app() -> None:
    (change,) = render("network-delay").changes
    assert change.operation.experiment is not None

    assert change.operation.experiment["metadata"]["namespace"] == MANAGEMENT_NAMESPACE
    assert change.operation.experiment["spec"]["selector"]["namespaces"] == ["otel-demo-bcdf"]
    assert len(change.operation.experiment["metadata"]["name"]) <= 20


def test_management_namespace_is_consistent() -> None:
    assert MANAGEMENT_NAMESPACE == install.NAMESPACE == campaign.MANAGEMENT_NAMESPACE


def test_parallel_trials_have_distinct_experiment_names() -> None:
    first, second = (
        render("network-delay", namespace=n).changes[0].operation.experiment
        for n in ("otel-demo-bcdf", "otel-demo-ghjk")
    )
    assert first is not None
    assert second is not None

    assert first["metadata"]["name"] != second["metadata"]["name"]


def test_target_is_the_cause_and_the_object_an_artefact() -> None:
    found = render("network-partition", parameters={"peer": "Deployment/frontend"})

    assert [(e.role, e.ref) for e in found.entities if e.role != "Artefact"] == [
        ("Cause", "Deployment/cart"),
        ("Victim", "Deployment/frontend"),
    ]
    (artefact,) = (e.ref for e in found.entities if e.role == "Artefact")
    assert re.fullmatch(rf"{MANAGEMENT_NAMESPACE}/NetworkChaos\.{GROUP}/[-a-z0-9]+", artefact)


def test_checks_speak_of_the_moved_object() -> None:
    shown, found = render("network-delay", visibility="Visible"), render("network-delay")
    moved = next(e.ref for e in found.entities if e.role == "Artefact")

    assert [c.object.ref for c in (*found.effect, *found.undone) if c.object] == [moved, moved]
    assert [c.query for c in found.effect] == [c.query for c in shown.effect]
    shown_ref = next(e.ref for e in shown.entities if e.role == "Cause")
    assert f"'{shown_ref}'" not in str(found.to_json())


def test_unrepairable_fault_is_for_diagnosis_only() -> None:
    found = render("network-delay")

    assert (found.mitigation, found.solutions) == ("None", ())
    assert [d.name for d in found.decoys] == ["restart-slow-workload"]


def test_hidden_schedule_hides_its_experiments() -> None:
    found = render("network-delay", recurrence=Recurrence(every_seconds=600, for_seconds=200))
    (change,) = found.changes
    assert change.operation.experiment is not None

    assert change.operation.experiment["metadata"]["namespace"] == MANAGEMENT_NAMESPACE
    assert change.operation.experiment["spec"]["networkChaos"]["selector"]["namespaces"] == ["otel-demo-bcdf"]
    assert (found.mitigation, found.solutions) == ("None", ())


@pytest.mark.parametrize(("type", "needs"), [("network-delay", True), ("memory-stress", False)])
def test_per_pod_effects_require_hidden_events(type: str, needs: bool) -> None:
    assert (QUIET_EVENTS in render(type).requires) is needs


@pytest.mark.parametrize(
    ("type", "target", "because"),
    [
        ("pod-failure", "Deployment/cart", "notes the true ones in annotations"),
        ("deployment-scaled-to-zero", "Deployment/cart", "changes an object of the app (scale)"),
        ("cpu-stress", "Deployment/cart", "changes an object of the app (patch)"),
        ("service-target-port-wrong", "Service/cart", "changes an object of the app (patch)"),
        ("etcd-io-latency", "kube-system/Pod/etcd-a", "is not a workload"),
    ],
)
def test_observable_experiment_cannot_be_hidden(type: str, target: str, because: str) -> None:
    with pytest.raises(AuthoringError) as caught:
        render(type, target)

    (finding,) = caught.value.findings
    assert finding.code == "SK135"
    assert because in finding.message
    assert "visibility: Visible" in finding.fix


def test_every_chaos_fault_is_hideable_or_has_a_reason() -> None:
    experiments = [n for n in CATALOG.faults() if CATALOG.fault(n).family == "Chaos"]
    refused = {}
    for name in experiments:
        try:
            render(name, "Deployment/cart")
        except AuthoringError as problem:
            refused[name] = {f.code for f in problem.findings}

    assert {n for n, codes in refused.items() if "SK135" in codes} == {"pod-failure", "cpu-stress"}
    assert len(experiments) - len(refused) >= 12
