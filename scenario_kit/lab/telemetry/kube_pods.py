"""Series of pods, as exported by kube-state-metrics 2.x (its docs/metrics/workload/pod-metrics.md)."""

from __future__ import annotations

from collections.abc import Iterator

from scenario_kit.lab.telemetry.series import Family, Sample, block, flag, list_owners
from scenario_kit.model import Object
from scenario_kit.model.kubernetes.quantity import parse_quantity

PHASES = ("Pending", "Succeeded", "Failed", "Unknown", "Running")

#: Reasons with their own series; any other reason of a pod's status is "Other".
STATUS_REASONS = (
    "Evicted", "NodeAffinity", "NodeLost", "PreemptionByScheduler", "SchedulingGated", "Shutdown",
    "TerminationByKubelet", "UnexpectedAdmissionError",
)  # fmt: skip

#: The units of resources that have one.
UNITS = {"cpu": "core", "memory": "byte", "storage": "byte", "ephemeral-storage": "byte"}


def sample_pod(obj: Object) -> Iterator[Sample]:
    """Sample all series of one pod."""
    meta, spec, status = obj["metadata"], block(obj, "spec"), block(obj, "status")
    family = Family("kube_pod", {"namespace": meta["namespace"], "pod": meta["name"], "uid": meta.get("uid", "")})
    controller = next((o for o in list_owners(obj) if o.get("owner_is_controller") == "true"), {})
    yield family.sample(
        "info",
        1,
        host_ip=status.get("hostIP", ""),
        pod_ip=status.get("podIP", ""),
        node=spec.get("nodeName", ""),
        created_by_kind=controller.get("owner_kind", ""),
        created_by_name=controller.get("owner_name", ""),
        priority_class=spec.get("priorityClassName", ""),
        host_network=flag(spec.get("hostNetwork")),
    )
    for owner in list_owners(obj):
        yield family.sample("owner", 1, **owner)
    yield from family.choice("status_phase", status.get("phase", ""), PHASES, "phase")
    for condition in status.get("conditions") or []:
        if condition["type"] == "Ready":
            yield from family.condition("status_ready", condition["status"], "condition")
        elif condition["type"] == "PodScheduled":
            yield from family.condition("status_scheduled", condition["status"], "condition")
            if condition["status"] == "False":
                yield family.sample("status_unschedulable", 1)
    for reason in _list_reasons(status):
        yield family.sample("status_reason", 1, reason=reason)
    yield from _sample_containers(family, "container", spec.get("containers"), status.get("containerStatuses"))
    yield from _sample_containers(
        family, "init_container", spec.get("initContainers"), status.get("initContainerStatuses")
    )
    for kind, containers in (("container", spec.get("containers")), ("init_container", spec.get("initContainers"))):
        for container in containers or []:
            yield from _sample_resources(family, kind, container, spec.get("nodeName", ""))
    for volume in spec.get("volumes") or []:
        if claim := volume.get("persistentVolumeClaim"):
            labels = {"volume": volume["name"], "persistentvolumeclaim": claim["claimName"], "ephemeral": "false"}
            yield family.sample("spec_volumes_persistentvolumeclaims_info", 1, **labels)
            read_only = bool(claim.get("readOnly"))
            yield family.sample("spec_volumes_persistentvolumeclaims_readonly", read_only, **labels)


def _sample_containers(
    family: Family, kind: str, specs: list[Object] | None, statuses: list[Object] | None
) -> Iterator[Sample]:
    known = {container["name"]: container for container in specs or []}
    for status in statuses or []:
        name, state = status["name"], status.get("state") or {}
        if name in known:
            yield family.sample(
                f"{kind}_info",
                1,
                container=name,
                image=status.get("image", ""),
                image_spec=known[name].get("image", ""),
                # Only init containers have the label: a sidecar is one with restartPolicy Always.
                restart_policy=known[name].get("restartPolicy", "") if kind == "init_container" else "",
                image_id=status.get("imageID", ""),
                container_id=status.get("containerID", ""),
            )
        for word in ("waiting", "running", "terminated"):
            yield family.sample(f"{kind}_status_{word}", word in state, container=name)
        yield family.sample(f"{kind}_status_ready", bool(status.get("ready")), container=name)
        yield family.sample(f"{kind}_status_restarts_total", status.get("restartCount"), container=name)
        last = (status.get("lastState") or {}).get("terminated")
        for metric, detail in (
            ("waiting_reason", state.get("waiting")),
            ("terminated_reason", state.get("terminated")),
            ("last_terminated_reason", last),
        ):
            if detail is not None:
                yield family.sample(f"{kind}_status_{metric}", 1, container=name, reason=detail.get("reason", ""))
        if last is not None:
            yield family.sample(f"{kind}_status_last_terminated_exitcode", last.get("exitCode"), container=name)


def _sample_resources(family: Family, kind: str, container: Object, node: str) -> Iterator[Sample]:
    resources = container.get("resources") or {}
    for what in ("requests", "limits"):
        for resource, amount in (resources.get(what) or {}).items():
            yield family.sample(
                f"{kind}_resource_{what}",
                parse_quantity(amount),
                container=container["name"],
                node=node,
                resource=format_resource_label(resource),
                unit=find_unit(resource),
            )


def find_unit(resource: str) -> str:
    """Find the unit of a resource."""
    return "byte" if resource.startswith("hugepages-") else UNITS.get(resource, "integer")


def format_resource_label(resource: str) -> str:
    """Format a resource's name as a label value: other characters than letters and digits become underscores."""
    return "".join(c if c.isalnum() or c == "_" else "_" for c in resource)


def _list_reasons(status: Object) -> Iterator[str]:
    reasons = {status.get("reason", "")} - {""}
    reasons |= {condition.get("reason", "") for condition in status.get("conditions") or []} & set(STATUS_REASONS)
    for container in status.get("containerStatuses") or []:
        ended = (container.get("state") or {}).get("terminated") or {}
        reasons |= {ended.get("reason", "")} & set(STATUS_REASONS)
    yield from sorted({reason if reason in STATUS_REASONS else "Other" for reason in reasons})
