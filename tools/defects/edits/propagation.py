"""Propagation graphs rebuilt from another root."""

from __future__ import annotations

from tools.defects.subject import Document, Subject, bare


def reroot(subject: Subject, spec: Document, root: str) -> None:
    """Make the propagation start at ``root`` and reach the same alerts."""
    truth = spec["groundTruth"]
    old = {*subject.causes, *(f"Fault/{use.name}" for use in subject.spec.faults)}
    alerting = [o for o in subject.alerting if bare(o) in old]
    edges = [e for e in truth.get("propagation", []) if e["to"] != root]
    if alerting:  # the old root alerts itself, so an edge must reach it
        edges = [{"from": root, "to": o, "because": "it is said to"} for o in alerting if o != root] + edges
    else:
        edges = [{**e, "from": root if e["from"] in old else e["from"]} for e in edges]
    truth["propagation"] = edges
    prune_propagation(spec)


def prune_propagation(spec: Document) -> None:
    """Drop the edges that lead to no alert that may fire."""
    alerts = [a for a in spec["expect"]["alerts"] if a.get("class") != "MustNotFire"]
    named = {a.get("entity") for a in alerts}
    edges = spec["groundTruth"].get("propagation", [])
    while loose := [e for e in edges if e["to"] not in named and all(o["from"] != e["to"] for o in edges)]:
        edges = [e for e in edges if e not in loose]
    spec["groundTruth"]["propagation"] = edges
