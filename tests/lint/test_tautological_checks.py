"""Effect checks that only read back what was written."""

from __future__ import annotations

from pathlib import Path

import pytest

from scenario_kit.lint.rules.alerts.tautological_checks import repeats_event, repeats_field, repeats_query
from tests.lint.test_claims import build_scaling_fault, list_messages
from tests.lint.test_truth_rules import scenario


@pytest.mark.parametrize(
    ("expr", "repeats"),
    [
        ('kube_deployment_metadata_generation{deployment="cart"} > 1', True),
        ('kube_deployment_status_observed_generation{deployment="cart"}', True),
        ('kube_deployment_spec_replicas{deployment="cart"}', True),
        ('kube_deployment_labels{deployment="cart"}', True),
        ('kube_deployment_annotations{deployment="cart"}', True),
        ('kube_deployment_created{deployment="cart"}', True),
        ('kube_pod_container_resource_limits{container="cart", resource="memory"}', True),
        ('kube_pod_container_info{container="cart"}', True),
        ("kube_configmap_metadata_resource_version", True),
        ("kube_secret_info", True),
        ("kube_networkpolicy_spec_ingress_rules", True),
        ("kube_service_spec_type", True),
        ("kube_node_spec_unschedulable", True),
        ("kube_statefulset_status_update_revision", True),
        ("kube_horizontalpodautoscaler_spec_max_replicas", True),
        ('kube_pod_info{priority_class="high"}', True),
        ("container_spec_memory_limit_bytes", True),
        ("k8s_container_memory_limit_bytes", True),
        ("redis_config_maxmemory", True),
        ("pg_settings_max_connections", True),
        ("target_info", True),
        ('{__name__="kube_deployment_spec_replicas"}', True),
        ('{__name__=~"kube_deployment_spec_.+"}', True),
        ("changes(kube_deployment_metadata_generation[5m])", True),
        ("sum(kube_deployment_labels) or vector(1)", True),
        ("kube_deployment_labels or sum(rate(calls_total[1m]))", True),
        ("kube_deployment_labels + 0 * sum(rate(calls_total[1m]))", True),
        ("kube_deployment_spec_replicas and on () kube_pod_info", True),
        ("kube_deployment_spec_replicas * on () (count(kube_pod_info) > bool 0)", True),
        ("kube_deployment_spec_replicas + on () (sum(calls_total) - sum(calls_total))", True),
        ("kube_deployment_spec_replicas and on () sum(rate(calls_total[1m]))", True),
        ("kube_deployment_spec_replicas and on () (sum(rate(calls_total[1m])) > 5)", False),
        ('kube_deployment_spec_replicas * on () absent(kube_pod_info{pod=~"cart-.+"})', False),
        ("kube_deployment_spec_replicas - on (deployment) count by (deployment) (up == 0)", False),
        ("kube_deployment_status_replicas_available", False),
        ("kube_deployment_spec_replicas - kube_deployment_status_replicas_ready", False),
        ("kube_pod_container_status_restarts_total", False),
        ("kube_endpoint_address_not_ready", False),
        ("count(kube_pod_info)", False),
        ("sum(rate(traces_span_metrics_calls_total[1m])) / 2", False),
        ("rate(traces_span_metrics_calls_total[1m]) * on (pod) kube_pod_labels", False),
        ("container_memory_working_set_bytes", False),
        ("not promql (", False),
    ],
)
def test_query_repeating_a_write_is_found(expr: str, repeats: bool) -> None:
    assert repeats_query(expr) == repeats


@pytest.mark.parametrize(
    ("path", "repeats"),
    [
        ("spec.replicas", True),
        ("metadata.generation", True),
        ("data.key", True),
        ("", True),
        ("status", True),
        ("status.observedGeneration", True),
        ("status['observedGeneration']", True),
        ("{$['status'].observedGeneration}", True),
        ("{.spec.replicas}", True),
        ("status.updateRevision", True),
        ("status.readyReplicas", False),
        ("status.conditions[?(@.type=='Available')].status", False),
    ],
)
def test_field_repeating_a_write_is_found(path: str, repeats: bool) -> None:
    assert repeats_field(path) == repeats


@pytest.mark.parametrize(("reason", "repeats"), [("ScalingReplicaSet", True), ("BackOff", False)])
def test_event_of_every_change_is_found(reason: str, repeats: bool) -> None:
    assert repeats_event(reason) == repeats


def query(expr: str) -> dict[str, object]:
    return {"query": {"expr": expr, "is": "AtLeast", "value": 1}, "withinSeconds": 120}


READY = {"endpoints": {"service": "Service/cart", "atMost": 0}}


@pytest.mark.parametrize(
    ("effect", "reported"),
    [
        ([query('kube_deployment_metadata_generation{deployment="cart"}')], 1),
        ([query('kube_deployment_spec_replicas{deployment="cart"} == bool 0')], 1),
        ([{"event": {"entity": "Deployment/cart", "reason": "ScalingReplicaSet"}}], 1),
        ([{"object": {"ref": "Deployment/cart", "path": "status.observedGeneration", "atLeast": 2}}], 1),
        ([query('kube_deployment_metadata_generation{deployment="cart"}'), READY], 0),
        ([query('kube_deployment_status_replicas{deployment="cart"} == bool 0')], 0),
    ],
)
def test_effect_repeating_its_write_is_reported(effect: list[object], reported: int, tmp_path: Path) -> None:
    def label(spec: dict[str, object]) -> None:
        spec["groundTruth"]["rootCauses"][0]["entity"] = "Deployment/cart"  # type: ignore[index]

    path = scenario(label, tmp_path, build_scaling_fault(effect=effect, undone=[READY]))
    assert len([m for m in list_messages(path, "SK129") if "only repeats" in m]) == reported
