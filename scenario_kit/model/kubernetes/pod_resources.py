"""Resource requests of pods, as the scheduler counts them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from scenario_kit.model.base import Object
from scenario_kit.model.kubernetes.quantity import parse_quantity


def sum_pod_requests(spec: Object) -> dict[str, float]:
    """Return the total of each requested resource of a pod in base units (cores, bytes).

    It is the larger of two sums: containers and sidecars, or an init container and the sidecars before it; the
    runtime's overhead is added. A limit without a request counts as a request. Source: kubernetes,
    ``k8s.io/component-helpers/resource``, PodRequests.
    """
    lasting: Counter[str] = Counter()
    largest: dict[str, float] = {}
    for container in spec.get("initContainers") or ():
        own = _read_requests(container)
        if container.get("restartPolicy") == "Always":
            lasting.update(own)
            own = {}
        for name in {*own, *lasting}:
            largest[name] = max(largest.get(name, 0.0), lasting[name] + own.get(name, 0.0))
    for container in spec.get("containers") or ():
        lasting.update(_read_requests(container))
    overhead = {name: parse_quantity(amount) for name, amount in (spec.get("overhead") or {}).items()}
    names = {*lasting, *largest, *overhead}
    return {n: max(float(lasting[n]), largest.get(n, 0.0)) + overhead.get(n, 0.0) for n in sorted(names)}


def sum_pod_needs(spec: Object) -> dict[str, float]:
    """Return what a pod takes up of a node: its requests, and one pod."""
    return {"pods": 1.0, **sum_pod_requests(spec)}


def _read_requests(container: Object) -> dict[str, float]:
    resources = container.get("resources") or {}
    merged = {**(resources.get("limits") or {}), **(resources.get("requests") or {})}
    return {name: parse_quantity(amount) for name, amount in merged.items()}


def count_replicas(document: Any) -> int:
    """Return the maximum number of pods that an object, or a merge patch of it, requests, or 0."""
    spec = document.get("spec") if isinstance(document, Mapping) else None
    reported = (
        [spec.get(name) for name in ("replicas", "maxReplicas", "parallelism")] if isinstance(spec, Mapping) else ()
    )
    return max((n for n in reported if isinstance(n, int)), default=0)
