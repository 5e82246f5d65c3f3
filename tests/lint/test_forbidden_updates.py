"""Fields that may not change once an object exists."""

from __future__ import annotations

from typing import Any

import pytest

from scenario_kit.lint.object_fields.forbidden_updates import find_forbidden_updates

Document = dict[str, Any]
LABELS = {"app": "cart"}
SPECS: list[tuple[str, Document, Document, list[str]]] = [
    ("Deployment", {"selector": {"matchLabels": LABELS}}, {"selector": {"matchLabels": {}}}, ["selector"]),
    ("Deployment", {"replicas": 1, "paused": True}, {"replicas": 2}, []),
    ("StatefulSet", {"serviceName": "a", "replicas": 1}, {"serviceName": "b", "replicas": 2}, ["serviceName"]),
    ("StatefulSet", {"selector": {"matchLabels": LABELS}}, {"selector": {"matchLabels": {}}}, ["selector"]),
    ("StatefulSet", {"template": {}}, {"template": {"spec": {}}, "minReadySeconds": 1}, []),
    ("Service", {"selector": {"a": "b"}}, {"selector": {"a": "c"}}, []),
    ("Service", {"selector": LABELS}, {"clusterIP": "10.0.0.7"}, ["clusterIP"]),
    ("Service", {"selector": LABELS}, {"clusterIP": "None"}, ["clusterIP"]),
    ("Service", {"clusterIP": "None"}, {"clusterIP": "None", "selector": LABELS}, []),
    ("Service", {"clusterIP": "None"}, {"selector": LABELS}, []),
    ("Service", {"type": "ExternalName"}, {"type": "ClusterIP", "clusterIP": "10.0.0.7"}, []),
    ("Service", {"selector": LABELS}, {"type": "ExternalName", "externalName": "a.example"}, []),
    ("Job", {"template": {}}, {"template": {"spec": {}}}, ["template"]),
    ("Job", {"template": {}, "suspend": True}, {"template": {"spec": {}}, "suspend": True}, []),
    ("Job", {"completions": 1}, {"completions": 2}, ["completions"]),
    ("Job", {"completions": 1, "completionMode": "Indexed"}, {"completions": 2, "completionMode": "Indexed"}, []),
    ("Job", {"parallelism": 1}, {"parallelism": 2, "suspend": True, "backoffLimit": 3}, []),
    ("CronJob", {"schedule": "* * * * *", "jobTemplate": {}}, {"schedule": "@daily", "jobTemplate": {"spec": {}}}, []),
    ("PersistentVolumeClaim", {"storageClassName": "a"}, {"storageClassName": "b"}, ["storageClassName"]),
    ("PersistentVolumeClaim", {}, {"storageClassName": "a", "resources": {}}, []),
    ("IngressClass", {"controller": "a"}, {"controller": "b"}, ["controller"]),
]
WHOLE: list[tuple[Document, Document, list[str]]] = [
    ({"kind": "ConfigMap", "immutable": True, "data": {"a": "b"}}, {"immutable": True, "data": {}}, ["data"]),
    ({"kind": "ConfigMap", "immutable": True}, {"data": {"a": "b"}}, ["immutable", "data"]),
    ({"kind": "ConfigMap", "immutable": True, "data": {}}, {"immutable": True}, []),
    ({"kind": "ConfigMap", "data": {"a": "b"}}, {"data": {"a": "c"}, "immutable": True}, []),
    ({"kind": "Secret", "immutable": True, "data": {"a": "b"}}, {"immutable": True, "data": {"a": "c"}}, ["data"]),
    ({"kind": "Secret", "type": "kubernetes.io/tls"}, {}, ["type"]),
    ({"kind": "Secret"}, {"type": "Opaque"}, []),
    ({"kind": "RoleBinding", "roleRef": {"name": "a"}}, {"roleRef": {"name": "b"}}, ["roleRef"]),
    ({"kind": "PriorityClass", "value": 1}, {"value": 2}, ["value"]),
    ({"kind": "StorageClass", "provisioner": "a"}, {"provisioner": "a", "reclaimPolicy": "Retain"}, ["reclaimPolicy"]),
    ({"kind": "StorageClass", "provisioner": "a"}, {"provisioner": "a", "allowVolumeExpansion": True}, []),
]


@pytest.mark.parametrize(("kind", "before", "after", "fields"), SPECS)
def test_fields_of_specs_that_may_not_change_are_found(
    kind: str, before: Document, after: Document, fields: list[str]
) -> None:
    found = find_forbidden_updates({"kind": kind, "spec": before}, {"kind": kind, "spec": after})

    assert [each.place for each in found] == [("spec", field) for field in fields]


@pytest.mark.parametrize(("before", "after", "fields"), WHOLE)
def test_fields_of_objects_that_may_not_change_are_found(before: Document, after: Document, fields: list[str]) -> None:
    found = find_forbidden_updates(before, {"kind": before["kind"], **after})

    assert [each.place for each in found] == [(field,) for field in fields]
