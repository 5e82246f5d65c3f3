"""What changes do to rendered objects."""

import pytest

from scenario_kit.errors import AuthoringError
from scenario_kit.model import Change
from scenario_kit.render import NoChange
from scenario_kit.render.objects.merging import merge, merge_strategic

NAMESPACE = "otel-demo-test"


def make(objects, app, document):
    return Change.from_json(document).operation.simulate(objects, app, NAMESPACE)


def get(objects, kind, name):
    return next((o for o in objects if (o["kind"], o["metadata"]["name"]) == (kind, name)), None)


def patch(type_, body, target="Service/cart"):
    return {"patch": {"target": target, "type": type_, "patch": body}}


PORT = {"name": "tcp-service", "port": 8080, "targetPort": 9999}


@pytest.mark.parametrize(
    "document",
    [
        patch("Json", [{"op": "replace", "path": "/spec/ports/0/targetPort", "value": 9999}]),
        patch("Merge", {"spec": {"ports": [PORT]}}),
        patch("Strategic", {"spec": {"ports": [{"port": 8080, "targetPort": 9999}]}}),
        {"apply": {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "cart"}, "spec": {"ports": [PORT]}}},
    ],
)
def test_every_patch_type_writes_the_field(objects, app, document):
    result = make(objects, app, document)
    assert get(result, "Service", "cart")["spec"]["ports"] == [PORT]
    assert get(objects, "Service", "cart")["spec"]["ports"][0]["targetPort"] == 8080, "the input stays as it was"
    assert len(result) == len(objects)


def test_scale_delete_and_create(objects, app):
    assert (
        get(make(objects, app, {"scale": {"target": "Deployment/cart", "replicas": 0}}), "Deployment", "cart")["spec"][
            "replicas"
        ]
        == 0
    )
    assert get(make(objects, app, {"delete": {"target": "Service/cart"}}), "Service", "cart") is None
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "new"}}
    created = make(objects, app, {"create": manifest})
    assert get(created, "ConfigMap", "new")["metadata"]["namespace"] == NAMESPACE
    with pytest.raises(AuthoringError, match="already exists"):
        make(created, app, {"create": manifest})
    assert get(make(objects, app, {"apply": manifest}), "ConfigMap", "new")


def test_set_flag_writes_the_document(objects, app):
    result = make(objects, app, {"setFlag": {"flag": "paymentFailure", "variant": "50%"}})
    assert '"defaultVariant": "50%"' in get(result, "ConfigMap", "flagd-config")["data"]["demo.flagd.json"]


@pytest.mark.parametrize(
    "document",
    [
        {"restart": {"target": "Deployment/cart"}},
        {"undoRollout": {"target": "Deployment/cart"}},
        {"cordon": {"target": "Node/n1"}},
        {"removeFault": {"fault": "x"}},
        patch("Merge", {"data": {"a": "b"}}, "kube-system/ConfigMap/coredns"),
    ],
)
def test_changes_without_spec_leave_objects_unchanged(objects, app, document):
    assert make(objects, app, document) == objects


@pytest.mark.parametrize(
    "document",
    [
        patch("Json", [{"op": "replace", "path": "/spec/ports/0/targetPort", "value": 8080}]),
        patch("Merge", {"spec": {"type": "ClusterIP"}}),
        patch("Strategic", {"spec": {"ports": [{"port": 8080, "targetPort": 8080}]}}),
        {"scale": {"target": "Deployment/cart", "replicas": 1}},
        {"setFlag": {"flag": "adFailure", "variant": "off"}},
        {"setFlag": {"flag": "adFailure", "variant": "off", "value": 0}},
        {"apply": {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "cart"}}},
    ],
)
def test_no_op_change_is_refused(objects, app, document):
    with pytest.raises(NoChange) as caught:
        make(objects, app, document)
    assert caught.value.findings[0].code == "SK304"


@pytest.mark.parametrize(
    ("document", "code", "part"),
    [
        (patch("Merge", {}, "Service/crt"), "SK121", "did you mean `Service/cart`"),
        ({"restart": {"target": "Deployment/crt"}}, "SK121", "did you mean `Deployment/cart`"),
        (patch("Json", [{"op": "replace", "path": "/spec/ports/3/targetPort", "value": 1}]), "SK121", "does not apply"),
        (patch("Json", [{"op": "test", "path": "/spec/type", "value": "x"}]), "SK121", "does not apply"),
        ({"setFlag": {"flag": "adFailur", "variant": "on"}}, "SK120", "did you mean `adFailure`"),
        ({"setFlag": {"flag": "paymentFailure", "variant": "on"}}, "SK120", "off | 10%"),
        ({"setFlag": {"flag": "paymentFailure", "variant": "50%", "value": 0.6}}, "SK121", "is 0.5, not 0.6"),
        (
            {"setFlag": {"flag": "paymentFailur", "variant": "60%", "value": 0.6}},
            "SK120",
            "did you mean `paymentFailure`",
        ),
    ],
)
def test_impossible_change_is_refused(objects, app, document, code, part):
    with pytest.raises(AuthoringError) as caught:
        make(objects, app, document)
    finding = caught.value.findings[0]
    assert finding.code == code
    assert part in f"{finding.message} {finding.expected} {finding.fix}"


A, B = {"name": "a", "v": 1}, {"name": "b", "v": 2}
P, M = {"containerPort": 1}, {"mountPath": "/a", "name": "x"}


@pytest.mark.parametrize(
    ("base", "change", "expected"),
    [
        ({"env": [A, B]}, {"env": [{"name": "b", "v": 3}]}, {"env": [A, {"name": "b", "v": 3}]}),
        ({"env": [A]}, {"env": [B]}, {"env": [B, A]}),  # as the API server orders them
        ({}, {"env": [B, {"name": "a", "$patch": "delete"}]}, {"env": [B]}),
        ({"env": [A, B]}, {"env": [{"name": "a", "$patch": "delete"}]}, {"env": [B]}),
        ({"env": [A, B]}, {"env": [{"$patch": "replace"}, {"name": "c"}]}, {"env": [{"name": "c"}]}),
        ({"env": [A]}, {"env": [{"name": "a", "v": None, "w": 1}]}, {"env": [{"name": "a", "w": 1}]}),
        ({"args": ["a", "b"]}, {"args": ["c"]}, {"args": ["c"]}),
        ({"ports": [{"port": 1}]}, {"ports": [{"port": 1, "name": "x"}]}, {"ports": [{"port": 1, "name": "x"}]}),
        (
            {"ports": [P]},
            {"ports": [{"containerPort": 1, "name": "x"}]},
            {"ports": [{"containerPort": 1, "name": "x"}]},
        ),
        ({"volumeMounts": [M]}, {"volumeMounts": [{**M, "name": "y"}]}, {"volumeMounts": [{**M, "name": "y"}]}),
        ({"tolerations": [{"key": "a"}]}, {"tolerations": [{"key": "b"}]}, {"tolerations": [{"key": "b"}]}),
        ({"a": {"b": 1, "c": 2}}, {"a": {"$patch": "replace", "d": 3}}, {"a": {"d": 3}}),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": None}}, {"a": {"c": 2}}),
        ({"b": 1}, {"a": {"$patch": "replace", "d": 3}}, {"b": 1}),  # there is nothing to replace
        ({"b": 1}, {"a": {"x": {"$patch": "replace", "d": 3}, "y": 1}}, {"b": 1, "a": {"y": 1}}),
        ({}, {"env": [{"$patch": "replace"}, {"name": "c"}]}, {"env": [{"name": "c"}]}),
        ({"env": [A]}, {"env": [{"name": ["a"]}]}, {"env": [{"name": ["a"]}]}),  # no name: the list is replaced
        ({"env": {"a": 1}}, {"env": [A]}, {"env": [A]}),
        ({"env": [A]}, {"env": ["a"]}, {"env": ["a"]}),
        ({"finalizers": ["a"]}, {"finalizers": ["a", "b"]}, {"finalizers": ["a", "b"]}),
        ({"finalizers": ["a", "b"]}, {"$deleteFromPrimitiveList/finalizers": ["a"]}, {"finalizers": ["b"]}),
    ],
)
def test_strategic_merge(base, change, expected):
    assert merge_strategic(base, change) == expected


@pytest.mark.parametrize(
    ("base", "change", "expected"),  # the examples of RFC 7386, appendix A
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        (["a", "b"], ["c", "d"], ["c", "d"]),
        ({"a": "b"}, ["c"], ["c"]),
        ({"a": "foo"}, None, None),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ],
)
def test_merge_patch(base, change, expected):
    assert merge(base, change) == expected


@pytest.mark.parametrize("target", ["Namespace/otel-demo-test", "kube-system/ConfigMap/coredns", "Node/one"])
def test_change_outside_the_app_is_not_simulated(objects, app, target):
    assert make(objects, app, patch("Merge", {"metadata": {"labels": {"a": "b"}}}, target)) == tuple(objects)
