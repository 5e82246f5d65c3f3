"""Faults on targets that no shipped scenario uses: each bites, and each goes without a trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pytest
from msgspec import structs

from scenario_kit.campaign import TRY, Campaign, PlannedTrial, run
from scenario_kit.catalog import Catalog
from scenario_kit.load import parse_scenario_object
from scenario_kit.model import Scenario, TrialStep
from scenario_kit.render import resolve


class Pair(NamedTuple):
    """A fault of the catalogue, aimed at something."""

    fault: str
    target: str
    parameters: Mapping[str, Any] = {}

    def __str__(self) -> str:
        return " ".join([self.fault, self.target, *(f"{k}={v}" for k, v in self.parameters.items())])


#: A store, a queue, consumers, callees whose failures are swallowed, the load itself; small and long delays.
BITING = (
    Pair("service-target-port-wrong", "Service/valkey-cart"),
    Pair("service-target-port-wrong", "Service/kafka"),
    Pair("container-image-not-found", "Deployment/image-provider"),
    Pair("deployment-scaled-to-zero", "Deployment/load-generator"),
    Pair("network-delay", "Deployment/email", {"latencyMilliseconds": 50}),
    Pair("network-delay", "Deployment/llm", {"latencyMilliseconds": 10000}),
    Pair("pod-failure", "Deployment/kafka"),
    Pair("env-value-wrong", "Deployment/cart", {"name": "VALKEY_ADDR", "value": "nowhere:6379"}),
    Pair("dns-error", "Deployment/shipping", {"patterns": ["quote*"]}),
    Pair("dns-random", "Deployment/checkout"),
)
#: Nothing crosses these in the steady profile, nobody minds, or everybody has the connections and addresses they need.
TOOTHLESS = (
    Pair("service-target-port-wrong", "Service/image-provider"),
    Pair("network-delay", "Deployment/image-provider", {"latencyMilliseconds": 500}),
    Pair("env-value-wrong", "Deployment/frontend", {"name": "CURRENCY_ADDR", "value": "nowhere:8080"}),
    Pair("dns-error", "Deployment/frontend-proxy"),
    Pair("dns-error", "Deployment/shipping", {"patterns": ["quot"]}),
)
#: Chaos that new pods must meet again, and the alert that shows it.
LASTING = (
    (Pair("dns-error", "Deployment/shipping", {"patterns": ["quote*"]}), "HighRequestErrorRate"),
    (Pair("network-delay", "Deployment/postgresql", {"latencyMilliseconds": 2500}), "HighRequestLatency"),
    (Pair("pod-failure", "Deployment/currency"), "HighRequestErrorRate"),
)
START = (TrialStep(kind="deploy"), TrialStep(kind="expectQuiet", seconds=60))
END = (TrialStep(kind="teardown"), TrialStep(kind="expectClean"))


def scenario(pairs: Sequence[Pair], alert: str = "") -> Scenario:
    """The shortest scenario with those faults, ``it0`` and on; a decoy restarts each target."""
    uses = [
        {"name": f"it{i}", "type": p.fault, "target": p.target, "parameters": dict(p.parameters)}
        for i, p in enumerate(pairs)
    ]
    restarts = [
        {"name": f"restart-{i}", "description": "Again", "changes": [{"restart": {"target": p.target}}]}
        for i, p in enumerate(pairs)
        if p.target.startswith("Deployment/")
    ]
    expected = {"name": alert or "HighRequestErrorRate", "class": "MustFire" if alert else "MayFire"}
    return parse_scenario_object(
        {
            "apiVersion": "scenariokit.io/v1alpha1",
            "kind": "Scenario",
            "metadata": {"name": "matrix"},
            "spec": {
                "title": "Faults on targets",
                "description": "One trial tries one of them.",
                "brief": "Something is wrong.",
                "authors": [{"name": "scenario-kit maintainers"}],
                "license": "Apache-2.0",
                "tags": ["matrix"],
                "app": {"name": "otel-demo", "version": "2.2.0"},
                "faults": uses,
                "expect": {"alerts": [expected]},
                "groundTruth": {"rootCauses": [{"fault": "it0"}], "propagation": []},
                "decoys": restarts,
            },
        }
    )


def program(number: int, middle: Sequence[TrialStep]) -> tuple[TrialStep, ...]:
    """Break one thing, let time pass, repair it: by its documented fix, or from its receipts."""
    name = f"it{number}"
    fix = TrialStep(kind="change", use="Fix", name=f"{name}:0")
    remove = TrialStep(kind="change", use="RemoveFault", name=name)
    return (*START, TrialStep(kind="inject", faults=(name,)), *middle, fix if number % 2 else remove, *END)


def run_trials(lab, pairs: Sequence[Pair], middle: Sequence[TrialStep] = (), alert: str = "") -> list:
    """One trial per pair, two at a time; their results."""
    catalog, value = Catalog(), scenario(pairs, alert)
    digest = resolve(value, catalog, "otel-demo").digest
    planned = [
        PlannedTrial(purpose=f"pair-{i}", describe=str(pair), steps=program(i, middle), seed=i)
        for i, pair in enumerate(pairs)
    ]
    return run(
        planned,
        Campaign(
            lab.cluster, structs.replace(TRY, name="matrix"), "matrix", digest, "otel-demo",
            lambda namespace, _load: resolve(value, catalog, namespace),
        ),
        parallel=2,
        health=lambda: [str(p) for p in lab.state.dead_parts()],
        progress=lambda planned, name, status: None,
    )  # fmt: skip


def test_fault_has_effect_and_is_undone(lab):
    results = run_trials(lab, BITING, [TrialStep(kind="hold", seconds=60)])
    broken = [r for r in results if r.outcome != "Held"]
    assert [(r.describe, r.message, [(f.code, f.message, f.observed) for f in r.findings]) for r in broken] == []


def test_fault_without_traffic_has_no_effect(lab):
    for result in run_trials(lab, TOOTHLESS):
        assert result.outcome == "Broken", (result.describe, result.message)
        assert {f.code for f in result.findings} == {"SK304"}, result.describe


@pytest.mark.parametrize(("pair", "alert"), LASTING, ids=lambda value: str(value))
def test_chaos_applies_to_new_pods(lab, pair, alert):
    middle = [
        TrialStep(kind="expectAlerts"),
        TrialStep(kind="change", use="Decoy", name="restart-0"),
        TrialStep(kind="expectStillFiring", use="Decoy", name="restart-0"),
    ]
    (result,) = run_trials(lab, [pair], middle, alert)
    assert result.outcome == "Held", (result.findings, result.message)
