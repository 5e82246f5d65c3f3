"""A fault that changes something without breaking anything: only a trial can expose false claims about it."""

from __future__ import annotations

from typing import Any

from tools.defects.subject import Document, Subject

NAME = "replica-added"


def build_type() -> Document:
    """Return a complete fault type that adds one replica to a workload."""
    back = [{"scale": {"target": "{{ target }}", "replicas": "{{ object.spec.replicas | default(1) }}"}}]
    count = 'count(kube_pod_info{pod=~"{{ target.name }}-[a-z0-9]+-[a-z0-9]+"})'
    more, fewer = "{{ (object.spec.replicas | default(1)) + 1 }}", "{{ object.spec.replicas | default(1) }}"
    return {
        "name": NAME,
        "version": 1,
        "title": "A workload gets a replica more",
        "description": "Somebody gives the workload one more replica than it needs, and it uses it.",
        "targets": ["Deployment"],
        "parameters": {"type": "object", "additionalProperties": False, "properties": {}},
        "changes": [{"scale": {"target": "{{ target }}", "replicas": more}}],
        "effect": [{"query": {"expr": count, "is": "AtLeast", "value": more}, "withinSeconds": 180}],
        "undone": [{"object": {"ref": "{{ target }}", "path": "spec.replicas", "equals": fewer}}],
        "entities": [{"ref": "{{ target }}", "field": "spec.replicas", "fix": back}],
        "mitigation": "Native",
        "persistence": "Object",
        "solutions": [{"name": "one-less", "description": "Take it away again", "changes": back}],
        "references": ["https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#scaling-a-deployment"],
    }


def add_inert(subject: Subject, spec: Document, target: str) -> dict[str, Document]:
    """Add such a fault on ``target``, with label, solution and an edge to the first alert; return its files."""
    spec["faults"].append({"name": "more", "type": NAME, "target": target})
    truth = spec["groundTruth"]
    truth["rootCauses"] = [*truth.get("rootCauses", []), {"fault": "more", "entity": target}]
    victims = [o for o in subject.alerting if o not in subject.causes]
    edge = {"from": target, "to": next(iter(victims), ""), "because": "it is said to"}
    if victims and target not in [e["from"] for e in truth.get("propagation", [])]:
        truth["propagation"] = [*truth.get("propagation", []), edge]
    spec["solutions"] = [
        *spec.get("solutions", []),
        {"name": "one-less", "fixes": ["more"], "changes": remove_replica(subject, target)},
    ]
    return list_files()


def remove_replica(subject: Subject, target: str) -> list[dict[str, Any]]:
    """Return the changes that remove the replica again."""
    return [{"scale": {"target": target, "replicas": subject.objects[target]["spec"].get("replicas", 1)}}]


def list_files() -> dict[str, Document]:
    """Return the fault type's file, by path next to the scenario."""
    return {f"faults/{NAME}/fault.yaml": build_type()}


#: An annotation that a platform reads, and that affects no symptom.
READ = "cluster-autoscaler.kubernetes.io/safe-to-evict"


def annotate(target: str, value: str | None, key: str = READ) -> dict[str, Any]:
    """Return the change that sets or, for None, removes an annotation; the value of ``READ`` is always "true"."""
    said = "true" if key == READ and value is not None else value
    return {"patch": {"target": target, "type": "Merge", "patch": {"metadata": {"annotations": {key: said}}}}}
