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


def empty_decoy_selector(spec: Spec) -> None:
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


def add_uncalled_edge(spec: Spec) -> None:
    """Add an edge without a call; an alert at its end avoids other findings."""
    spec["groundTruth"]["propagation"].append({"from": "Deployment/recommendation", "to": "Deployment/payment"})
    spec["expect"]["alerts"].append(
        {"name": "HighRequestErrorRate", "entity": "Deployment/payment", "class": "MayFire"}
    )


def duplicate_fault(spec: Spec) -> None:
    spec["faults"].append({**spec["faults"][0], "name": "again", "parameters": {"port": 8080, "targetPort": 9998}})
    spec["groundTruth"]["rootCauses"].append({"fault": "again", "entity": "Service/product-catalog"})
    spec["solutions"][0]["fixes"].append("again")


def build_local_fault(kind: str = "PodChaos", **spec: Any) -> dict[str, Any]:
    """Build a complete fault type whose change is an experiment on the cart."""
    change = experiment(kind, **spec)
    change["chaos"]["metadata"]["name"] = "{{ neutral('pod') }}"
    ref = kind + ".chaos-mesh.org/{{ neutral('pod') }}"
    gone = [{"delete": {"target": ref}}]
    return {
        "name": "own",
        "version": 1,
        "title": "Its own fault",
        "description": "Breaks the cart.",
        "targets": ["Deployment"],
        "changes": [change],
        "effect": [{"endpoints": {"service": "Service/cart", "atMost": 0}}],
        "undone": [{"object": {"ref": ref, "exists": False}}],
        "entities": [{"ref": ref, "generated": True, "fix": gone}, {"ref": "{{ target }}", "role": "Victim"}],
        "mitigation": "Native",
        "persistence": "Workload",
        "solutions": [{"name": "remove", "description": "Delete it", "changes": gone}],
        "references": ["https://chaos-mesh.org/docs/"],
    }


def distractor(spec: Spec, target: str = "Deployment/cart") -> None:
    """A harmless change, by which something gets no limits any more."""
    spec["faults"].append({"name": "tuned", "type": "resource-limits-removed", "target": target, "role": "Distractor"})


def count_alert_after_distractor(spec: Spec) -> None:
    distractor(spec)
    spec["expect"]["alerts"][0]["after"] = "tuned"


def replace_solution_by_removal(spec: Spec) -> None:
    spec["solutions"][0]["changes"] = [{"removeFault": {"fault": "catalog-port"}}]


def add_pod_kill(spec: Spec) -> None:
    """Add a pod kill, which no repair can end."""
    spec["faults"].append({"name": "once", "type": "pod-kill", "target": "Deployment/ad"})
    spec["groundTruth"]["rootCauses"].append({"fault": "once"})
    spec["solutions"][0]["fixes"].append("once")


def build_query(expr: str) -> dict[str, Any]:
    return {"query": {"expr": expr, "is": "AtLeast", "value": 1}, "withinSeconds": 60}


def duplicate_solution(spec: Spec) -> None:
    spec["solutions"].append({**spec["solutions"][0], "name": "again"})


def add_unrelated_flag_change(spec: Spec) -> None:
    spec["solutions"][0]["changes"].append({"setFlag": {"flag": "paymentFailure", "variant": "100%"}})


def build_masking_fault(fault: dict[str, Any]) -> dict[str, Any]:
    """The fault, which notes something at its target and calls that its cause; to repair it gives more memory."""
    note = {"patch": {"target": "{{ target }}", "type": "Merge", "patch": {"metadata": {"annotations": {"note": "x"}}}}}
    memory = {"name": "cart", "resources": {"limits": {"memory": "200Mi"}}}
    more = {"spec": {"template": {"spec": {"containers": [memory]}}}}
    fix = [{"patch": {"target": "{{ target }}", "type": "Strategic", "patch": more}}]
    entities = [fault["entities"][0], {"ref": "{{ target }}", "role": "Cause", "fix": fix}]
    return {**fault, "changes": [*fault["changes"], note], "entities": entities}


def duplicate_edge(spec: Spec) -> None:
    edges = spec["groundTruth"]["propagation"]
    edges.append({**edges[0], "because": "the same once more, in other words"})


def route_edge_over_node(spec: Spec) -> None:
    """The last edge takes a way over a node."""
    edges = spec["groundTruth"]["propagation"]
    middle = {"from": "Node/worker-1", "to": edges[-1]["to"], "because": "its pods get less of the processor"}
    edges[-1:] = [{**edges[-1], "to": "Node/worker-1"}, middle]


def drop_fields(document: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: part for name, part in document.items() if name not in names}


VIOLATIONS: dict[str, Callable[[Spec], Any]] = {
    "SK111": empty_decoy_selector,
    "SK118": lambda s: s["expect"].update(checks=[build_query('sum(up{pod=~"frontend.*"})')]),
    "SK119": lambda s: s["expect"].update(checks=[build_query('sum(up{service_name="carts-and-more"})')]),
    "SK124": alias_of_another_cause,
    "SK125": add_uncalled_edge,
    "SK126": duplicate_fault,
    "SK127": lambda s: s["decoys"][0].update(changes=[experiment(mode="al")]),
    "SK141": lambda s: s["expect"].update(checks=[build_query("sum(rate(calls_total[1m])) > bool -1")]),
    "SK225": lambda s: s["groundTruth"].update(causesJoin="Conjunctive"),
    "SK410": count_alert_after_distractor,
    "SK413": replace_solution_by_removal,
    "SK414": add_pod_kill,
    "SK417": duplicate_solution,
    "SK434": add_unrelated_flag_change,
    "SK454": route_edge_over_node,
    "SK455": duplicate_edge,
    "SK456": lambda s: s["groundTruth"]["propagation"][0].update(because="x"),
}
#: An entity whose field no experiment writes.
WRONG_FIELD = {"ref": "{{ target }}", "role": "Victim", "field": "spec.replicas"}
#: Faults of a scenario's own, each wrong in one way that the scenario shows.
FAULTS: dict[str, dict[str, Any]] = {
    "SK128": build_local_fault(duration="55s"),
    "SK129": drop_fields(build_local_fault(), "undone"),
    "SK428": build_masking_fault(build_local_fault()),
    "SK435": {**build_local_fault(), "persistence": "SelfHeals"},
    "SK453": build_local_fault() | {"entities": [build_local_fault()["entities"][0], WRONG_FIELD]},
}


def build_pack_rule(**more: Any) -> dict[str, Any]:
    """A complete alert rule."""
    return {
        "alert": "CartFails",
        "expr": 'sum by (service_name) (rate(traces_span_metrics_calls_total{service_name="cart"}[2m])) > 5',
        "for": "3m",
        "labels": {"severity": "critical"},
        "annotations": {"summary": "the cart fails", "description": "Something is wrong with the cart."},
        **more,
    }


#: Alert packs, each wrong in one way; that of SK310 comes without tests.
PACKS: dict[str, list[dict[str, Any]]] = {
    "SK309": [build_pack_rule(expr='sum(rate(traces_span_metrics_calls_total{service_name!~"cart*"}[2m])) > 5')],
    "SK310": [build_pack_rule()],
    "SK311": [
        build_pack_rule(annotations={"summary": "the cart fails", "description": "More than 20 calls a second."})
    ],
    "SK312": [
        build_pack_rule(expr='sum(rate(traces_span_metrics_calls_total{status_code="STATUS_CODE_ERROR"}[2m])) > 0')
    ],
    "SK315": [build_pack_rule(expr="sum by (service_name) (rate(traces_span_metrics_call_total[2m])) > 5")],
    "SK313": [build_pack_rule(), build_pack_rule(expr="sum(rate(traces_span_metrics_calls_total[2m])) > 9")],
}
#: Rules with violations that no scenario of the catalogue can be changed into.
ELSEWHERE = {*FAULTS, *PACKS} - set(VIOLATIONS)
