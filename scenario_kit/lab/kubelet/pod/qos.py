"""The quality-of-service class of a pod, from the requests and limits of its containers."""

from __future__ import annotations

from decimal import Decimal

from scenario_kit.model.base import Object
from scenario_kit.model.kubernetes.quantity import parse_exact

_COMPUTE = ("cpu", "memory")


def determine_qos_class(pod: Object) -> str:
    """Determine Guaranteed, Burstable or BestEffort. Source: ``ComputePodQOS`` in Kubernetes."""
    requests: dict[str, Decimal] = {}
    limits: dict[str, Decimal] = {}
    guaranteed = True
    for container in [*pod["spec"]["containers"], *(pod["spec"].get("initContainers") or ())]:
        resources = container.get("resources") or {}
        own = {key: _keep_positive(resources.get(key) or {}) for key in ("requests", "limits")}
        for total, values in ((requests, own["requests"]), (limits, own["limits"])):
            for name, value in values.items():
                total[name] = total.get(name, Decimal(0)) + value
        guaranteed = guaranteed and all(name in own["limits"] for name in _COMPUTE)
    if not requests and not limits:
        return "BestEffort"
    if guaranteed and requests == limits:
        return "Guaranteed"
    return "Burstable"


def _keep_positive(values: Object) -> dict[str, Decimal]:
    return {name: value for name in _COMPUTE if name in values and (value := parse_exact(values[name])) > 0}
