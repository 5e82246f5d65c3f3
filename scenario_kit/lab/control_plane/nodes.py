"""The simulated nodes: what they are, and the stages by which KWOK keeps them alive.

A solver reads these objects, so they look like nodes of any cluster; only pod status is not KWOK's to write.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import yaml

from scenario_kit.lab.host.addresses import LOOPBACK
from scenario_kit.lab.host.state import LabState
from scenario_kit.lab.host.supervisor import Spec, locate_control_plane
from scenario_kit.lab.toolchain.components import KUBERNETES
from scenario_kit.model.base import Object

#: Faults that need several nodes count on this many; each has room for 110 pods.
LEAST = 3
#: Within one network of node addresses, and few enough for one EndpointSlice of chaos daemons.
MOST = 100
PART = "kwok"
_CAPACITY = {"cpu": "8", "memory": "32Gi", "pods": "110", "ephemeral-storage": "100Gi"}
#: The kubelet's own annotation for an address given from outside; here it tells the stage which one to report.
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


def names(count: int = LEAST) -> tuple[str, ...]:
    """Return what the nodes of a lab are called."""
    return tuple(f"worker-{number}" for number in range(1, count + 1))


def build_nodes(named: Sequence[str]) -> list[Object]:
    """Build the Node objects, without status."""
    return [_build_node(name, number) for number, name in enumerate(named, start=1)]


def build_stages() -> list[Object]:
    """Build the stages that initialise a node that is not ready, and renew the conditions of one that is."""
    ready = '.status.conditions.[] | select( .type == "Ready" ) | .status'
    return [
        _stage(
            "node-initialize",
            [{"key": ready, "operator": "NotIn", "values": ["True"]}],
            _CONDITIONS + yaml.safe_dump(_build_static_status(), sort_keys=False) + _ADDRESSES,
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
    """Build how to start KWOK's controller. It goes by the name of what it plays, which the API server writes down."""
    part = state.part(PART)
    assert part is not None, PART
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
            f"--tls-cert-file={folder / 'pki' / 'admin.crt'}",
            f"--tls-private-key-file={folder / 'pki' / 'admin.key'}",
            "--node-ip=",
            "--node-name=localhost",
            f"--node-port={part.port}",
            f"--server-address={LOOPBACK}:{part.port}",
            f"--node-lease-duration-seconds={_LEASE_SECONDS}",
            "--enable-crds=Stage,Logs,ClusterLogs",
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
daemonEndpoints:
  kubeletEndpoint:
    Port: {{{{ NodePort }}}}
"""


def _build_configuration() -> Object:
    """Build a document in which the fields that matter are set: KWOK applies no defaults to one that exists."""
    return {
        "apiVersion": "config.kwok.x-k8s.io/v1alpha1",
        "kind": "KwokConfiguration",
        "options": {
            "nodePlayStageParallelism": 4,
            "podPlayStageParallelism": 4,
            "nodeLeaseParallelism": 4,
            "podsOnNodeSyncParallelism": 1,
            "enableDebuggingHandlers": True,
            "enablePodCache": True,
        },
    }


def _build_static_status() -> Object:
    return {
        "capacity": _CAPACITY,
        "allocatable": _CAPACITY,
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
