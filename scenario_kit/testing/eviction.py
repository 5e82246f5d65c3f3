"""The eviction API's decision, from a pod and the disruption budgets of its namespace (``registry/core/pod``)."""

from __future__ import annotations

from collections.abc import Iterable

from scenario_kit.model import Object
from scenario_kit.model.kubernetes.label_selector import admits, parse_object

_VIOLATED = "Cannot evict pod as it would violate the pod's disruption budget. The disruption budget"
SEVERAL = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."


def find_refusal(pod: Object, budgets: Iterable[Object]) -> tuple[str, Object | None]:
    """Return why a pod cannot be evicted (empty if it can), and the budget to decrement, if any."""
    if _is_exempt(pod):
        return "", None
    found = [budget for budget in budgets if _selects(budget, pod)]
    if len(found) > 1:
        return SEVERAL, None
    if not found:
        return "", None
    budget, status = found[0], found[0].get("status") or {}
    name = budget["metadata"]["name"]
    if not _is_ready(pod) and _allows_unready_eviction(budget, status):
        return "", None
    if int(status.get("observedGeneration") or 0) < int(budget["metadata"].get("generation") or 0):
        return f"{_VIOLATED} {name} is still being processed by the server.", None
    if int(status.get("disruptionsAllowed") or 0) > 0:
        return "", budget
    desired, current = int(status.get("desiredHealthy") or 0), int(status.get("currentHealthy") or 0)
    return f"{_VIOLATED} {name} needs {desired} healthy pods and has {current} currently", None


def _is_exempt(pod: Object) -> bool:
    phase = (pod.get("status") or {}).get("phase")
    return phase in ("Succeeded", "Failed", "Pending") or "deletionTimestamp" in pod["metadata"]


def _is_ready(pod: Object) -> bool:
    conditions = (pod.get("status") or {}).get("conditions") or ()
    return any(c.get("type") == "Ready" and c.get("status") == "True" for c in conditions)


def _allows_unready_eviction(budget: Object, status: Object) -> bool:
    if budget["spec"].get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    desired = int(status.get("desiredHealthy") or 0)
    return int(status.get("currentHealthy") or 0) >= desired > 0


def _selects(budget: Object, pod: Object) -> bool:
    selector = budget["spec"].get("selector")
    labels = pod["metadata"].get("labels") or {}
    if selector is None:
        return False
    return admits(parse_object(selector), labels)
