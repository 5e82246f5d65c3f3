"""Template look-ups on the target: its pods, labels, containers, ports and volumes.

Each is a pure function of the rendered app; ``docs/add-a-fault.md`` lists them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from scenario_kit.model import Object
from scenario_kit.model.kubernetes.pod_template import list_containers, read_pod_spec, read_template_labels
from scenario_kit.model.kubernetes.quantity import parse_quantity
from scenario_kit.model.kubernetes.reference import identify_object
from scenario_kit.render.templating.render_budget import LOOKUP_WORK, spend
from scenario_kit.render.templating.target import FaultTarget

#: Pod name suffixes (regular expressions) by kind of owner; a Deployment's include its ReplicaSet's suffix.
_POD_SUFFIXES: Final[Mapping[str, str]] = {"StatefulSet": "[0-9]+", "DaemonSet": "[a-z0-9]+"}
_DEPLOYED: Final = "[a-z0-9]+-[a-z0-9]+"


def match_pods(workload: Object) -> str:
    """Build the regular expression that matches a workload's pod names."""
    return f"{workload['metadata']['name']}-{_POD_SUFFIXES.get(workload['kind'], _DEPLOYED)}"


def select_pods(workload: Object) -> dict[str, Any]:
    """Return the labels that select exactly the pods of a workload."""
    return dict(workload["spec"]["selector"].get("matchLabels") or read_template_labels(workload))


@dataclass(frozen=True, slots=True)
class ResolvedTarget(FaultTarget):
    """The target with look-ups in the rendered app. Its string form is the reference."""

    _find: Callable[[object], Object]
    _objects: Sequence[Object]

    def __str__(self) -> str:
        """Return the reference."""
        return str(self.ref)

    @property
    def pods(self) -> str:
        """Build the regular expression that matches its pod names."""
        return match_pods(self._find_workload())

    @property
    def labels(self) -> dict[str, Any]:
        """Return the labels that select exactly its pods."""
        return select_pods(self._find_workload())

    @property
    def selector(self) -> dict[str, Any]:
        """Return the Chaos Mesh selector for exactly its pods."""
        return {"namespaces": [self.namespace], "labelSelectors": self.labels}

    @property
    def workload(self) -> str:
        """Return the workload that it is, or that it selects."""
        owner = self._find_workload()
        return f"{owner['kind']}/{owner['metadata']['name']}"

    @property
    def replicas(self) -> int:
        """Return the number of replicas of its workload."""
        return int(self._find_workload()["spec"].get("replicas", 1))

    @property
    def containers(self) -> list[str]:
        """List the names of the containers of its pods."""
        return [container["name"] for container in self._list_containers()]

    @property
    def unrestricted_containers(self) -> list[str]:
        """List its containers whose capabilities or privilege escalation violate the restricted security standard."""
        contexts = {each["name"]: each.get("securityContext") or {} for each in self._list_containers()}
        return [
            name
            for name, context in contexts.items()
            if "ALL" not in (context.get("capabilities") or {}).get("drop", ())
            or context.get("allowPrivilegeEscalation", True) is not False
        ]

    def without(self, bound: str, resource: str) -> list[str]:
        """List its containers, init containers included, without ``limits`` or ``requests`` for a resource."""
        return [c["name"] for c in self._list_all_containers() if not _read_amount(c, bound, resource)]

    def largest(self, bound: str, resource: str) -> float:
        """Return the largest ``limits`` or ``requests`` of all its containers for a resource; 0 if none has any."""
        written = [_read_amount(c, bound, resource) for c in self._list_all_containers()]
        return max((parse_quantity(quantity) for quantity in written if quantity), default=0.0)

    @property
    def ports(self) -> list[int]:
        """List the ports that the containers of its pods declare."""
        return [port["containerPort"] for each in self._list_containers() for port in each.get("ports") or ()]

    @property
    def volumes(self) -> list[str]:
        """List the names of the volumes of its pods."""
        return [volume["name"] for volume in self._list_volumes()]

    @property
    def claims(self) -> dict[str, str]:
        """Map the volumes of its pods to their PersistentVolumeClaims."""
        return {
            volume["name"]: volume["persistentVolumeClaim"]["claimName"]
            for volume in self._list_volumes()
            if "persistentVolumeClaim" in volume
        }

    @property
    def data(self) -> dict[str, Any]:
        """Return the entries of a ConfigMap or Secret, encoded or plain."""
        spend(LOOKUP_WORK)
        named = ((self.kind, self.namespace, self.name), (self.kind, "", self.name))
        own = next((o for o in self._objects if identify_object(o) in named), {})
        return dict(own.get("data", own.get("stringData", {})) or {})

    @property
    def scalers(self) -> list[str]:
        """List the names of the autoscalers that scale it."""
        spend(LOOKUP_WORK)
        named = {"kind": self.kind, "name": self.name}
        return [
            o["metadata"]["name"]
            for o in self._objects
            if o["kind"] == "HorizontalPodAutoscaler" and named.items() <= o["spec"]["scaleTargetRef"].items()
        ]

    @property
    def keeps_data(self) -> bool:
        """Return whether its pods mount a PersistentVolumeClaim, so that data outlives them."""
        return bool(self._find_workload()["spec"].get("volumeClaimTemplates") or self.claims)

    @property
    def node_network(self) -> bool:
        """Return whether its pods use the host network."""
        return bool(read_pod_spec(self._find_workload()).get("hostNetwork", False))

    def _find_workload(self) -> Object:
        spend(LOOKUP_WORK)
        return self._find(self)

    def _list_containers(self) -> list[Object]:
        return list_containers(self._find_workload())

    def _list_all_containers(self) -> list[Object]:
        pod = read_pod_spec(self._find_workload())
        return [*pod["containers"], *(pod.get("initContainers") or ())]

    def _list_volumes(self) -> list[Object]:
        return read_pod_spec(self._find_workload()).get("volumes") or []


def _read_amount(container: Object, bound: str, resource: str) -> Any:
    return ((container.get("resources") or {}).get(bound) or {}).get(resource)
