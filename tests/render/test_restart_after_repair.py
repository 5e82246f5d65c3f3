"""Repairs restart who does not recover from an outage by itself."""

from __future__ import annotations

import msgspec
import pytest

from scenario_kit.catalog import Catalog
from scenario_kit.model import App, Change, Fault, Reference
from scenario_kit.model.authored.app import Aftermath
from scenario_kit.model.authored.fault import Entity
from scenario_kit.model.authored.scenario import Rollout, Solution
from scenario_kit.render import render_app, resolve_options
from scenario_kit.render.scenarios.restart_after_repair import complete_fault

KAFKA, CART = "Deployment/kafka", "Deployment/cart"
BACK = {"scale": {"target": KAFKA, "replicas": 1}}
RESTART = {"restart": {"target": "Deployment/checkout"}}


@pytest.fixture(scope="module")
def shop() -> App:
    return Catalog().app("otel-demo", "2.2.0")


def build_fault(target: str, fix: tuple[dict, ...] = (), *, causes: int = 1, victim: str = "") -> Fault:
    changes = tuple(Change.from_json(c) for c in fix)
    entities = [
        Entity(ref=Reference.parse(target) if i == 0 else Reference("ConfigMap", i), fix=changes) for i in range(causes)
    ]
    entities += [Entity(ref=Reference.parse(victim), role="Victim", fix=changes)] if victim else []
    solution = Solution(name="back", description="Bring it back", changes=changes or (Change.from_json(BACK),))
    return Fault(
        name="f", type="f", version=1, target=Reference.parse(target), changes=(), effect=(), entities=tuple(entities),
        solutions=(solution,),
    )  # fmt: skip


def add_restarts(fault: Fault, app: App) -> tuple[list[list[dict]], list[dict], str]:
    objects = tuple(
        render_app(app, resolve_options(app, {}), 50, app.namespace, templates=Catalog().templates(app.name))
    )
    made = complete_fault(fault, app, objects)
    (solution,) = made.solutions
    fixes = [[c.to_json() for c in e.fix] for e in made.entities]
    return fixes, [c.to_json() for c in solution.changes], solution.description


def test_repair_restarts_components_that_do_not_recover(shop: App) -> None:
    fixes, solution, reported = add_restarts(build_fault(KAFKA, (BACK,)), shop)
    assert fixes == [[BACK, RESTART]]
    assert solution == [BACK, RESTART]
    assert reported.startswith("Bring it back; then restart who does not recover by itself: two readers in checkout")


def test_restarted_workload_is_not_restarted_twice(shop: App) -> None:
    again = {"restart": {"target": "Deployment.apps/checkout"}}
    fixes, solution, reported = add_restarts(build_fault(KAFKA, (BACK, again)), shop)
    assert fixes == [[BACK, again]]
    assert solution == [BACK, again]
    assert reported == "Bring it back"


def test_fault_without_fix_is_removed_before_restart(shop: App) -> None:
    assert add_restarts(build_fault(KAFKA), shop)[0] == [[{"removeFault": {"fault": "f"}}, RESTART]]


def test_inseparable_causes_and_victims_get_no_fix(shop: App) -> None:
    assert add_restarts(build_fault(KAFKA, causes=2), shop)[0] == [[], []]
    assert add_restarts(build_fault(KAFKA, (BACK,), victim=CART), shop)[0] == [[BACK, RESTART], [BACK]]


def test_repair_of_other_component_is_unchanged(shop: App) -> None:
    fault = build_fault(CART, (BACK,))
    assert add_restarts(fault, shop)[0] == [[BACK]]
    assert add_restarts(build_fault("Node/node-0", (BACK,), victim=KAFKA), shop)[0] == [[BACK, RESTART], [BACK]]


def test_several_components_may_need_a_restart(shop: App) -> None:
    more = (
        Aftermath(after="cart", restart=("frontend", "checkout"), because="a"),
        Aftermath(after="cart", restart=("ad",), because="b"),
    )
    app = msgspec.structs.replace(shop, aftermath=more)
    fixes, _, reported = add_restarts(build_fault(CART, (BACK,)), app)
    assert [c["restart"]["target"] for c in fixes[0][1:]] == [f"Deployment/{n}" for n in ("frontend", "checkout", "ad")]
    assert reported.endswith("by itself: a; b")


ORDERED = {"kind": "StatefulSet", "metadata": {"name": "pg"}, "spec": {"replicas": 2}}
BROKEN = {"patch": {"target": "StatefulSet/pg", "type": "Merge", "patch": {"spec": {"template": {"x": 1}}}}}
RESTORED = {"patch": {"target": "StatefulSet/pg", "type": "Merge", "patch": {"spec": {"template": {"x": 0}}}}}
THROUGH_ZERO = {"restart": {"target": "StatefulSet/pg", "dropOld": True}}


@pytest.mark.parametrize(
    ("spec", "drop_old", "change", "repair"),
    [
        ({}, True, BROKEN, [RESTORED, THROUGH_ZERO]),
        ({"podManagementPolicy": "OrderedReady"}, True, BROKEN, [RESTORED, THROUGH_ZERO]),
        ({"podManagementPolicy": "Parallel"}, True, BROKEN, [RESTORED]),
        ({}, False, BROKEN, [RESTORED]),
        ({}, True, {"scale": {"target": "StatefulSet/pg", "replicas": 0}}, [RESTORED]),
        ({}, True, THROUGH_ZERO, [RESTORED]),
    ],
)
def test_stateful_set_replaces_its_broken_pods_after_the_repair(
    shop: App, spec: dict, drop_old: bool, change: dict, repair: list[dict]
) -> None:
    fault = msgspec.structs.replace(
        build_fault("StatefulSet/pg", (RESTORED,)),
        changes=(Change.from_json(change),),
        rollout=Rollout(drop_old=drop_old),
    )
    made = complete_fault(fault, shop, ({**ORDERED, "spec": {**ORDERED["spec"], **spec}},))
    assert [[c.to_json() for c in e.fix] for e in made.entities] == [repair]
    assert [c.to_json() for c in made.solutions[0].changes] == repair
