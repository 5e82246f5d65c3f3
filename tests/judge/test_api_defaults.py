"""Objects completed with the defaults of the API server, each as a real one stores it."""

import pytest

from scenario_kit.judge.repair.api_defaults import complete_object, is_assigned

POD = {
    "restartPolicy": "Always", "dnsPolicy": "ClusterFirst", "terminationGracePeriodSeconds": 30,
    "schedulerName": "default-scheduler", "securityContext": {},
}  # fmt: skip
LOGS = {"terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File", "resources": {}}
ROLLING = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}}


def complete(kind, **spec):
    return complete_object({"kind": kind, "metadata": {"name": "web"}, "spec": spec})["spec"]


def complete_container(**container):
    pod = complete("Deployment", template={"spec": {"containers": [container]}})["template"]["spec"]
    return pod["containers"][0]


@pytest.mark.parametrize(
    ("kind", "defaults"),
    [
        ("Service", {"type": "ClusterIP", "sessionAffinity": "None", "internalTrafficPolicy": "Cluster", "ports": []}),
        (
            "Deployment",
            {"replicas": 1, "progressDeadlineSeconds": 600, "revisionHistoryLimit": 10, "strategy": ROLLING},
        ),
        (
            "StatefulSet",
            {
                "replicas": 1, "revisionHistoryLimit": 10, "podManagementPolicy": "OrderedReady", "serviceName": "",
                "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
                "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Retain"},
            },
        ),
        (
            "DaemonSet",
            {
                "revisionHistoryLimit": 10,
                "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}},
            },
        ),
    ],
)  # fmt: skip
def test_kinds_get_their_defaults(kind, defaults):
    assert complete(kind) == defaults


@pytest.mark.parametrize(
    "obj",
    [
        {"kind": "ConfigMap", "metadata": {"name": "c"}, "data": {}},
        {"kind": "Deployment", "metadata": {"name": "d"}, "spec": None},
    ],
    ids=["a kind whose defaults are unknown", "no spec"],
)
def test_other_objects_stay_as_they_are(obj):
    assert complete_object(obj) == obj


@pytest.mark.parametrize(
    ("kind", "field", "given", "completed"),
    [
        ("Deployment", "strategy", {"type": "Recreate"}, {"type": "Recreate"}),
        ("Deployment", "strategy", None, ROLLING),
        ("Deployment", "strategy", {}, ROLLING),
        (
            "Deployment", "strategy", {"rollingUpdate": {"maxSurge": 1}},
            {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": "25%"}},
        ),
        ("StatefulSet", "updateStrategy", {"type": "OnDelete"}, {"type": "OnDelete"}),
        (
            "DaemonSet", "updateStrategy", {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 2}},
            {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 2}},
        ),
        ("Deployment", "replicas", 3, 3),
        ("Service", "type", "NodePort", "NodePort"),
    ],
)  # fmt: skip
def test_what_an_author_writes_stays(kind, field, given, completed):
    assert complete(kind, **{field: given})[field] == completed


def test_service_ports_get_protocol_and_target():
    ports = complete("Service", ports=[{"port": 80}, {"port": 53, "targetPort": "dns", "protocol": "UDP"}])["ports"]
    assert ports == [
        {"port": 80, "protocol": "TCP", "targetPort": 80},
        {"port": 53, "protocol": "UDP", "targetPort": "dns"},
    ]


def test_templates_of_pods_are_completed_with_their_containers_and_volumes():
    pod = {
        "dnsPolicy": "None", "initContainers": [{"name": "i", "image": "i:1"}], "containers": [],
        "volumes": [
            {"name": "a", "configMap": {"name": "c"}}, {"name": "b", "secret": {"secretName": "s", "defaultMode": 256}},
            {"name": "c", "projected": {"sources": []}}, {"name": "d", "downwardAPI": {}},
            {"name": "e", "emptyDir": {}},
        ],
    }  # fmt: skip
    template = {"metadata": {"labels": {"app": "web"}}, "spec": pod}
    completed = complete("Deployment", template=template)["template"]
    assert completed["metadata"] == template["metadata"]
    assert completed["spec"] == {
        **POD, "dnsPolicy": "None", "containers": [],
        "initContainers": [{"name": "i", "image": "i:1", "imagePullPolicy": "IfNotPresent", **LOGS}],
        "volumes": [
            {"name": "a", "configMap": {"name": "c", "defaultMode": 0o644}},
            {"name": "b", "secret": {"secretName": "s", "defaultMode": 256}},
            {"name": "c", "projected": {"sources": [], "defaultMode": 0o644}},
            {"name": "d", "downwardAPI": {"defaultMode": 0o644}}, {"name": "e", "emptyDir": {}},
        ],
    }  # fmt: skip
    assert complete("Deployment", template={})["template"] == {"spec": POD}


@pytest.mark.parametrize(
    ("image", "policy"),
    [
        ("web", "Always"),
        ("web:latest", "Always"),
        ("host:5000/web", "Always"),
        ("host:5000/web:1", "IfNotPresent"),
        ("web:1", "IfNotPresent"),
        ("web@sha256:0", "IfNotPresent"),
        ("web:latest@sha256:0", "IfNotPresent"),
    ],
)
def test_pull_policy_follows_the_tag(image, policy):
    assert complete_container(name="c", image=image)["imagePullPolicy"] == policy


@pytest.mark.parametrize(
    ("field", "given", "completed"),
    [
        ("ports", [{"containerPort": 80}], [{"containerPort": 80, "protocol": "TCP"}]),
        ("ports", [{"containerPort": 53, "protocol": "UDP"}], [{"containerPort": 53, "protocol": "UDP"}]),
        (
            "readinessProbe", {"httpGet": {"port": 80}},
            {
                "httpGet": {"port": 80, "scheme": "HTTP", "path": "/"},
                "timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3,
            },
        ),
        (
            "livenessProbe", {"grpc": {"port": 80}, "periodSeconds": 5, "timeoutSeconds": 2},
            {
                "grpc": {"port": 80, "service": ""},
                "timeoutSeconds": 2, "periodSeconds": 5, "successThreshold": 1, "failureThreshold": 3,
            },
        ),
        (
            "startupProbe", {"tcpSocket": {"port": 80}, "failureThreshold": 9, "successThreshold": 1},
            {
                "tcpSocket": {"port": 80},
                "timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 9,
            },
        ),
        (
            "env",
            [
                {"name": "A", "value": "1"},
                {"name": "B", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
                {"name": "C", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}},
            ],
            [
                {"name": "A", "value": "1"},
                {"name": "B", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}}},
                {"name": "C", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}},
            ],
        ),
        ("resources", {"limits": {"cpu": "1"}}, {"limits": {"cpu": "1"}}),
    ],
)  # fmt: skip
def test_parts_of_containers_are_completed(field, given, completed):
    assert complete_container(name="c", image="c:1", **{field: given})[field] == completed


@pytest.mark.parametrize(
    ("path", "assigned"),
    [
        (("spec", "clusterIP"), True),
        (("spec", "ports", "http", "nodePort"), True),
        (("spec", "volumeClaimTemplates", "data", "spec"), True),
        (("spec", "template", "spec", "volumes", "a", "configMap", "defaultMode"), True),
        (("spec", "template", "spec", "containers", "web", "env", "A", "valueFrom", "fieldRef", "apiVersion"), True),
        (("spec", "scheme", "of-something-else"), False),
        (("spec", "replicas"), False),
    ],
)
def test_assigned_values_are_those_of_the_cluster(path, assigned):
    assert is_assigned(path) is assigned
