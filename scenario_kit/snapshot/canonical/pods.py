"""Pods of a recording and their resource attributes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from scenario_kit.model import App, Object
from scenario_kit.model.runtime.recording import RecordedTick
from scenario_kit.snapshot.canonical.names import NameMap


class KnownPod(NamedTuple):
    """A pod with canonical names. ``service`` is its component, ``resource`` its OpenTelemetry resource attributes."""

    name: str
    namespace: str
    service: str
    resource: Mapping[str, str]


class PodDirectory:
    """The pods of a recording by real namespace and name, including deleted ones."""

    def __init__(self, app: App, names: NameMap) -> None:
        self._names = names
        self._services = {c.workload.bare: c.name for c in app.components}
        self._deployments: dict[str, str] = {}
        self.pods: dict[tuple[str, str], KnownPod] = {}

    def advance(self, tick: RecordedTick) -> None:
        """Process the pods of a tick."""
        for obj in tick.objects:
            owner = find_owner(obj)
            if obj["kind"] == "ReplicaSet" and owner[0] == "Deployment":
                self._deployments[obj["metadata"]["name"]] = owner[1]
        for obj in tick.objects:
            if obj["kind"] == "Pod":
                meta = obj["metadata"]
                self.pods[meta["namespace"], meta["name"]] = self._describe(obj)

    def _describe(self, pod: Object) -> KnownPod:
        meta = pod["metadata"]
        kind, owner = find_owner(pod)
        if owner in self._deployments:
            kind, owner = "Deployment", self._deployments[owner]
        name, namespace = self._names.find(meta["name"]), self._names.find(meta["namespace"])
        service = self._services.get((kind, owner), owner)
        node = self._names.nodes.get(meta["name"], (pod["spec"].get("nodeName", ""), ""))[0]
        resource = {
            "k8s.namespace.name": namespace,
            "k8s.pod.name": name,
            "k8s.pod.uid": self._names.find(meta["uid"]),
            "k8s.node.name": node,
            "service.name": service,
            "service.namespace": namespace,
        }
        if kind:
            resource[f"k8s.{kind.lower()}.name"] = owner
        return KnownPod(name, namespace, service, resource)


def find_owner(obj: Object) -> tuple[str, str]:
    """Return kind and name of an object's controller; empty without one."""
    for owner in obj["metadata"].get("ownerReferences") or ():
        if owner.get("controller"):
            return owner["kind"], owner["name"]
    return "", ""
