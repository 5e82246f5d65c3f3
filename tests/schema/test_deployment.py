"""The operator's Deployment, and the effect of its options."""

import pytest

from scenario_kit.catalog.loader import VARIABLE
from scenario_kit.schema.deployment import CATALOG_VARIABLE, Installation, build_deployment, list_arguments


def pod(**options):
    (deployment, *_) = build_deployment(Installation(**options))
    return deployment["spec"]["template"]["spec"]


def test_operator_pod_is_unprivileged():
    spec = pod()
    (container,) = spec["containers"]
    assert spec["securityContext"]["runAsNonRoot"]
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container["securityContext"]["readOnlyRootFilesystem"]
    assert not container["securityContext"]["allowPrivilegeEscalation"]
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert [m["mountPath"] for m in container["volumeMounts"]] == ["/tmp"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, ["--prometheus-url", "http://prometheus.monitoring:9090"]),
        ({"prometheus_url": "http://p:1"}, ["--prometheus-url", "http://p:1"]),
        ({"offers": ("calico", "jvm")}, ["--offer", "calico", "--offer", "jvm"]),
    ],
)
def test_options_become_arguments(options, expected):
    arguments = list(list_arguments(Installation(**options)))
    assert arguments[0] == "--in-cluster"
    assert " ".join(expected) in " ".join(arguments)


def test_claim_is_mounted_read_only_and_named_to_the_program():
    assert CATALOG_VARIABLE == VARIABLE
    spec = pod(catalog_claim="ours")
    (container,) = spec["containers"]
    assert container["env"] == [{"name": VARIABLE, "value": "/catalog"}]
    assert {"name": "catalog", "mountPath": "/catalog", "readOnly": True} in container["volumeMounts"]
    assert spec["volumes"][-1]["persistentVolumeClaim"] == {"claimName": "ours", "readOnly": True}


def test_ports_of_probes_policy_and_scraping_agree():
    deployment, budget, policy = build_deployment(Installation(image="a:1"))
    template = deployment["spec"]["template"]
    (container,) = template["spec"]["containers"]
    (port,) = [p["containerPort"] for p in container["ports"]]
    assert container["image"] == "a:1"
    assert f"0.0.0.0:{port}" in container["args"]
    assert policy["spec"]["ingress"] == [{"ports": [{"port": port}]}]
    assert template["metadata"]["annotations"]["prometheus.io/port"] == str(port)
    assert budget["spec"]["selector"] == policy["spec"]["podSelector"] == deployment["spec"]["selector"]


def test_webhook_ports_match():
    """The Service leads to the pods, the policy lets the API server in, and the certificate is for the Service."""
    deployment, _, policy, service, configuration = build_deployment(Installation(webhook=True, replicas=2))
    template = deployment["spec"]["template"]
    (container,) = template["spec"]["containers"]
    (port,) = [p["containerPort"] for p in container["ports"] if p["name"] == "webhook"]
    assert f"0.0.0.0:{port}" in container["args"]
    assert {"port": port} in policy["spec"]["ingress"][0]["ports"]
    assert [p["targetPort"] for p in service["spec"]["ports"]] == [port]
    assert service["spec"]["selector"].items() <= template["metadata"]["labels"].items()
    (webhook,) = configuration["webhooks"]
    called = webhook["clientConfig"]["service"]
    assert (called["namespace"], called["name"]) == (service["metadata"]["namespace"], service["metadata"]["name"])
    assert called["port"] in [p["port"] for p in service["spec"]["ports"]]


def test_webhook_ignores_failures_and_times_out_quickly():
    *_, configuration = build_deployment(Installation(webhook=True))
    (webhook,) = configuration["webhooks"]
    assert (webhook["failurePolicy"], webhook["sideEffects"]) == ("Ignore", "None")
    assert webhook["timeoutSeconds"] <= 5
    assert {group for rule in webhook["rules"] for group in rule["apiGroups"]} == {"scenariokit.io"}
    assert not [obj for obj in build_deployment(Installation()) if "Webhook" in obj["kind"] or obj["kind"] == "Service"]
