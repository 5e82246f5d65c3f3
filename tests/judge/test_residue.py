"""The clean room: leftovers are found, what every namespace has is not."""

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
