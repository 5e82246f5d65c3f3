"""The simulated nodes, and the KWOK stages that keep them ready.

A solver reads these objects, so they look like nodes of any cluster; KWOK does not write pod status.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import yaml

from scenario_kit.lab.host.state import LabState
from scenario_kit.lab.host.supervisor import Spec, locate_control_plane
from scenario_kit.lab.toolchain.components import KUBERNETES
from scenario_kit.model.base import Object

#: The minimum number of nodes, which faults on several nodes rely on; each has room for 110 pods.
MIN_NODES = 3
PART = "kwok"
_CAPACITY = {"cpu": "8", "memory": "32Gi", "pods": "110", "ephemeral-storage": "100Gi"}
#: The kubelet's annotation for an external address; here the stage reports it.
_ADDRESS = "alpha.kubernetes.io/provided-node-ip"
_STATUS_SECONDS = 300
_LEASE_SECONDS = 40

_CONDITIONS = """
conditions:
{{ $now := Now }}
{{ $since := or .metadata.creationTimestamp $now }}
{{ range NodeConditions }}
- lastHeartbeatTime: {{ $now | Quote }}
  lastTransitionTime: {{ $since | Quote }}
  message: {{ .message | Quote }}
  reason: {{ .reason | Quote }}
  status: {{ .status | Quote }}
  type: {{ .type | Quote }}
{{ end }}
"""


def list_node_names(count: int = MIN_NODES) -> tuple[str, ...]:
    """List the node names of a lab with ``count`` nodes."""
    return tuple(f"worker-{number}" for number in range(1, count + 1))


def build_nodes(named: Sequence[str]) -> list[Object]:
    """Build the Node objects without status."""
    return [_build_node(name, number) for number, name in enumerate(named, start=1)]


def build_stages(kubelet_port: int) -> list[Object]:
    """Build the stages that initialise a node and renew the conditions of a ready one.

    ``kubelet_port`` is where the API server finds the logs of a node's pods.
    """
    ready = '.status.conditions.[] | select( .type == "Ready" ) | .status'
    return [
        _stage(
            "node-initialize",
            [{"key": ready, "operator": "NotIn", "values": ["True"]}],
            _CONDITIONS + yaml.safe_dump(_build_static_status(kubelet_port), sort_keys=False) + _ADDRESSES,
        ),
        _stage(
            "node-heartbeat",
            [{"key": ready, "operator": "In", "values": ["True"]}],
            _CONDITIONS,
            delay={
                "durationMilliseconds": _STATUS_SECONDS * 1000,
                "jitterDurationMilliseconds": (_STATUS_SECONDS + 10) * 1000,
            },
        ),
    ]


def build_spec(state: LabState, binaries: Mapping[str, Path]) -> Spec:
    """Build the process specification of KWOK's controller. It runs as `kubelet`, a name that appears in objects."""
    config = Path(state.folder) / "kwok.yaml"
    config.write_text(yaml.safe_dump(_build_configuration(), sort_keys=False))
    folder = locate_control_plane(state)
    return Spec(
        name=PART,
        program=binaries["kwok"],
        arguments=[
            "--manage-all-nodes=true",
            f"--kubeconfig={folder / 'kubeconfig.yaml'}",
            f"--config={config}",
            "--node-ip=",
            "--node-name=localhost",
            # Its pages for logs and metrics have no authentication, so it listens nowhere.
            "--node-port=0",
            "--server-address=",
            f"--node-lease-duration-seconds={_LEASE_SECONDS}",
            "--enable-crds=Stage",
        ],
        environment={"GOMEMLIMIT": "160MiB"},
        shown_as="kubelet",
    )


_ADDRESSES = f"""
addresses:
- address: {{{{ index .metadata.annotations "{_ADDRESS}" | Quote }}}}
  type: InternalIP
- address: {{{{ .metadata.name | Quote }}}}
  type: Hostname
- address: localhost
  type: InternalDNS
"""


def _build_configuration() -> Object:
    """Build the complete configuration: KWOK applies no defaults to a given one."""
    return {
        "apiVersion": "config.kwok.x-k8s.io/v1alpha1",
        "kind": "KwokConfiguration",
        "options": {
            "nodePlayStageParallelism": 4,
            "podPlayStageParallelism": 4,
            "nodeLeaseParallelism": 4,
            "podsOnNodeSyncParallelism": 1,
        },
    }


def _build_static_status(kubelet_port: int) -> Object:
    return {
        "capacity": _CAPACITY,
        "allocatable": _CAPACITY,
        "daemonEndpoints": {"kubeletEndpoint": {"Port": kubelet_port}},
        "nodeInfo": {
            "architecture": "amd64",
            "bootID": "0b3f4a5e-7c1d-4f62-9a55-6f1f0c8f2d11",
            "containerRuntimeVersion": "containerd://2.1.4",
            "kernelVersion": "6.8.0-79-generic",
            "kubeProxyVersion": "",
            "kubeletVersion": f"v{KUBERNETES}",
            "machineID": "5d1c2f0a9b8e4c7fa1d3e6b7c8091a2b",
            "operatingSystem": "linux",
            "osImage": "Ubuntu 24.04.3 LTS",
            "systemUUID": "5d1c2f0a-9b8e-4c7f-a1d3-e6b7c8091a2b",
        },
        "phase": "Running",
    }


def _build_node(name: str, number: int) -> Object:
    zone = "abc"[(number - 1) % 3]
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {
                "kubernetes.io/hostname": name,
                "kubernetes.io/os": "linux",
                "kubernetes.io/arch": "amd64",
                "node-role.kubernetes.io/worker": "",
                "topology.kubernetes.io/region": "eu-1",
                "topology.kubernetes.io/zone": f"eu-1{zone}",
            },
            "annotations": {_ADDRESS: f"10.0.1.{10 + number}"},
        },
    }


def _stage(name: str, expressions: Sequence[Object], status: str, delay: Object | None = None) -> Object:
    body: Object = {
        "resourceRef": {"apiGroup": "v1", "kind": "Node"},
        "selector": {"matchExpressions": list(expressions)},
        "next": {"statusTemplate": status},
    }
    if delay:
        body["delay"] = delay
    return {"apiVersion": "kwok.x-k8s.io/v1alpha1", "kind": "Stage", "metadata": {"name": name}, "spec": body}
