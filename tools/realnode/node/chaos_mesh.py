"""Chaos Mesh on the real node: manager, daemon and the programs that the daemon calls."""

from __future__ import annotations

import base64
import json
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

import yaml

from scenario_kit.lab import chaos_manager, chaos_webhooks
from scenario_kit.lab.control_plane.bootstrap_manifests import CHAOS_NAMESPACE
from scenario_kit.lab.toolchain import CHAOS_DEFINITIONS, chaos_assets
from scenario_kit.model import Object
from tools.realnode.images import CHAOS_DAEMON, CHAOS_MANAGER, PAUSE
from tools.realnode.node.cluster import RealCluster
from tools.realnode.node.isolation import ADDRESS

MANIFEST: Final = Path(__file__).with_name("chaos-mesh.yaml")
#: Names under which the daemon calls our program (``stressors/main.go``).
STRESSORS: Final = ("pause", "nsexec", "memStress")
_GRPC_PORT: Final = 31767
_WEBHOOK_PORT: Final = 10350
_IMAGES: Final[Mapping[str, str]] = {"chaos-controller-manager": CHAOS_MANAGER, "chaos-daemon": CHAOS_DAEMON}


def install_chaos_mesh(cluster: RealCluster, stressors: Path) -> None:
    """Install CRDs, manager, daemon and webhooks; wait until they are ready.

    Raises:
        LabError: a component does not start.
    """
    keys = chaos_manager.prepare(cluster.folder, ADDRESS, _GRPC_PORT, Path())
    tools = cluster.folder / "memory" / "stressors"
    tools.mkdir()
    for name in STRESSORS:
        shutil.copy(stressors, tools / name)
    files = sorted((chaos_assets() / CHAOS_DEFINITIONS).glob("*.json"))
    definitions = [json.loads(file.read_bytes()) for file in files]
    cluster.apply([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": CHAOS_NAMESPACE}}, *definitions])
    certificates = {
        "ca.crt": keys.ca,
        "client.crt": keys.client_certificate,
        "client.key": keys.client_key,
        "server.crt": keys.server_certificate,
        "server.key": keys.server_key,
    }
    webhook = chaos_manager.locate_certificate(cluster.folder)
    served = {"tls.crt": str(webhook.with_suffix(".crt")), "tls.key": str(webhook.with_suffix(".key"))}
    cluster.apply([_build_secret("certificates", certificates), _build_secret("webhook", served)])
    folders = {"own-programs": str(tools), "runtime": str(cluster.folder)}
    cluster.apply(_fill_in(yaml.safe_load_all(MANIFEST.read_text(encoding="utf-8")), folders))
    cluster.await_deployments(CHAOS_NAMESPACE)
    cluster.await_daemons(CHAOS_NAMESPACE)
    manager = _WEBHOOK_PORT, Path(keys.ca)
    found = chaos_webhooks.build_objects(manager, manager)
    # The lab's own webhook resolves names for the manager, which resolves them itself here.
    cluster.apply([obj for obj in found if obj["metadata"]["name"].startswith("chaos-mesh-")])


def _fill_in(documents: Iterable[Object], folders: Mapping[str, str]) -> list[Object]:
    found = []
    for obj in documents:
        if "template" in (obj.get("spec") or {}):
            spec = obj["spec"]["template"]["spec"]
            for container in spec["containers"]:
                container["image"] = _IMAGES[container["image"]]
                for variable in container["env"]:
                    variable["value"] = PAUSE if variable["name"] == "POD_FAILURE_PAUSE_IMAGE" else variable["value"]
            for volume in spec["volumes"]:
                if "hostPath" in volume:
                    volume["hostPath"]["path"] = folders.get(volume["name"], volume["hostPath"]["path"])
        found.append(obj)
    return found


def _build_secret(name: str, files: Mapping[str, str]) -> Object:
    data = {key: base64.b64encode(Path(path).read_bytes()).decode() for key, path in files.items()}
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "namespace": CHAOS_NAMESPACE},
        "data": data,
    }
