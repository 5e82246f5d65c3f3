"""The quality-of-service class of a pod, from the requests and limits of its containers."""

from __future__ import annotations

from decimal import Decimal

from scenario_kit.model.base import Object

_SUFFIXES = {
    "n": Decimal("1e-9"), "u": Decimal("1e-6"), "m": Decimal("1e-3"), "k": Decimal("1e3"), "M": Decimal("1e6"),
    "G": Decimal("1e9"), "T": Decimal("1e12"), "P": Decimal("1e15"), "E": Decimal("1e18"),
    "Ki": Decimal(2**10), "Mi": Decimal(2**20), "Gi": Decimal(2**30), "Ti": Decimal(2**40), "Pi": Decimal(2**50),
    "Ei": Decimal(2**60),
}  # fmt: skip
_COMPUTE = ("cpu", "memory")


def parse_quantity(text: str | float) -> Decimal:
    """Parse a Kubernetes quantity in its base unit: ``250m`` is 0.25, ``1Ki`` is 1024."""
    text = str(text)
    for suffix in sorted(_SUFFIXES, key=len, reverse=True):
        if text.endswith(suffix):
            return Decimal(text[: -len(suffix)]) * _SUFFIXES[suffix]
    return Decimal(text)


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
    return {name: value for name in _COMPUTE if name in values and (value := parse_quantity(values[name])) > 0}
