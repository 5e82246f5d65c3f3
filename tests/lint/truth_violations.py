"""Violations of the rules that compare a scenario with its rendered changes, its app's calls, and other faults."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Spec = dict[str, Any]


def experiment(kind: str = "PodChaos", **spec: Any) -> dict[str, Any]:
    """A chaos change on the pods of the cart."""
    labels = {"opentelemetry.io/name": "cart"}
    body = {"action": "pod-failure", "mode": "all", "selector": {"labelSelectors": labels}}
    body |= spec
    return {
        "chaos": {"apiVersion": "chaos-mesh.org/v1alpha1", "kind": kind, "metadata": {"name": "extra"}, "spec": body}
    }


def selects_nothing(spec: Spec) -> None:
    spec["decoys"][0]["changes"] = [experiment(selector={"labelSelectors": {"app": "payment-service"}})]


def alias_of_another_cause(spec: Spec) -> None:
    spec["faults"].append({"name": "cart-down", "type": "deployment-scaled-to-zero", "target": "Deployment/cart"})
    truth = spec["groundTruth"]
    truth["rootCauses"][0]["aliases"] = ["Deployment/cart"]
    truth["rootCauses"].append({"fault": "cart-down", "entity": "Deployment/cart"})
    truth["propagation"].append({"from": "Deployment/cart", "to": "Deployment/checkout"})
    spec["solutions"].append(
        {"name": "up", "fixes": ["cart-down"], "changes": [{"scale": {"target": "Deployment/cart", "replicas": 1}}]}
    )


def not_called(spec: Spec) -> None:
    """Payment calls nobody; an alert keeps the edge from being a loose end."""
    spec["groundTruth"]["propagation"].append({"from": "Deployment/recommendation", "to": "Deployment/payment"})
    spec["expect"]["alerts"].append({"name": "HighRequestErrorRate", "on": "Deployment/payment", "class": "MayFire"})


def same_field(spec: Spec) -> None:
    spec["faults"].append({**spec["faults"][0], "name": "again", "parameters": {"port": 8080, "targetPort": 9998}})
    spec["groundTruth"]["rootCauses"].append({"fault": "again", "entity": "Service/product-catalog"})
    spec["solutions"][0]["fixes"].append("again")


VIOLATIONS: dict[str, Callable[[Spec], Any]] = {
    "SK111": selects_nothing,
    "SK124": alias_of_another_cause,
    "SK125": not_called,
    "SK126": same_field,
}
