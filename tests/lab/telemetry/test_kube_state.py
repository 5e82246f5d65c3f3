# ruff: noqa: E501 — expected series are written as Prometheus shows them, one to a line
from __future__ import annotations

from typing import Any

import pytest

from scenario_kit.lab.telemetry import KubeState
from scenario_kit.lab.telemetry.exposition import format_exposition

META = {"name": "x", "namespace": "n", "uid": "u", "generation": 4}
OWNED = [{"kind": "ReplicaSet", "name": "x-1", "controller": True}]


def text(kind: str, **parts: Any) -> set[str]:
    meta = {**META, **parts.pop("metadata", {})}
    lines = format_exposition(KubeState().collect({kind: {"x": {"metadata": meta, **parts}}})).splitlines()
    return {line for line in lines if not line.startswith("#")}


POD = {
    "metadata": {"ownerReferences": OWNED},
    "spec": {
        "nodeName": "node-1",
        "containers": [
            {"name": "app", "image": "app:1",
             "resources": {"requests": {"cpu": "250m"}, "limits": {"memory": "64Mi", "example.com/gpu": "1"}}},
        ],
        "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "claim"}}, {"name": "tmp", "emptyDir": {}}],
    },
}  # fmt: skip
ON = 'namespace="n",pod="x",uid="u"'


def container(state: Any, **more: Any) -> dict[str, Any]:
    status = {"name": "app", "state": state, "ready": False, "restartCount": 3, "image": "app:1", **more}
    return {"phase": "Running", "containerStatuses": [status]}


@pytest.mark.parametrize(
    ("status", "present", "absent"),
    [
        ({"phase": "Pending"},
         ['kube_pod_status_phase{namespace="n",phase="Pending",pod="x",uid="u"} 1.0',
          'kube_pod_status_phase{namespace="n",phase="Running",pod="x",uid="u"} 0.0',
          'kube_pod_status_phase{namespace="n",phase="Succeeded",pod="x",uid="u"} 0.0',
          'kube_pod_status_phase{namespace="n",phase="Failed",pod="x",uid="u"} 0.0',
          'kube_pod_status_phase{namespace="n",phase="Unknown",pod="x",uid="u"} 0.0'],
         ["kube_pod_status_ready", "kube_pod_container_status"]),
        ({}, [], ["kube_pod_status_phase"]),
        ({"conditions": [{"type": "Ready", "status": "False"}, {"type": "PodScheduled", "status": "True"}]},
         ['kube_pod_status_ready{condition="false",namespace="n",pod="x",uid="u"} 1.0',
          'kube_pod_status_ready{condition="true",namespace="n",pod="x",uid="u"} 0.0',
          'kube_pod_status_ready{condition="unknown",namespace="n",pod="x",uid="u"} 0.0',
          'kube_pod_status_scheduled{condition="true",namespace="n",pod="x",uid="u"} 1.0'],
         ["kube_pod_status_unschedulable"]),
        ({"conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]},
         [f"kube_pod_status_unschedulable{{{ON}}} 1.0"], ["kube_pod_status_reason"]),
        (container({"waiting": {"reason": "CrashLoopBackOff"}},
                   lastState={"terminated": {"reason": "OOMKilled", "exitCode": 137}}),
         ['kube_pod_container_status_waiting_reason{container="app",namespace="n",pod="x",reason="CrashLoopBackOff",uid="u"} 1.0',
          'kube_pod_container_status_last_terminated_reason{container="app",namespace="n",pod="x",reason="OOMKilled",uid="u"} 1.0',
          f'kube_pod_container_status_last_terminated_exitcode{{container="app",{ON}}} 137.0',
          f'kube_pod_container_status_waiting{{container="app",{ON}}} 1.0',
          f'kube_pod_container_status_running{{container="app",{ON}}} 0.0',
          f'kube_pod_container_status_ready{{container="app",{ON}}} 0.0',
          f'kube_pod_container_status_restarts_total{{container="app",{ON}}} 3.0'],
         ["kube_pod_container_status_terminated_reason"]),
        (container({"running": {}}, ready=True, containerID="containerd://c", imageID="sha256:1"),
         [f'kube_pod_container_status_running{{container="app",{ON}}} 1.0',
          f'kube_pod_container_status_ready{{container="app",{ON}}} 1.0',
          'kube_pod_container_info{container="app",container_id="containerd://c",image="app:1",image_id="sha256:1",'
          'image_spec="app:1",namespace="n",pod="x",uid="u"} 1.0'],
         ["kube_pod_container_status_waiting_reason"]),
        (container({"terminated": {"reason": "Error", "exitCode": 1}}),
         ['kube_pod_container_status_terminated_reason{container="app",namespace="n",pod="x",reason="Error",uid="u"} 1.0'],
         ["kube_pod_container_status_last_terminated_reason"]),
        ({"phase": "Failed", "reason": "Evicted"},
         ['kube_pod_status_reason{namespace="n",pod="x",reason="Evicted",uid="u"} 1.0'], ['reason="Other"']),
        ({"phase": "Failed", "reason": "Strange"},
         ['kube_pod_status_reason{namespace="n",pod="x",reason="Other",uid="u"} 1.0'], []),
        ({"initContainerStatuses": [{"name": "init", "state": {"waiting": {"reason": "PodInitializing"}}}]},
         ['kube_pod_init_container_status_waiting_reason{container="init",namespace="n",pod="x",reason="PodInitializing",uid="u"} 1.0'],
         ["kube_pod_container_status_waiting_reason"]),
        ({"hostIP": "10.0.0.1", "podIP": "10.1.0.1"},
         ['kube_pod_info{created_by_kind="ReplicaSet",created_by_name="x-1",host_ip="10.0.0.1",host_network="false",'
          'namespace="n",node="node-1",pod="x",pod_ip="10.1.0.1",uid="u"} 1.0',
          'kube_pod_owner{namespace="n",owner_is_controller="true",owner_kind="ReplicaSet",owner_name="x-1",pod="x",uid="u"} 1.0',
          'kube_pod_container_resource_requests{container="app",namespace="n",node="node-1",pod="x",resource="cpu",uid="u",unit="core"} 0.25',
          'kube_pod_container_resource_limits{container="app",namespace="n",node="node-1",pod="x",resource="memory",uid="u",unit="byte"} 67108864.0',
          'kube_pod_container_resource_limits{container="app",namespace="n",node="node-1",pod="x",resource="example_com_gpu",uid="u",unit="integer"} 1.0',
          'kube_pod_spec_volumes_persistentvolumeclaims_info{ephemeral="false",namespace="n",persistentvolumeclaim="claim",pod="x",uid="u",volume="data"} 1.0'],
         ['volume="tmp"']),
    ],
)  # fmt: skip
def test_pods(status: Any, present: list[str], absent: list[str]) -> None:
    lines = text("Pod", **POD, status=status)
    assert set(present) <= lines, sorted(lines)
    for part in absent:
        assert not [line for line in lines if part in line]


def test_pod_without_owner_has_empty_owner_labels() -> None:
    assert f"kube_pod_owner{{{ON}}} 1.0" in text("Pod", spec={}, status={})


def test_deployments() -> None:
    status = {
        "replicas": 3, "updatedReplicas": 1, "readyReplicas": 2, "availableReplicas": 2, "unavailableReplicas": 1,
        "observedGeneration": 3,
        "conditions": [
            {"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded"},
            {"type": "Available", "status": "True", "reason": "SomethingNew"},
        ],
    }  # fmt: skip
    d = 'deployment="x",namespace="n"'
    assert text("Deployment", spec={"replicas": 0}, status=status) == {
        f"kube_deployment_spec_replicas{{{d}}} 0.0",
        f"kube_deployment_spec_paused{{{d}}} 0.0",
        f"kube_deployment_metadata_generation{{{d}}} 4.0",
        f"kube_deployment_status_observed_generation{{{d}}} 3.0",
        f"kube_deployment_status_replicas{{{d}}} 3.0",
        f"kube_deployment_status_replicas_ready{{{d}}} 2.0",
        f"kube_deployment_status_replicas_available{{{d}}} 2.0",
        f"kube_deployment_status_replicas_unavailable{{{d}}} 1.0",
        f"kube_deployment_status_replicas_updated{{{d}}} 1.0",
        *(
            f'kube_deployment_status_condition{{condition="Progressing",{d},reason="ProgressDeadlineExceeded",status="{s}"}} {v}'
            for s, v in (("true", 0.0), ("false", 1.0), ("unknown", 0.0))
        ),
        *(
            f'kube_deployment_status_condition{{condition="Available",{d},reason="unknown",status="{s}"}} {v}'
            for s, v in (("true", 1.0), ("false", 0.0), ("unknown", 0.0))
        ),
    }


@pytest.mark.parametrize(
    ("kind", "parts", "present", "absent"),
    [
        ("StatefulSet", {"spec": {"replicas": 2}, "status": {"readyReplicas": 1, "currentRevision": "r1"}},
         ['kube_statefulset_replicas{namespace="n",statefulset="x"} 2.0',
          'kube_statefulset_status_replicas_ready{namespace="n",statefulset="x"} 1.0',
          'kube_statefulset_status_replicas_available{namespace="n",statefulset="x"} 0.0',
          'kube_statefulset_status_current_revision{namespace="n",revision="r1",statefulset="x"} 1.0',
          'kube_statefulset_metadata_generation{namespace="n",statefulset="x"} 4.0'], []),
        ("DaemonSet", {"status": {"desiredNumberScheduled": 3, "numberReady": 2}},
         ['kube_daemonset_status_desired_number_scheduled{daemonset="x",namespace="n"} 3.0',
          'kube_daemonset_status_number_ready{daemonset="x",namespace="n"} 2.0',
          'kube_daemonset_status_number_unavailable{daemonset="x",namespace="n"} 0.0'], []),
        ("ReplicaSet", {"metadata": {"ownerReferences": [{"kind": "Deployment", "name": "d", "controller": True}]},
                        "spec": {"replicas": 1}, "status": {"readyReplicas": 1}},
         ['kube_replicaset_owner{namespace="n",owner_is_controller="true",owner_kind="Deployment",owner_name="d",replicaset="x"} 1.0',
          'kube_replicaset_spec_replicas{namespace="n",replicaset="x"} 1.0',
          'kube_replicaset_status_ready_replicas{namespace="n",replicaset="x"} 1.0'], []),
        ("Job", {"spec": {"completions": 1}, "status": {"failed": 2, "conditions": [
            {"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded"}]}},
         ['kube_job_failed{condition="true",job_name="x",namespace="n"} 1.0',
          'kube_job_status_failed{job_name="x",namespace="n",reason="BackoffLimitExceeded"} 1.0',
          'kube_job_status_failed{job_name="x",namespace="n",reason="Evicted"} 0.0',
          'kube_job_spec_completions{job_name="x",namespace="n"} 1.0',
          'kube_job_info{job_name="x",namespace="n"} 1.0'],
         ["kube_job_complete", 'kube_job_status_failed{job_name="x",namespace="n"}', "kube_job_spec_parallelism"]),
        ("Job", {"status": {"active": 1, "failed": 2}},
         ['kube_job_status_failed{job_name="x",namespace="n"} 2.0',
          'kube_job_status_active{job_name="x",namespace="n"} 1.0'], ["kube_job_failed"]),
        ("Job", {"status": {"succeeded": 1, "conditions": [{"type": "Complete", "status": "True"}]}},
         ['kube_job_complete{condition="true",job_name="x",namespace="n"} 1.0',
          'kube_job_status_failed{job_name="x",namespace="n"} 0.0'], []),
        ("HorizontalPodAutoscaler",
         {"spec": {"minReplicas": 1, "maxReplicas": 4,
                   "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"},
                   "metrics": [{"type": "Resource", "resource": {
                       "name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}}]},
          "status": {"currentReplicas": 4, "desiredReplicas": 4, "conditions": [
              {"type": "ScalingLimited", "status": "True"}],
              "currentMetrics": [{"type": "Resource", "resource": {"name": "cpu", "current": {"averageValue": "7m"}}}]}},
         ['kube_horizontalpodautoscaler_spec_max_replicas{horizontalpodautoscaler="x",namespace="n"} 4.0',
          'kube_horizontalpodautoscaler_spec_min_replicas{horizontalpodautoscaler="x",namespace="n"} 1.0',
          'kube_horizontalpodautoscaler_status_current_replicas{horizontalpodautoscaler="x",namespace="n"} 4.0',
          'kube_horizontalpodautoscaler_status_condition{condition="ScalingLimited",horizontalpodautoscaler="x",namespace="n",status="true"} 1.0',
          'kube_horizontalpodautoscaler_spec_target_metric{horizontalpodautoscaler="x",metric_name="cpu",metric_target_type="utilization",namespace="n"} 80.0',
          'kube_horizontalpodautoscaler_status_target_metric{horizontalpodautoscaler="x",metric_name="cpu",metric_target_type="average",namespace="n"} 0.007'], []),
        ("Service", {"spec": {"clusterIP": "10.0.0.1", "type": "ClusterIP"}},
         ['kube_service_info{cluster_ip="10.0.0.1",namespace="n",service="x",uid="u"} 1.0',
          'kube_service_spec_type{namespace="n",service="x",type="ClusterIP",uid="u"} 1.0'], []),
        ("EndpointSlice",
         {"addressType": "IPv4", "ports": [{"name": "http", "protocol": "TCP", "port": 80}],
          "endpoints": [{"addresses": ["10.1.0.1"], "conditions": {"ready": False, "serving": False}, "nodeName": "node-1",
                         "targetRef": {"kind": "Pod", "name": "p", "namespace": "n"}}]},
         ['kube_endpointslice_info{addresstype="IPv4",endpointslice="x",namespace="n"} 1.0',
          'kube_endpointslice_ports{endpointslice="x",namespace="n",port_name="http",port_number="80",port_protocol="TCP"} 1.0',
          'kube_endpointslice_endpoints{address="10.1.0.1",endpoint_nodename="node-1",endpointslice="x",namespace="n",ready="false",'
          'serving="false",targetref_kind="Pod",targetref_name="p",targetref_namespace="n"} 1.0'], []),
        ("ResourceQuota", {"status": {"hard": {"cpu": "4300m"}, "used": {"cpu": "2100m"}}},
         ['kube_resourcequota{namespace="n",resource="cpu",resourcequota="x",type="hard"} 4.3',
          'kube_resourcequota{namespace="n",resource="cpu",resourcequota="x",type="used"} 2.1'], []),
        ("PersistentVolumeClaim", {"spec": {"storageClassName": "fast", "resources": {"requests": {"storage": "1Gi"}},
                                            "accessModes": ["ReadWriteOnce"]}, "status": {"phase": "Pending"}},
         ['kube_persistentvolumeclaim_status_phase{namespace="n",persistentvolumeclaim="x",phase="Pending"} 1.0',
          'kube_persistentvolumeclaim_status_phase{namespace="n",persistentvolumeclaim="x",phase="Bound"} 0.0',
          'kube_persistentvolumeclaim_resource_requests_storage_bytes{namespace="n",persistentvolumeclaim="x"} 1073741824.0',
          'kube_persistentvolumeclaim_access_mode{access_mode="ReadWriteOnce",namespace="n",persistentvolumeclaim="x"} 1.0',
          'kube_persistentvolumeclaim_info{namespace="n",persistentvolumeclaim="x",storageclass="fast"} 1.0'], []),
        ("Namespace", {"status": {"phase": "Terminating"}},
         ['kube_namespace_status_phase{namespace="x",phase="Terminating"} 1.0',
          'kube_namespace_status_phase{namespace="x",phase="Active"} 0.0'], []),
        ("Node", {"spec": {"unschedulable": True, "taints": [{"key": "k", "effect": "NoSchedule"}]},
                  "status": {"conditions": [{"type": "Ready", "status": "Unknown"}], "capacity": {"cpu": "8"},
                             "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}],
                             "nodeInfo": {"kubeletVersion": "v1.34.2"}}},
         ['kube_node_spec_unschedulable{node="x"} 1.0', 'kube_node_spec_taint{effect="NoSchedule",key="k",node="x"} 1.0',
          'kube_node_status_condition{condition="Ready",node="x",status="unknown"} 1.0',
          'kube_node_status_condition{condition="Ready",node="x",status="true"} 0.0',
          'kube_node_status_capacity{node="x",resource="cpu",unit="core"} 8.0',
          'kube_node_info{internal_ip="10.0.0.1",kubelet_version="v1.34.2",kubeproxy_version="deprecated",node="x"} 1.0'],
         ["namespace="]),
        ("ConfigMap", {"data": {}}, [], ["kube"]),
    ],
)  # fmt: skip
def test_kube_state_series_of_other_kinds(kind: str, parts: Any, present: list[str], absent: list[str]) -> None:
    lines = text(kind, **parts)
    assert set(present) <= lines, sorted(lines)
    for part in absent:
        assert not [line for line in lines if part in line]


def test_changed_object_is_collected_again() -> None:
    def namespaces(phase: str, version: str) -> Any:
        meta = {"name": "n", "uid": "u", "resourceVersion": version}
        return {"Namespace": {"n": {"metadata": meta, "status": {"phase": phase}}}}

    state = KubeState()
    first = state.collect(namespaces("Active", "1"))
    assert list(state.collect(namespaces("Active", "1"))) == list(first)
    changed = state.collect(namespaces("Terminating", "2"))
    assert changed == KubeState().collect(namespaces("Terminating", "2"))
    assert changed != first
    assert state.collect({}) == {}
    assert state.collect(namespaces("Active", "")) != state.collect(namespaces("Terminating", ""))


def test_object_order_does_not_affect_series() -> None:
    one, two = ({"metadata": {"name": name, "namespace": "n"}, "status": {"phase": "Running"}} for name in "ab")
    assert list(KubeState().collect({"Pod": {"a": one, "b": two}})) == list(
        KubeState().collect({"Pod": {"b": two, "a": one}})
    )


def test_series_objects_are_reused_between_ticks() -> None:
    pods = {"a": {"metadata": {"name": "a", "namespace": "n", "uid": "u", "resourceVersion": "1"}}}
    state = KubeState()
    first, second = state.collect({"Pod": pods}), state.collect({"Pod": pods})
    assert all(a is b for a, b in zip(first, second, strict=True))
