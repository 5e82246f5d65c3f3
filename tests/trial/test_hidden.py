"""Solver permissions with hidden faults, and the clean-room checks."""

from __future__ import annotations

import pytest

from scenario_kit.changes import chaos
from scenario_kit.model import Fault, Object
from scenario_kit.testing import FakeCluster
from scenario_kit.trial import deploy
from scenario_kit.trial.engine.context import TrialContext

GROUP = "chaos-mesh.org"


def experiment(kind: str, name: str, namespace: str, **spec: object) -> Object:
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": f"{GROUP}/v1alpha1", "kind": kind, "metadata": metadata, "spec": spec}


def fault(kind: str, visibility: str) -> Fault:
    change = {"chaos": experiment(kind, "x", "shop", selector={})}
    return Fault.from_json(
        {"name": kind.lower(), "type": "t", "version": 1, "target": "Deployment/web", "visibility": visibility,
         "changes": [change], "effect": [], "entities": []}
    )  # fmt: skip


class TrialHarness:
    """As much of a context as giving access looks at."""

    def __init__(self, *faults: Fault) -> None:
        self.cluster, self.everywhere, self.runbook = FakeCluster(), ("shop",), self
        self.faults = faults


@pytest.mark.parametrize(
    ("faults", "readable"),
    [
        pytest.param([fault("NetworkChaos", "Visible")], ["*"], id="all is shown"),
        pytest.param([fault("NetworkChaos", "Hidden")], None, id="all is hidden"),
        pytest.param(
            [fault("PodChaos", "Visible"), fault("NetworkChaos", "Hidden")], ["podchaos"], id="one of each kind"
        ),
        pytest.param(
            [fault("NetworkChaos", "Visible"), fault("NetworkChaos", "Hidden")],
            ["networkchaos"],
            id="the shown one alone lies in the namespace",
        ),
        pytest.param([], None, id="no chaos"),
    ],
)
def test_solver_role_permits_visible_chaos_kinds_only(faults: list[Fault], readable: list[str] | None) -> None:
    context: TrialContext = TrialHarness(*faults)  # type: ignore[assignment]
    rules = [r for o in deploy._build_access(context) if o["kind"] == "Role" for r in o["rules"]]

    assert [r["resources"] for r in rules] == ([] if readable is None else [readable])


def test_objects_targeting_a_namespace_from_outside_are_found() -> None:
    there = {"namespaces": ["shop"]}
    cluster = FakeCluster(
        [
            experiment("NetworkChaos", "labels", "kit", selector=there),
            experiment("PodChaos", "names", "kit", selector={"pods": {"shop": ["web-0"]}}),
            experiment("NetworkChaos", "peer", "kit", selector={}, target={"selector": there}),
            experiment("Schedule", "again", "kit", type="StressChaos", stressChaos={"selector": there}),
            experiment("NetworkChaos", "other", "kit", selector={"namespaces": ["store"]}),
            experiment("HTTPChaos", "word", "kit", selector={"namespaces": ["store"]}, target="Request"),
            experiment("NetworkChaos", "shown", "shop", selector=there),
            experiment("PodNetworkChaos", "web-0", "kit"),
        ]
    )

    found = {o["metadata"]["name"] for o in chaos.list_chaos_selecting(cluster, "kit", at="shop")}

    assert found == {"labels", "names", "peer", "again"}
