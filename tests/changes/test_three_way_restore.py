"""Undo restores what we changed and nothing else."""

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenario_kit.changes.three_way_restore import (
    RESTARTED,
    is_alike,
    list_changed_paths,
    restore_fields,
    strip_to_desired,
)


def service(target_port, selector=None, extra_port=None):
    ports = [{"name": "http", "port": 8080, "targetPort": target_port}]
    if extra_port:
        ports.insert(0, {"name": "metrics", "port": extra_port, "targetPort": extra_port})
    return {"spec": {"ports": ports, "selector": selector or {"app": "cart"}}}


CASES = {
    "our field returns": (service(8080), service(9999), service(9999), service(8080)),
    "another writer's field stays": (
        service(8080),
        service(9999),
        service(9999, selector={"app": "other"}),
        service(8080, selector={"app": "other"}),
    ),
    "a list item is found by name after it moved": (
        service(8080),
        service(9999),
        service(9999, extra_port=9090),
        {
            "spec": {
                "ports": [service(8080)["spec"]["ports"][0], {"name": "metrics", "port": 9090, "targetPort": 9090}],
                "selector": {"app": "cart"},
            }
        },
    ),
    "a field that was absent goes": (
        {"spec": {}},
        {"spec": {"paused": True}},
        {"spec": {"paused": True, "x": 1}},
        {"spec": {"x": 1}},
    ),
    "a field that was removed returns": (
        {"data": {"a": "1", "b": "2"}},
        {"data": {"a": "1"}},
        {"data": {"a": "1"}},
        {"data": {"a": "1", "b": "2"}},
    ),
    "what somebody else repaired stays repaired": (service(8080), service(9999), service(8080), service(8080)),
}


@pytest.mark.parametrize(("prior", "after", "live", "expected"), CASES.values(), ids=CASES.keys())
def test_restore_fields(prior, after, live, expected):
    before = copy.deepcopy(live)
    assert restore_fields(live, prior, after) == expected
    assert live == before, "the live object must not be changed in place"


def test_list_changed_paths_names_list_items():
    assert list_changed_paths(service(8080), service(9999)) == ("/spec/ports[http]/targetPort",)


def test_strip_to_desired_drops_server_and_controller_fields():
    obj = {
        "metadata": {
            "name": "cart",
            "uid": "1",
            "resourceVersion": "2",
            "managedFields": [],
            "annotations": {
                "deployment.kubernetes.io/revision": "3",
                "deprecated.daemonset.template.generation": "1",
                "volume.kubernetes.io/storage-provisioner": "disk",
                "note": "kept",
            },
        },
        "spec": {"replicas": 1},
        "status": {"replicas": 0},
    }
    assert strip_to_desired(obj) == {
        "metadata": {"name": "cart", "annotations": {"note": "kept"}},
        "spec": {"replicas": 1},
    }


documents = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from("abc"),
    lambda inner: st.dictionaries(st.sampled_from("xyz"), inner, max_size=3) | st.lists(inner, max_size=2),
    max_leaves=8,
)


@given(documents, documents)
def test_immediate_restore_returns_prior_object(prior, after):
    prior, after = {"spec": prior}, {"spec": after}
    assert restore_fields(after, prior, after) == prior
    assert bool(list_changed_paths(prior, after)) == (prior != after)


def test_desired_state_is_a_copy():
    obj = {"metadata": {"name": "a", "uid": "1", "annotations": {"x": "1"}}, "spec": {"a": [1]}, "status": {}}
    before = copy.deepcopy(obj)
    desired = strip_to_desired(obj)
    desired["spec"]["a"].append(2)
    desired["metadata"]["annotations"]["y"] = "2"
    assert obj == before


def pods(**annotations):
    return {"metadata": {"name": "a"}, "spec": {"template": {"metadata": {"annotations": annotations}}}}


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        (pods(), pods(), True),
        (pods(**{RESTARTED: "1"}), pods(**{RESTARTED: "2"}), True),
        (pods(**{RESTARTED: "1"}), pods(), True),
        (pods(**{RESTARTED: "1", "x": "1"}), pods(x="1"), True),
        (pods(**{RESTARTED: "1", "x": "1"}), pods(), False),
        (pods(x="1"), pods(x="2"), False),
        ({"metadata": {"name": "a"}}, {"metadata": {"name": "a"}, "status": {"x": 1}}, True),
        ({"metadata": {"name": "a"}}, {"metadata": {"name": "b"}}, False),
    ],
)
def test_restarts_make_no_difference(one, other, alike):
    assert is_alike(one, other) is alike


@pytest.mark.parametrize(
    ("prior", "after", "paths"),
    [
        ({"a": None}, {}, ("/a",)),
        ({}, {"a": None}, ("/a",)),
        ({"l": [{"name": "x", "v": 1}]}, {"l": [{"name": "x", "v": None}]}, ("/l[x]/v",)),
        ({"l": [{"name": "x"}]}, {"l": []}, ("/l",)),
        ({"l": [{"name": "x"}, {"name": "y"}]}, {"l": [{"name": "x"}]}, ("/l[y]",)),
        ({"l": [{"name": "x"}, {"name": "y"}]}, {"l": [{"name": "y"}, {"name": "x"}]}, ("/l",)),
    ],
)
def test_absent_fields_and_items_differ_from_null(prior, after, paths):
    assert list_changed_paths(prior, after) == paths
