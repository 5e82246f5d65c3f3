"""The clean room: leftovers are found, what every namespace has is not."""

import pytest

from scenario_kit.judge import residue


def obj(kind, name):
    return {"kind": kind, "metadata": {"name": name}}


def test_an_empty_namespace_is_clean():
    contents = [
        obj("ConfigMap", "kube-root-ca.crt"),
        obj("ServiceAccount", "default"),
        obj("Event", "x"),
        obj("Lease", "y"),
    ]
    assert residue.compare({"Node/a": "1"}, {"Node/a": "1"}, contents) == []


def test_every_difference_is_named():
    (finding,) = residue.compare({"A/a": "1", "B/b": "1"}, {"A/a": "2", "C/c": "1"}, [obj("Secret", "left")])
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
def test_a_node_is_as_before_when_it_takes_the_same_pods(spec, same):
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "labels": {"a": "b"}}, "spec": spec}
    before = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}
    assert (residue.digest(node) == residue.digest(before)) is same
