"""Explanations of exhausted cluster capacity."""

import pytest

from scenario_kit.trial.cluster_capacity import explain_exhausted_capacity

NODES = [{"status": {"allocatable": {"cpu": "2", "memory": "4Gi", "pods": "4"}}}]


def pod(name, cpu="1", message="", node="", namespace="shop", phase="Running"):
    condition = {"type": "PodScheduled", "status": "False" if message else "True", "message": message}
    containers = [{"name": "main", "resources": {"requests": {"cpu": cpu}}}]
    return {"metadata": {"name": name, "namespace": namespace, "uid": name},
            "spec": {"nodeName": node, "containers": containers},
            "status": {"phase": phase, "conditions": [condition]}}  # fmt: skip


FULL = "0/1 nodes are available: 1 Insufficient cpu."
STUCK = "1 pods of the app are unschedulable"
OTHER = pod("x", node="a", namespace="other")


@pytest.mark.parametrize(
    ("own", "others", "message"),
    [
        ([pod("a", message=FULL)], [OTHER], f"{STUCK}; 1 pods of other namespaces are running: other (1)"),
        ([pod("a", message="0/1 nodes are available: 1 Too many pods.")], [OTHER], STUCK),
        ([pod("a", node="a")], [OTHER], ""),
        ([pod("a", message="1 node(s) didn't match Pod's node affinity/selector")], [OTHER], ""),
        ([pod("a", message=FULL), pod("b"), pod("c")], [OTHER], ""),
        ([pod("a", message=FULL, cpu="0"), *(pod(f"b{i}", cpu="0") for i in range(4))], [OTHER], ""),
        ([pod("a", message=FULL)], [], ""),
        ([pod("a", message=FULL)], [pod("x", namespace="other")], ""),
        ([pod("a", message=FULL)], [pod("x", node="a", namespace="other", phase="Succeeded")], ""),
    ],
    ids=[
        "others take it", "no place for one more", "all placed", "nowhere to go", "more than there is",
        "more pods than places", "nobody else", "others wait as well", "others have ended",
    ],
)  # fmt: skip
def test_capacity_is_infrastructure_if_app_alone_would_fit(own, others, message):
    found = explain_exhausted_capacity(own, others, NODES)
    assert found.startswith(message)
    assert bool(found) == bool(message)
