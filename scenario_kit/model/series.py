"""Every series that a lab has, of whatever app: names, labels, and label values where only some exist.

The exporters are kube-state-metrics, cAdvisor and the collector with its receivers; a test compares this with what the
lab exports. The names of an app's components, stores and queues are the app's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

#: Names of series by the labels that they have.
_NAMES: Final = {
    "container id image instance name namespace node pod": (
        "container_cpu_cfs_periods_total container_cpu_cfs_throttled_periods_total container_memory_cache "
        "container_memory_rss container_memory_swap container_memory_usage_bytes container_memory_working_set_bytes "
        "container_spec_cpu_period container_spec_cpu_quota container_spec_cpu_shares "
        "container_spec_memory_limit_bytes"
    ),
    "container cpu id image instance name namespace node pod": "container_cpu_usage_seconds_total",
    "instance interface namespace node pod": (
        "container_network_receive_bytes_total container_network_receive_packets_total "
        "container_network_transmit_bytes_total container_network_transmit_packets_total"
    ),
    "job jvm_gc_action jvm_gc_name le namespace service_name": "jvm_gc_duration_seconds_bucket",
    "job jvm_gc_action jvm_gc_name namespace service_name": "jvm_gc_duration_seconds_count jvm_gc_duration_seconds_sum",
    "namespace": (
        "kafka_brokers redis_clients_connected redis_commands_processed_total redis_keys_evicted_total "
        "redis_memory_used_bytes redis_uptime_seconds_total"
    ),
    "job namespace": "kafka_consumer_connection_close_rate",
    "group namespace partition topic": "kafka_consumer_group_lag_ratio kafka_consumer_group_offset_ratio",
    "group namespace topic": "kafka_consumer_group_lag_sum_ratio kafka_consumer_group_offset_sum_ratio",
    "group namespace": "kafka_consumer_group_members",
    "namespace partition topic": (
        "kafka_partition_current_offset_ratio kafka_partition_oldest_offset_ratio kafka_partition_replicas "
        "kafka_partition_replicas_in_sync"
    ),
    "namespace topic": "kafka_topic_partitions",
    "daemonset namespace": (
        "kube_daemonset_metadata_generation kube_daemonset_status_current_number_scheduled "
        "kube_daemonset_status_desired_number_scheduled kube_daemonset_status_number_available "
        "kube_daemonset_status_number_misscheduled kube_daemonset_status_number_ready "
        "kube_daemonset_status_number_unavailable kube_daemonset_status_observed_generation "
        "kube_daemonset_status_updated_number_scheduled"
    ),
    "deployment namespace": (
        "kube_deployment_metadata_generation kube_deployment_spec_paused kube_deployment_spec_replicas "
        "kube_deployment_status_observed_generation kube_deployment_status_replicas "
        "kube_deployment_status_replicas_available kube_deployment_status_replicas_ready "
        "kube_deployment_status_replicas_unavailable kube_deployment_status_replicas_updated"
    ),
    "condition deployment namespace reason status": "kube_deployment_status_condition",
    (
        "address endpoint_nodename endpoint_zone endpointslice hostname namespace "
        "ready serving targetref_kind targetref_name targetref_namespace terminating"
    ): ("kube_endpointslice_endpoints"),
    "addresstype endpointslice namespace": "kube_endpointslice_info",
    "endpointslice namespace port_name port_number port_protocol": "kube_endpointslice_ports",
    "horizontalpodautoscaler namespace scaletargetref_api_version scaletargetref_kind scaletargetref_name": (
        "kube_horizontalpodautoscaler_info"
    ),
    "horizontalpodautoscaler namespace": (
        "kube_horizontalpodautoscaler_metadata_generation kube_horizontalpodautoscaler_spec_max_replicas "
        "kube_horizontalpodautoscaler_spec_min_replicas kube_horizontalpodautoscaler_status_current_replicas "
        "kube_horizontalpodautoscaler_status_desired_replicas"
    ),
    "container horizontalpodautoscaler metric_name metric_target_type namespace": (
        "kube_horizontalpodautoscaler_spec_target_metric kube_horizontalpodautoscaler_status_target_metric"
    ),
    "condition horizontalpodautoscaler namespace status": "kube_horizontalpodautoscaler_status_condition",
    "condition job_name namespace": "kube_job_complete kube_job_failed",
    "job_name namespace": (
        "kube_job_info kube_job_spec_active_deadline_seconds kube_job_spec_completions kube_job_spec_parallelism "
        "kube_job_status_active kube_job_status_ready kube_job_status_succeeded"
    ),
    "job_name namespace owner_is_controller owner_kind owner_name": "kube_job_owner",
    "job_name namespace reason": "kube_job_status_failed",
    "condition namespace status": "kube_namespace_status_condition",
    "namespace phase": "kube_namespace_status_phase",
    (
        "container_runtime_version internal_ip kernel_version kubelet_version kubeproxy_version "
        "namespace node os_image pod_cidr provider_id system_uuid"
    ): ("kube_node_info"),
    "namespace node role": "kube_node_role",
    "effect key namespace node value": "kube_node_spec_taint",
    "namespace node": "kube_node_spec_unschedulable",
    "namespace node resource unit": "kube_node_status_allocatable kube_node_status_capacity",
    "condition namespace node status": "kube_node_status_condition",
    "access_mode namespace persistentvolumeclaim": "kube_persistentvolumeclaim_access_mode",
    "namespace persistentvolumeclaim storageclass volumemode volumename": "kube_persistentvolumeclaim_info",
    "namespace persistentvolumeclaim": "kube_persistentvolumeclaim_resource_requests_storage_bytes",
    "namespace persistentvolumeclaim phase": "kube_persistentvolumeclaim_status_phase",
    "container container_id image image_id image_spec namespace pod uid": "kube_pod_container_info",
    "container namespace node pod resource uid unit": (
        "kube_pod_container_resource_limits kube_pod_container_resource_requests "
        "kube_pod_init_container_resource_limits kube_pod_init_container_resource_requests"
    ),
    "container namespace pod uid": (
        "kube_pod_container_status_last_terminated_exitcode kube_pod_container_status_ready "
        "kube_pod_container_status_restarts_total kube_pod_container_status_running "
        "kube_pod_container_status_terminated kube_pod_container_status_waiting "
        "kube_pod_init_container_status_last_terminated_exitcode kube_pod_init_container_status_ready "
        "kube_pod_init_container_status_restarts_total kube_pod_init_container_status_running "
        "kube_pod_init_container_status_terminated kube_pod_init_container_status_waiting"
    ),
    "container namespace pod reason uid": (
        "kube_pod_container_status_last_terminated_reason kube_pod_container_status_terminated_reason "
        "kube_pod_container_status_waiting_reason kube_pod_init_container_status_last_terminated_reason "
        "kube_pod_init_container_status_terminated_reason kube_pod_init_container_status_waiting_reason"
    ),
    "created_by_kind created_by_name host_ip host_network namespace node pod pod_ip priority_class uid": (
        "kube_pod_info"
    ),
    "container container_id image image_id image_spec namespace pod restart_policy uid": "kube_pod_init_container_info",
    "namespace owner_is_controller owner_kind owner_name pod uid": "kube_pod_owner",
    "ephemeral namespace persistentvolumeclaim pod uid volume": (
        "kube_pod_spec_volumes_persistentvolumeclaims_info kube_pod_spec_volumes_persistentvolumeclaims_readonly"
    ),
    "namespace phase pod uid": "kube_pod_status_phase",
    "condition namespace pod uid": "kube_pod_status_ready kube_pod_status_scheduled",
    "namespace pod reason uid": "kube_pod_status_reason",
    "namespace pod uid": "kube_pod_status_unschedulable",
    "namespace replicaset": (
        "kube_replicaset_metadata_generation kube_replicaset_spec_replicas "
        "kube_replicaset_status_fully_labeled_replicas kube_replicaset_status_observed_generation "
        "kube_replicaset_status_ready_replicas kube_replicaset_status_replicas"
    ),
    "namespace owner_is_controller owner_kind owner_name replicaset": "kube_replicaset_owner",
    "namespace resource resourcequota type": "kube_resourcequota",
    "cluster_ip external_name external_traffic_policy load_balancer_ip namespace service uid": "kube_service_info",
    "namespace service type uid": "kube_service_spec_type",
    "namespace statefulset": (
        "kube_statefulset_metadata_generation kube_statefulset_replicas kube_statefulset_status_observed_generation "
        "kube_statefulset_status_replicas kube_statefulset_status_replicas_available "
        "kube_statefulset_status_replicas_current kube_statefulset_status_replicas_ready "
        "kube_statefulset_status_replicas_updated"
    ),
    "namespace revision statefulset": (
        "kube_statefulset_status_current_revision kube_statefulset_status_update_revision"
    ),
    "namespace store": (
        "memcached_bytes memcached_connections_current memcached_current_items mongodb_uptime_milliseconds_total"
    ),
    "command namespace store": "memcached_commands_total",
    "namespace store type": "mongodb_connection_count mongodb_memory_usage_bytes",
    "namespace operation store": "mongodb_operation_count_total",
    "namespace postgresql_database_name": (
        "postgresql_backends postgresql_commits_total postgresql_deadlocks_total postgresql_rollbacks_total "
        "postgresql_tup_fetched_total postgresql_tup_inserted_total"
    ),
    "db namespace": "redis_db_keys",
    "namespace service_name span_kind span_name status_code": (
        "traces_span_metrics_calls_total traces_span_metrics_duration_milliseconds_count "
        "traces_span_metrics_duration_milliseconds_sum"
    ),
    "le namespace service_name span_kind span_name status_code": "traces_span_metrics_duration_milliseconds_bucket",
}

#: Labels by the name of a series.
LABELS: Final[Mapping[str, frozenset[str]]] = {
    name: frozenset(labels.split()) for labels, names in _NAMES.items() for name in names.split()
}

_STATUS: Final = frozenset({"true", "false", "unknown"})
_WAITING: Final = frozenset(
    {
        "ContainerCreating", "CrashLoopBackOff", "CreateContainerConfigError", "CreateContainerError", "ErrImagePull",
        "ErrImageNeverPull", "ImageInspectError", "ImagePullBackOff", "InvalidImageName", "PodInitializing",
        "PostStartHookError", "RunContainerError",
    }
)  # fmt: skip
_TERMINATED: Final = frozenset(
    {
        "Completed", "ContainerCannotRun", "ContainerStatusUnknown", "DeadlineExceeded", "Error", "Evicted",
        "OOMKilled", "StartError",
    }
)  # fmt: skip
_POD_REASONS: Final = frozenset(
    {
        "Evicted", "NodeAffinity", "NodeLost", "Other", "PreemptionByScheduler", "SchedulingGated", "Shutdown",
        "TerminationByKubelet", "UnexpectedAdmissionError",
    }
)  # fmt: skip
_SPANS: Final = {
    "span_kind": frozenset(f"SPAN_KIND_{kind}" for kind in ("SERVER", "CLIENT", "INTERNAL", "PRODUCER", "CONSUMER")),
    "status_code": frozenset({"STATUS_CODE_UNSET", "STATUS_CODE_OK", "STATUS_CODE_ERROR"}),
}

#: Values of labels that have no others, by the name of a series.
VALUES: Final[Mapping[str, Mapping[str, frozenset[str]]]] = {
    "kube_deployment_status_condition": {
        "condition": frozenset({"Available", "Progressing", "ReplicaFailure"}),
        "status": _STATUS,
    },
    "kube_horizontalpodautoscaler_status_condition": {
        "condition": frozenset({"AbleToScale", "ScalingActive", "ScalingLimited"}),
        "status": _STATUS,
    },
    "kube_job_complete": {"condition": _STATUS},
    "kube_job_failed": {"condition": _STATUS},
    "kube_namespace_status_phase": {"phase": frozenset({"Active", "Terminating"})},
    "kube_node_status_condition": {
        "condition": frozenset({"DiskPressure", "MemoryPressure", "NetworkUnavailable", "PIDPressure", "Ready"}),
        "status": _STATUS,
    },
    "kube_persistentvolumeclaim_status_phase": {"phase": frozenset({"Bound", "Lost", "Pending"})},
    "kube_pod_container_status_last_terminated_reason": {"reason": _TERMINATED},
    "kube_pod_container_status_terminated_reason": {"reason": _TERMINATED},
    "kube_pod_container_status_waiting_reason": {"reason": _WAITING},
    "kube_pod_init_container_status_last_terminated_reason": {"reason": _TERMINATED},
    "kube_pod_init_container_status_terminated_reason": {"reason": _TERMINATED},
    "kube_pod_init_container_status_waiting_reason": {"reason": _WAITING},
    "kube_pod_status_phase": {"phase": frozenset({"Failed", "Pending", "Running", "Succeeded", "Unknown"})},
    "kube_pod_status_ready": {"condition": _STATUS},
    "kube_pod_status_reason": {"reason": _POD_REASONS},
    "kube_pod_status_scheduled": {"condition": _STATUS},
    "kube_resourcequota": {"type": frozenset({"hard", "used"})},
    "traces_span_metrics_calls_total": _SPANS,
    "traces_span_metrics_duration_milliseconds_bucket": _SPANS,
    "traces_span_metrics_duration_milliseconds_count": _SPANS,
    "traces_span_metrics_duration_milliseconds_sum": _SPANS,
}
