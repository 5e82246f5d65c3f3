"""How many trials of a scenario share a cluster."""

import msgspec
import pytest

from scenario_kit.campaign.sharing import at_once
from scenario_kit.model import Change, Procedure, Solution

CREATED = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 9}


def with_changes(fault, *changes, scope="Namespace"):
    return msgspec.structs.replace(fault, changes=tuple(Change.from_json(c) for c in changes), scope=scope)


@pytest.mark.parametrize(
    ("change", "many"),
    [
        ({"scale": {"target": "Deployment/cart", "replicas": 0}}, True),
        ({"scale": {"target": "shop/Deployment/cart", "replicas": 0}}, True),
        ({"create": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "shop"}}}, True),
        ({"restart": {"target": "kube-system/Deployment/coredns"}}, False),
        ({"create": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "other"}}}, False),
        ({"create": CREATED}, False),
        ({"apply": CREATED}, False),
        ({"cordon": {"target": "Node/node-1"}}, False),
        ({"removeFault": {"fault": "f"}}, True),
    ],
)
def test_what_reaches_beyond_the_app_has_the_cluster_for_itself(runbook_of, fault, change, many):
    expected = 4 if many else 1
    assert at_once(runbook_of(with_changes(fault("f"), change)), 4) == expected
    procedure = Procedure(use="Decoy", name="d", solution=Solution(name="d", changes=(Change.from_json(change),)))
    assert at_once(msgspec.structs.replace(runbook_of(fault("f")), procedures=(procedure,)), 4) == expected


def test_a_fault_may_say_so_itself(runbook_of, fault):
    assert at_once(runbook_of(with_changes(fault("f"), scope="Cluster")), 4) == 1
