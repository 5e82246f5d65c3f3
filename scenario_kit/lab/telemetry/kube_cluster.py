"""Series of services, quotas, claims, namespaces and nodes, as exported by kube-state-metrics 2.x."""

from __future__ import annotations

from collections.abc import Iterator

from scenario_kit.lab.telemetry.kube_pods import find_unit, format_resource_label
from scenario_kit.lab.telemetry.series import Family, Sample, block, flag
from scenario_kit.model import Object
from scenario_kit.model.kubernetes.quantity import parse_quantity

#: The prefix of role labels of a Node.
_ROLE = "node-role.kubernetes.io/"


def sample_service(obj: Object) -> Iterator[Sample]:
    """Sample all series of one Service."""
    meta, spec = obj["metadata"], block(obj, "spec")
    labels = {"namespace": meta["namespace"], "service": meta["name"], "uid": meta.get("uid", "")}
    family = Family("kube_service", labels)
    yield family.sample(
        "info",
        1,
        cluster_ip=spec.get("clusterIP", ""),
        external_name=spec.get("externalName", ""),
        external_traffic_policy=spec.get("externalTrafficPolicy", ""),
        load_balancer_ip=spec.get("loadBalancerIP", ""),
    )
    yield family.sample("spec_type", 1, type=spec.get("type", "ClusterIP"))


def sample_endpoint_slice(obj: Object) -> Iterator[Sample]:
    """Sample all series of one EndpointSlice."""
    meta = obj["metadata"]
    family = Family("kube_endpointslice", {"namespace": meta["namespace"], "endpointslice": meta["name"]})
    yield family.sample("info", 1, addresstype=obj.get("addressType", ""))
    for port in obj.get("ports") or []:
        yield family.sample(
            "ports",
            1,
            port_name=port.get("name") or "",
            port_protocol=port.get("protocol") or "",
            port_number=str(port.get("port") or ""),
        )
    for endpoint in obj.get("endpoints") or []:
        conditions, target = endpoint.get("conditions") or {}, endpoint.get("targetRef") or {}
        for address in endpoint.get("addresses") or []:
            yield family.sample(
                "endpoints",
                1,
                address=address,
                hostname=endpoint.get("hostname", ""),
                endpoint_nodename=endpoint.get("nodeName", ""),
                endpoint_zone=endpoint.get("zone", ""),
                targetref_kind=target.get("kind", ""),
                targetref_name=target.get("name", ""),
                targetref_namespace=target.get("namespace", ""),
                **{word: flag(conditions[word]) for word in ("ready", "serving", "terminating") if word in conditions},
            )


def sample_resource_quota(obj: Object) -> Iterator[Sample]:
    """Sample all series of one ResourceQuota."""
    meta, status = obj["metadata"], block(obj, "status")
    family = Family("kube", {"namespace": meta["namespace"], "resourcequota": meta["name"]})
    for kind in ("hard", "used"):
        for resource, amount in (status.get(kind) or {}).items():
            yield family.sample("resourcequota", parse_quantity(amount), resource=resource, type=kind)


def sample_claim(obj: Object) -> Iterator[Sample]:
    """Sample all series of one PersistentVolumeClaim."""
    meta, spec, status = obj["metadata"], block(obj, "spec"), block(obj, "status")
    labels = {"namespace": meta["namespace"], "persistentvolumeclaim": meta["name"]}
    family = Family("kube_persistentvolumeclaim", labels)
    yield family.sample(
        "info",
        1,
        storageclass=spec.get("storageClassName", ""),
        volumename=spec.get("volumeName", ""),
        volumemode=spec.get("volumeMode", ""),
    )
    requests = (spec.get("resources") or {}).get("requests") or {}
    if "storage" in requests:
        yield family.sample("resource_requests_storage_bytes", parse_quantity(requests["storage"]))
    for mode in spec.get("accessModes") or []:
        yield family.sample("access_mode", 1, access_mode=mode)
    yield from family.choice("status_phase", status.get("phase", ""), ("Lost", "Bound", "Pending"), "phase")


def sample_namespace(obj: Object) -> Iterator[Sample]:
    """Sample all series of one Namespace."""
    status = block(obj, "status")
    family = Family("kube_namespace", {"namespace": obj["metadata"]["name"]})
    yield from family.choice("status_phase", status.get("phase", ""), ("Active", "Terminating"), "phase")
    for condition in status.get("conditions") or []:
        yield from family.condition("status_condition", condition["status"], "status", condition=condition["type"])


def sample_node(obj: Object) -> Iterator[Sample]:
    """Sample all series of one Node; nodes are cluster-scoped, so there is no namespace label."""
    meta, spec, status = obj["metadata"], block(obj, "spec"), block(obj, "status")
    family, info = Family("kube_node", {"node": meta["name"]}), status.get("nodeInfo") or {}
    address = next((a["address"] for a in status.get("addresses") or [] if a["type"] == "InternalIP"), "")
    yield family.sample(
        "info",
        1,
        kernel_version=info.get("kernelVersion", ""),
        os_image=info.get("osImage", ""),
        container_runtime_version=info.get("containerRuntimeVersion", ""),
        kubelet_version=info.get("kubeletVersion", ""),
        kubeproxy_version="deprecated",
        provider_id=spec.get("providerID", ""),
        pod_cidr=spec.get("podCIDR", ""),
        system_uuid=info.get("systemUUID", ""),
        internal_ip=address,
    )
    for label in meta.get("labels") or {}:
        if label.startswith(_ROLE):
            yield family.sample("role", 1, role=label.removeprefix(_ROLE))
    yield family.sample("spec_unschedulable", bool(spec.get("unschedulable")))
    for taint in spec.get("taints") or []:
        labels = {"key": taint["key"], "value": taint.get("value", ""), "effect": taint["effect"]}
        yield family.sample("spec_taint", 1, **labels)
    for condition in status.get("conditions") or []:
        yield from family.condition("status_condition", condition["status"], "status", condition=condition["type"])
    for what in ("capacity", "allocatable"):
        for resource, amount in (status.get(what) or {}).items():
            labels = {"resource": format_resource_label(resource), "unit": find_unit(resource)}
            yield family.sample(f"status_{what}", parse_quantity(amount), **labels)
