"""The clean room: leftovers are found, what every namespace has is not."""

from datetime import UTC, datetime

import pytest

from scenario_kit.judge import leftovers
from scenario_kit.model import Severity


def obj(kind, name):
    return {"kind": kind, "metadata": {"name": name}}


def test_empty_namespace_is_clean():
    contents = [
        obj("ConfigMap", "kube-root-ca.crt"),
        obj("ServiceAccount", "default"),
        obj("Event", "x"),
        obj("Lease", "y"),
    ]
    assert leftovers.compare({"Node/a": "1"}, {"Node/a": "1"}, contents) == []


def test_every_difference_is_reported():
    (finding,) = leftovers.compare({"A/a": "1", "B/b": "1"}, {"A/a": "2", "C/c": "1"}, [obj("Secret", "left")])
    assert finding.code == "SK306"
    for part in ("Secret/left", "new: C/c", "missing: B/b", "changed: A/a"):
        assert part in finding.observed


@pytest.mark.parametrize(
    ("spec", "same"),
    [
        ({"podCIDR": "10.1.0.0/24"}, True),
        ({"taints": [{"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"}]}, True),
        ({"unschedulable": True}, False),
        ({"taints": [{"key": "pool", "effect": "NoSchedule"}]}, False),
    ],
)
def test_node_digest_covers_schedulability_only(spec, same):
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "labels": {"a": "b"}}, "spec": spec}
    before = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}
    assert (leftovers.digest(node) == leftovers.digest(before)) is same


def test_residue_error_lists_twelve_differences_and_counts_the_rest():
    def reported(number):
        (found,) = leftovers.compare({}, {f"A/{i:02}": "1" for i in range(number)}, [])
        assert (found.code, found.severity) == ("SK306", Severity.ERROR)
        return found.observed

    assert reported(12) == "; ".join(f"new: A/{i:02}" for i in range(12))
    assert reported(14) == reported(12) + "; and 2 more"


def test_list_leftovers_names_remaining_objects():
    contents = [
        obj("Secret", "b"), obj("ConfigMap", "a"), obj("ConfigMap", "kube-root-ca.crt"), obj("ConfigMap", "default"),
        obj("ServiceAccount", "kube-root-ca.crt"), *(obj(kind, "x") for kind in leftovers.IGNORED_KINDS),
    ]  # fmt: skip
    assert leftovers.list_leftovers(contents) == [
        "ConfigMap/a",
        "ConfigMap/default",
        "Secret/b",
        "ServiceAccount/kube-root-ca.crt",
    ]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"kind": "A", "a": 1, "b": 2}, {"b": 2, "a": 1, "kind": "A"}, True),
        ({"kind": "A", "a": 1}, {"kind": "A", "a": 2}, False),
        (
            {"kind": "A", "a": datetime(2026, 1, 1, tzinfo=UTC)},
            {"kind": "A", "a": datetime(2026, 1, 2, tzinfo=UTC)},
            False,
        ),
        ({"kind": "Node", "spec": {"unschedulable": False}}, {"kind": "Node"}, True),
        ({"kind": "Pod", "spec": {"unschedulable": False}}, {"kind": "Pod"}, False),
    ],
)
def test_digest_covers_desired_state_only(one, other, same):
    assert (leftovers.digest(one) == leftovers.digest(other)) is same
    assert len(leftovers.digest(one)) == 16
