"""Would the Deployment controller scale anything? A table of rolling updates."""

import pytest

from scenario_kit.lab.settle.checks.rollouts import check_deployments, compute_fenceposts, find_due_scaling
from tests.lab.server.cluster_objects import deployment, facts, replica_set, world


@pytest.mark.parametrize(
    ("rolling", "replicas", "expected"),
    [
        ({}, 1, (1, 0)),
        ({}, 4, (1, 1)),
        ({}, 10, (3, 2)),
        ({"maxSurge": 0, "maxUnavailable": 0}, 3, (0, 1)),
        ({"maxSurge": "100%", "maxUnavailable": 1}, 3, (3, 1)),
    ],
)
def test_fenceposts(rolling: dict[str, int | str], replicas: int, expected: tuple[int, int]) -> None:
    assert compute_fenceposts(rolling, replicas) == expected


# wanted, (spec, available) of the new and of the old ReplicaSet, strategy, whether something is due
@pytest.mark.parametrize(
    ("desired", "new", "old", "strategy", "due"),
    [
        (1, (1, 1), (0, 0), {}, False),
        (1, (0, 0), (1, 1), {}, True),  # the new one may surge
        (1, (1, 0), (1, 1), {}, False),  # stuck: the new pod is not available, the old one has to stay
        (1, (1, 1), (1, 1), {}, True),  # the old one may go
        (4, (2, 0), (3, 3), {}, False),  # stuck with maxSurge 1 and maxUnavailable 1
        (4, (2, 0), (4, 4), {}, True),
        (4, (1, 0), (4, 4), {}, True),
        (4, (2, 0), (3, 2), {}, False),
        (4, (4, 4), (0, 0), {}, False),
        (2, (3, 3), (0, 0), {}, True),  # scaled down
        (3, (0, 0), (3, 3), {"type": "Recreate"}, True),
        (3, (0, 0), (0, 0), {"type": "Recreate"}, True),
        (3, (3, 0), (0, 0), {"type": "Recreate"}, False),
        (0, (0, 0), (0, 0), {}, False),
    ],
)
def test_scaling(
    desired: int, new: tuple[int, int], old: tuple[int, int], strategy: dict[str, object], due: bool
) -> None:
    owner = deployment(replicas=desired)
    owner["spec"]["strategy"] = strategy
    sets = []
    for revision, (spec, available) in enumerate((old, new), start=1):
        rs = replica_set(owner, revision, spec)
        rs["status"]["availableReplicas"] = available
        sets.append(rs)
    assert bool(find_due_scaling(owner, sets[1], [sets[0]])) is due


def test_paused_rollout_is_not_due() -> None:
    owner = deployment()
    owner["spec"]["paused"] = True
    assert find_due_scaling(owner, replica_set(owner, 2, 0), [replica_set(owner, 1, 1)]) == ""


def test_scaling_of_all_replica_sets_is_checked_first() -> None:
    owner = deployment(replicas=3)
    new = replica_set(owner, 2, 1)
    new["metadata"]["annotations"]["deployment.kubernetes.io/desired-replicas"] = "1"
    assert "a replica count other than 3" in find_due_scaling(owner, new, [])


@pytest.mark.parametrize(("paused", "changed", "updated"), [(True, True, 0), (True, False, 1), (False, True, 1)])
def test_paused_deployment_has_no_updated_pods(paused: bool, changed: bool, updated: int) -> None:
    owner, kinds = deployment(), world()
    template = {"metadata": {"labels": {"app": "cart"}}, "spec": {"containers": [{"name": "c", "image": "cart:1"}]}}
    known = {**template, "metadata": {"labels": {"app": "cart", "pod-template-hash": "r1"}}}
    owner["spec"] |= {"paused": paused, "template": {**template, "spec": {}} if changed else template}
    owner["status"]["updatedReplicas"] = updated
    kinds["Deployment"]["cart"] = owner
    kinds["ReplicaSet"]["cart-r1"]["spec"]["template"] = known
    assert list(check_deployments(facts(kinds))) == []
    owner["status"]["updatedReplicas"] = 1 - updated
    assert [r.text for r in check_deployments(facts(kinds))] == [
        f"updatedReplicas is {1 - updated}, expected {updated}"
    ]
