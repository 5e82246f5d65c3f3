"""Admission of whole runbooks, wherever in them the change is."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from scenario_kit.catalog import Catalog, find_data_root
from scenario_kit.lint.rules.security.runbook_admission import list_refusals
from scenario_kit.load import load_scenario
from scenario_kit.model import Change, Fault, Runbook
from scenario_kit.render import resolve

CATALOG = Catalog()
PRIVILEGED = {"containers": [{"name": "a", "image": "busybox:1.37.0", "securityContext": {"privileged": True}}]}
POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "shell"}, "spec": PRIVILEGED}


@pytest.fixture(scope="module")
def runbook() -> Runbook:
    path = find_data_root() / "catalog/scenarios/product-catalog-wrong-target-port/scenario.yaml"
    return resolve(load_scenario(path).scenario, CATALOG, "app-x1")


def change(document: dict[str, Any]) -> Change:
    return Change.from_json(document)


def with_fault(runbook: Runbook, **fields: Any) -> Runbook:
    return msgspec.structs.replace(runbook, faults=(msgspec.structs.replace(runbook.faults[0], **fields),))


def test_catalogue_scenarios_are_admitted_in_trial_namespace() -> None:
    for path in sorted((find_data_root() / "catalog/scenarios").glob("*/scenario.yaml")):
        found = list_refusals(resolve(load_scenario(path).scenario, CATALOG, "app-x1", beside=path), "app-x1")
        assert [f.message for f in found] == [], path


@pytest.mark.parametrize("part", ["changes", "undo", "fix", "procedure", "app", "noise"])
def test_privileged_pod_is_refused_in_any_procedure(runbook: Runbook, part: str) -> None:
    fault, made = runbook.faults[0], (change({"create": POD}),)
    procedure = runbook.procedures[0]
    solution = msgspec.structs.replace(procedure.solution, changes=made)
    entity = msgspec.structs.replace(fault.entities[0], fix=made)
    wrong = {
        "changes": lambda: with_fault(runbook, changes=(*fault.changes, *made)),
        "undo": lambda: with_fault(runbook, undo=made),
        "fix": lambda: with_fault(runbook, entities=(entity,)),
        "procedure": lambda: msgspec.structs.replace(
            runbook, procedures=(msgspec.structs.replace(procedure, solution=solution),)
        ),
        "app": lambda: msgspec.structs.replace(runbook, objects=(*runbook.objects, POD)),
        "noise": lambda: msgspec.structs.replace(runbook, noise=(noise(made),)),
    }[part]()

    assert [f.code for f in list_refusals(wrong)] == ["SK202"]
    assert list_refusals(runbook) == []


def noise(made: tuple[Change, ...]) -> Any:
    from scenario_kit.model.authored.noise import NoiseSource

    return NoiseSource(name="batch", changes=made, every_seconds=600, jitter_percent=0)


def test_declared_scope_in_a_runbook_is_bounded(runbook: Runbook) -> None:
    fault: Fault = runbook.faults[0]
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "all"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"kind": "ServiceAccount", "name": "default", "namespace": "app-x1"}],
    }  # fmt: skip
    exceptions = [{"allow": name, "because": "It says so"} for name in ("ClusterRights", "SystemComponent")]
    document = fault.to_json() | {"scope": "Cluster", "exceptions": exceptions}
    document["changes"] = [*document["changes"], {"create": binding}]
    wrong = msgspec.structs.replace(runbook, faults=(Fault.from_json(document),))

    assert [f.code for f in list_refusals(wrong)] == ["SK203"]


@pytest.mark.parametrize("namespace", ["kube-system", "default", "app-x1-other"])
def test_runbook_is_refused_outside_its_namespace(runbook: Runbook, namespace: str) -> None:
    assert [f.code for f in list_refusals(runbook, namespace)] == ["SK236"]


def test_json_patch_valid_only_on_live_object_is_refused(runbook: Runbook) -> None:
    hidden = [{"op": "test", "path": "/metadata/uid", "value": "live"}, {"op": "add", "path": "/spec/a", "value": 1}]
    made = change({"patch": {"target": "Service/cart", "type": "Json", "patch": hidden}})

    assert [f.code for f in list_refusals(with_fault(runbook, undo=(made,)))] == ["SK236"]
