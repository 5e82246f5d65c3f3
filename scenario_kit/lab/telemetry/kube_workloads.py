"""Series of workloads and autoscalers, as exported by kube-state-metrics 2.x (its docs/metrics/workload)."""

from __future__ import annotations

from collections.abc import Iterator

from scenario_kit.lab.telemetry.series import Family, Sample, block, list_owners
from scenario_kit.model import Object
from scenario_kit.model.kubernetes.quantity import parse_quantity

#: Condition reasons of a Deployment that are label values; any other is "unknown".
DEPLOYMENT_REASONS = frozenset({
    "", "ReplicaSetUpdated", "ReplicaSetCreateError", "NewReplicaSetCreated", "FoundNewReplicaSet",
    "NewReplicaSetAvailable", "ProgressDeadlineExceeded", "DeploymentPaused", "DeploymentResumed",
    "MinimumReplicasAvailable", "MinimumReplicasUnavailable",
})  # fmt: skip

JOB_FAILURES = ("BackoffLimitExceeded", "DeadlineExceeded", "Evicted")

#: Series that copy a number from the status: metric, field.
_DEPLOYMENT = {
    "replicas": "replicas", "replicas_ready": "readyReplicas", "replicas_available": "availableReplicas",
    "replicas_unavailable": "unavailableReplicas", "replicas_updated": "updatedReplicas",
    "observed_generation": "observedGeneration",
}  # fmt: skip
_REPLICA_SET = {
    "replicas": "replicas", "fully_labeled_replicas": "fullyLabeledReplicas", "ready_replicas": "readyReplicas",
    "observed_generation": "observedGeneration",
}  # fmt: skip
_STATEFUL_SET = {
    "replicas": "replicas", "replicas_ready": "readyReplicas", "replicas_available": "availableReplicas",
    "replicas_current": "currentReplicas", "replicas_updated": "updatedReplicas",
    "observed_generation": "observedGeneration",
}  # fmt: skip
_DAEMON_SET = {
    "current_number_scheduled": "currentNumberScheduled", "desired_number_scheduled": "desiredNumberScheduled",
    "number_available": "numberAvailable", "number_misscheduled": "numberMisscheduled", "number_ready": "numberReady",
    "number_unavailable": "numberUnavailable", "updated_number_scheduled": "updatedNumberScheduled",
    "observed_generation": "observedGeneration",
}  # fmt: skip


def sample_deployment(obj: Object) -> Iterator[Sample]:
    """Sample all series of one Deployment."""
    family, spec, status = _split_object(obj, "deployment")
    yield from _sample_numbers(family, obj, _DEPLOYMENT)
    yield family.sample("spec_replicas", spec.get("replicas", 1))
    yield family.sample("spec_paused", bool(spec.get("paused")))
    for condition in status.get("conditions") or []:
        reason = condition.get("reason", "")
        labels = {"condition": condition["type"], "reason": reason if reason in DEPLOYMENT_REASONS else "unknown"}
        yield from family.condition("status_condition", condition["status"], "status", **labels)


def sample_replica_set(obj: Object) -> Iterator[Sample]:
    """Sample all series of one ReplicaSet."""
    family, spec, _ = _split_object(obj, "replicaset")
    yield from _sample_numbers(family, obj, _REPLICA_SET)
    yield family.sample("spec_replicas", spec.get("replicas", 1))
    for owner in list_owners(obj):
        yield family.sample("owner", 1, **owner)


def sample_stateful_set(obj: Object) -> Iterator[Sample]:
    """Sample all series of one StatefulSet."""
    family, spec, status = _split_object(obj, "statefulset")
    yield from _sample_numbers(family, obj, _STATEFUL_SET)
    yield family.sample("replicas", spec.get("replicas", 1))
    for which in ("current", "update"):
        yield family.sample(f"status_{which}_revision", 1, revision=status.get(f"{which}Revision", ""))


def sample_daemon_set(obj: Object) -> Iterator[Sample]:
    """Sample all series of one DaemonSet."""
    family, _, _ = _split_object(obj, "daemonset")
    yield from _sample_numbers(family, obj, _DAEMON_SET)


def sample_job(obj: Object) -> Iterator[Sample]:
    """Sample all series of one Job."""
    family, spec, status = _split_object(obj, "job", label="job_name")
    yield family.sample("info", 1)
    for owner in list_owners(obj):
        yield family.sample("owner", 1, **owner)
    for metric in ("parallelism", "completions"):
        if metric in spec:
            yield family.sample(f"spec_{metric}", spec[metric])
    if "activeDeadlineSeconds" in spec:
        yield family.sample("spec_active_deadline_seconds", spec["activeDeadlineSeconds"])
    for metric in ("active", "succeeded", "ready"):
        yield family.sample(f"status_{metric}", status.get(metric))
    conditions = {condition["type"]: condition for condition in status.get("conditions") or []}
    for kind, metric in (("Complete", "complete"), ("Failed", "failed")):
        if kind in conditions:
            yield from family.condition(metric, conditions[kind]["status"], "condition")
    yield from _sample_job_failures(family, status.get("failed") or 0, conditions.get("Failed"))


def sample_autoscaler(obj: Object) -> Iterator[Sample]:
    """Sample all series of one HorizontalPodAutoscaler (``autoscaling/v2``)."""
    family, spec, status = _split_object(obj, "horizontalpodautoscaler")
    target = spec.get("scaleTargetRef") or {}
    labels = {"api_version": target.get("apiVersion"), "kind": target.get("kind"), "name": target.get("name")}
    yield family.sample("info", 1, **{f"scaletargetref_{key}": value or "" for key, value in labels.items()})
    yield family.sample("metadata_generation", obj["metadata"].get("generation"))
    yield family.sample("spec_min_replicas", spec.get("minReplicas", 1))
    yield family.sample("spec_max_replicas", spec.get("maxReplicas"))
    yield family.sample("status_current_replicas", status.get("currentReplicas"))
    yield family.sample("status_desired_replicas", status.get("desiredReplicas"))
    for condition in status.get("conditions") or []:
        yield from family.condition("status_condition", condition["status"], "status", condition=condition["type"])
    yield from _sample_targets(family, "spec_target_metric", spec.get("metrics"), "target")
    yield from _sample_targets(family, "status_target_metric", status.get("currentMetrics"), "current")


def _sample_targets(family: Family, name: str, metrics: list[Object] | None, part: str) -> Iterator[Sample]:
    for metric in metrics or []:
        kind = metric.get("type", "")
        source = metric.get(kind[:1].lower() + kind[1:]) or {}
        labels = {
            "metric_name": source.get("name") or (source.get("metric") or {}).get("name", ""),
            "container": source.get("container", ""),
        }
        value = source.get(part) or {}
        for field, target in (("value", "value"), ("averageValue", "average"), ("averageUtilization", "utilization")):
            if value.get(field) is not None:
                yield family.sample(name, parse_quantity(value[field]), metric_target_type=target, **labels)


def _sample_job_failures(family: Family, failed: int, condition: Object | None) -> Iterator[Sample]:
    if not failed:
        yield family.sample("status_failed", 0)
        return
    reason = (condition or {}).get("reason", "")
    if condition is not None:
        for known in JOB_FAILURES:
            yield family.sample("status_failed", reason == known, reason=known)
    if reason not in JOB_FAILURES:
        yield family.sample("status_failed", failed)


def _split_object(obj: Object, kind: str, label: str = "") -> tuple[Family, Object, Object]:
    meta = obj["metadata"]
    labels = {"namespace": meta["namespace"], label or kind: meta["name"]}
    return Family(f"kube_{kind}", labels), block(obj, "spec"), block(obj, "status")


def _sample_numbers(family: Family, obj: Object, fields: dict[str, str]) -> Iterator[Sample]:
    status = block(obj, "status")
    for metric, field in fields.items():
        yield family.sample(f"status_{metric}", status.get(field))
    yield family.sample("metadata_generation", obj["metadata"].get("generation"))
