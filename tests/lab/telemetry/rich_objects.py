"""Objects with everything that becomes a label, or a series of its own: two of some kinds, in different states."""

from __future__ import annotations

from typing import Any

_META = {"name": "x", "namespace": "n", "uid": "u", "generation": 1}
_OWNER = {"ownerReferences": [{"kind": "Thing", "name": "t", "controller": True}]}


def _made(**parts: Any) -> dict[str, Any]:
    return {**parts, "metadata": {**_META, **parts.get("metadata", {})}}


def _conditions(*types: str) -> list[dict[str, str]]:
    return [{"type": kind, "status": "False", "reason": "Unschedulable"} for kind in types]


_RESOURCES = {"requests": {"cpu": "1"}, "limits": {"cpu": "1"}}
_ENDED = {"reason": "Error", "exitCode": 1}


def _status(name: str, state: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": name, "state": state, "lastState": {"terminated": _ENDED}, "image": "i", "imageID": "s:1",
        "containerID": "c://1", "restartCount": 1,
    }  # fmt: skip


_POD = _made(
    metadata=_OWNER,
    spec={
        "nodeName": "w", "priorityClassName": "high",
        "containers": [{"name": "a", "image": "i", "resources": _RESOURCES}, {"name": "b", "image": "i"}],
        "initContainers": [
            {"name": "i", "image": "i", "resources": _RESOURCES, "restartPolicy": "Always"},
            {"name": "j", "image": "i"},
        ],
        "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}],
    },
    status={
        "phase": "Failed", "reason": "Evicted", "hostIP": "10.0.0.1", "podIP": "10.1.0.1",
        "conditions": _conditions("Ready", "PodScheduled"),
        "containerStatuses": [_status("a", {"waiting": {"reason": "W"}}), _status("b", {"terminated": _ENDED})],
        "initContainerStatuses": [_status("i", {"waiting": {"reason": "W"}}), _status("j", {"terminated": _ENDED})],
    },
)  # fmt: skip

_TARGETS = [
    {"type": "ContainerResource", "containerResource": {
        "name": "cpu", "container": "c", "target": {"averageUtilization": 50}, "current": {"averageUtilization": 50}}},
]  # fmt: skip

#: By kind, as a lab keeps them.
RICH: dict[str, dict[str, Any]] = {
    "Pod": {"x": _POD},
    "Deployment": {"x": _made(spec={"paused": True}, status={"conditions": _conditions("Progressing")})},
    "ReplicaSet": {"x": _made(metadata=_OWNER)},
    "StatefulSet": {"x": _made(status={"currentRevision": "r1", "updateRevision": "r2"})},
    "DaemonSet": {"x": _made()},
    "Job": {
        "x": _made(
            metadata=_OWNER,
            spec={"parallelism": 1, "completions": 1, "activeDeadlineSeconds": 9},
            status={"failed": 1, "conditions": [
                {"type": "Failed", "status": "True", "reason": "DeadlineExceeded"},
                {"type": "Complete", "status": "False"},
            ]},
        ),
    },
    "HorizontalPodAutoscaler": {
        "x": _made(
            spec={"maxReplicas": 3, "metrics": _TARGETS, "scaleTargetRef": {
                "apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}},
            status={"conditions": _conditions("AbleToScale"), "currentMetrics": _TARGETS},
        ),
    },
    "Service": {
        "x": _made(spec={
            "clusterIP": "10.0.0.1", "externalName": "e", "externalTrafficPolicy": "Local", "loadBalancerIP": "1.2.3.4",
        }),
    },
    "EndpointSlice": {
        "x": _made(
            addressType="IPv4",
            ports=[{"name": "http", "protocol": "TCP", "port": 80}],
            endpoints=[{
                "addresses": ["10.1.0.1"], "hostname": "h", "nodeName": "w", "zone": "z",
                "conditions": {"ready": True, "serving": True, "terminating": False},
                "targetRef": {"kind": "Pod", "name": "x", "namespace": "n"},
            }],
        ),
    },
    "ResourceQuota": {"x": _made(status={"hard": {"cpu": "1"}, "used": {"cpu": "1"}})},
    "PersistentVolumeClaim": {
        "x": _made(
            spec={
                "storageClassName": "s", "volumeName": "v", "volumeMode": "Block", "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "1Gi"}},
            },
            status={"phase": "Bound"},
        ),
    },
    "Namespace": {"x": _made(status={"phase": "Active", "conditions": _conditions("Deletion")})},
    "Node": {
        "x": _made(
            metadata={"labels": {"node-role.kubernetes.io/worker": ""}},
            spec={
                "providerID": "p", "podCIDR": "10.1.0.0/24", "unschedulable": True,
                "taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}],
            },
            status={
                "capacity": {"cpu": "8"}, "allocatable": {"cpu": "8"}, "conditions": _conditions("Ready"),
                "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}],
                "nodeInfo": {
                    "kernelVersion": "6", "osImage": "o", "containerRuntimeVersion": "c", "kubeletVersion": "v1",
                    "systemUUID": "s",
                },
            },
        ),
    },
}  # fmt: skip
