"""One trial per change operation: it makes the change, undoes it and removes the app."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from scenario_kit.campaign import PlannedTrial
from scenario_kit.catalog import Catalog, find_data_root
from scenario_kit.load import load_scenario
from scenario_kit.model import Change, Procedure, Runbook, Solution, TrialStep
from scenario_kit.render import resolve
from tools.crash.cells import DEPLOY

#: An app with stores, flags and clients, and a fault for the operation that removes one.
_SCENARIO: Final = "cart-scaled-to-zero"
_NAME: Final = "crash"
#: The objects to install: for the installation itself one of each kind, otherwise only what the change needs; more of
#: the same kind only take time.
_INSTALLED: Final = ("otel-demo", "ad")
_BESIDE: Final[Mapping[str, tuple[str, ...]]] = {
    DEPLOY: ("cart", "valkey-cart", "flagd", "flagd-config", "postgresql", "postgresql-init"),
    "removeFault": ("cart", "valkey-cart"),
    "run": ("postgresql", "postgresql-init"),
    "setFlag": ("flagd", "flagd-config"),
}
_POD_FAILURE: Final = {
    "apiVersion": "chaos-mesh.org/v1alpha1",
    "kind": "PodChaos",
    "metadata": {"name": "crash"},
    "spec": {"action": "pod-failure", "mode": "one", "selector": {"labelSelectors": {"opentelemetry.io/name": "ad"}}},
}
_TAINT: Final = {"target": "Node/worker-1", "key": "crash", "value": "yes"}
_GRANT: Final = "GRANT SELECT ON catalog.products TO otelu"


def _annotate(value: str) -> dict[str, Any]:
    return {"spec": {"template": {"metadata": {"annotations": {"crash": value}}}}}


def _build_config_map(value: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "crash"}, "data": {"key": value}}


def _build_secret() -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "crash"}, "stringData": {"key": "value"}}


#: The changes of each operation's trial, as in a file, including those that it requires first.
CHANGES: Final[Mapping[str, tuple[dict[str, Any], ...]]] = {
    DEPLOY: (),
    "apply": ({"apply": _build_config_map("a")},),
    "chaos": ({"chaos": _POD_FAILURE},),
    "cordon": ({"cordon": {"target": "Node/worker-1"}},),
    "create": ({"create": _build_config_map("a")}, {"create": _build_secret()}),
    "delete": ({"delete": {"target": "Service/ad"}},),
    "drain": ({"drain": {"target": "Node/worker-1"}},),
    "patch": ({"patch": {"target": "Service/ad", "type": "Merge", "patch": {"spec": {"selector": {"a": "b"}}}}},),
    "removeFault": ({"removeFault": {"fault": "cart-replicas"}},),
    "restart": ({"restart": {"target": "Deployment/ad"}},),
    "run": ({"run": {"client": "psql", "command": ["psql", "-v", "ON_ERROR_STOP=1", "-c", _GRANT]}},),
    "scale": ({"scale": {"target": "Deployment/ad", "replicas": 0}},),
    "setFlag": ({"setFlag": {"flag": "adFailure", "variant": "on"}},),
    "taint": ({"taint": _TAINT},),
    "uncordon": ({"cordon": {"target": "Node/worker-1"}}, {"uncordon": {"target": "Node/worker-1"}}),
    "undoRollout": (
        {"patch": {"target": "Deployment/ad", "type": "Strategic", "patch": _annotate("a")}},
        {"undoRollout": {"target": "Deployment/ad"}},
    ),
    "untaint": ({"taint": _TAINT}, {"untaint": {"target": "Node/worker-1", "key": "crash"}}),
}


def build_runbook(operation: str, catalog: Catalog, namespace: str) -> Runbook:
    """Build a runbook whose only procedure, a decoy, makes the changes of an operation.

    Raises:
        KeyError: there is no such operation.
    """
    file = find_data_root() / "catalog" / "scenarios" / _SCENARIO / "scenario.yaml"
    runbook = resolve(load_scenario(file).scenario, catalog, namespace)
    changes = tuple(Change.from_json(change) for change in CHANGES[operation])
    procedure = Procedure(use="Decoy", name=_NAME, solution=Solution(name=_NAME, changes=changes))
    # Nodes may only be changed by a fault with cluster scope. Effect checks are dropped because no caller of the target
    # is installed.
    faults = tuple(msgspec.structs.replace(fault, scope="Cluster", effect=()) for fault in runbook.faults)
    installed = (*_INSTALLED, *_BESIDE.get(operation, ()))
    objects = tuple(each for each in runbook.objects if each["metadata"]["name"] in installed)
    return msgspec.structs.replace(runbook, procedures=(procedure,), faults=faults, objects=objects)


def plan_trial(operation: str, runbook: Runbook, seed: int) -> PlannedTrial:
    """Plan the trial of an operation, with its essential steps only."""
    change = TrialStep(kind="change", use="Decoy", name=_NAME)
    changes = runbook.procedures[0].solution.changes
    middle: tuple[TrialStep, ...] = (change, msgspec.structs.replace(change, kind="undoChange")) if changes else ()
    if any(each.operation.fault for each in changes):
        middle = (TrialStep(kind="inject"), change)
    steps = (TrialStep(kind="deploy"), *middle, TrialStep(kind="teardown"), TrialStep(kind="expectClean"))
    return PlannedTrial(purpose="repeat-1", describe=f"{operation} and back", steps=steps, seed=seed)
