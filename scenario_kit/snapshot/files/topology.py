"""``topology_information/``: the topology in ITBench's three formats (docs/snapshot.md)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

from scenario_kit.model import App, Component, Object
from scenario_kit.model.kubernetes.reference import identify_object
from scenario_kit.model.kubernetes.timestamp import format_timestamp
from scenario_kit.snapshot.canonical.events import ShownEvent
from scenario_kit.snapshot.canonical.objects import ObjectState
from scenario_kit.snapshot.canonical.times import TimeShift

_ROOT: Final = ("K8Cluster", "", "cluster")
_STORES: Final = ("Store", "Queue", "Flags", "Platform")


class RecordedGraph(NamedTuple):
    """The objects at an instant as a graph, with the recorder's nodes and edges."""

    nodes: list[dict[str, Any]]
    edges: list[dict[str, Any]]


def build_recorded_graph(states: Iterable[ObjectState]) -> RecordedGraph:
    """Build the graph of all objects: containment in cluster and namespaces, ownership, and relations."""
    objects = [json.loads(state.text) for state in sorted(states)]
    nodes = [_build_node(_ROOT, "", "", {}, "")]
    edges: list[dict[str, Any]] = []
    known = set()
    for namespace in sorted({o["metadata"].get("namespace", "") for o in objects} - {""}):
        key = ("Namespace", "", namespace)
        nodes.append(_build_node(key, "", "v1", {}, ""))
        edges.append(_build_edge(_ROOT, key, "CONTAINS"))
    by_uid = {o["metadata"]["uid"]: identify_object(o) for o in objects}
    for obj in objects:
        group, _, version = obj["apiVersion"].rpartition("/")
        meta = obj["metadata"]
        nodes.append(_build_node(identify_object(obj), group, version, meta.get("labels") or {}, meta["uid"]))
        known.add(identify_object(obj))
        owners = [by_uid[o["uid"]] for o in meta.get("ownerReferences") or () if o["uid"] in by_uid]
        edges += [_build_edge(owner, identify_object(obj), "OWNS") for owner in owners]
        if not owners:
            space = meta.get("namespace", "")
            edges.append(_build_edge(("Namespace", "", space) if space else _ROOT, identify_object(obj), "CONTAINS"))
    edges += [_build_edge(*pair) for pair in _list_relations(objects) if {pair[0], pair[1]} <= known]
    return RecordedGraph(nodes, edges)


def build_operational_graph(states: Sequence[ObjectState], app: App) -> dict[str, Any]:
    """Build the operational graph for agents: containment, Services as aliases of workloads, and calls."""
    objects = [json.loads(state.text) for state in sorted(states)]
    kinds = ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Pod", "Service", "ConfigMap", "Node")
    chosen = [o for o in objects if o["kind"] in kinds]
    nodes = [
        {"id": _name(key), "kind": key[0], "name": key[2], "namespace": key[1]} for key in map(identify_object, chosen)
    ]
    by_uid = {o["metadata"]["uid"]: identify_object(o) for o in chosen}
    edges = [
        {"source": _name(by_uid[owner["uid"]]), "target": _name(identify_object(o)), "relation": "contains"}
        for o in chosen
        for owner in o["metadata"].get("ownerReferences") or ()
        if owner["uid"] in by_uid
    ]
    known = {node["id"] for node in nodes}
    for pod, needed, kind in _list_relations(objects):
        if kind in ("MOUNTS", "RUNS_ON"):
            edges.append({"source": _name(pod), "target": _name(needed), "relation": "depends_on"})
    for component in app.components:
        if component.service:
            workload = _spell_workload(component)
            edges.append({"source": f"Service/{component.service}", "target": workload, "relation": "is_alias"})
    for call in app.calls:
        caller, callee = app.component(call.caller), app.component(call.callee)
        if caller is not None and callee is not None:
            target = f"Service/{callee.service}" if callee.service else _spell_workload(callee)
            edges.append({"source": _spell_workload(caller), "target": target, "relation": "calls"})
    kept = {json.dumps(e, sort_keys=True): e for e in edges if {e["source"], e["target"]} <= known}
    return {"nodes": nodes, "edges": list(kept.values())}


def list_graph_events(events: Iterable[ShownEvent], shift: TimeShift, until: float) -> list[dict[str, Any]]:
    """List the events until a time with their nodes, in order of time."""
    found = []
    for event in events:
        about = event.body["involvedObject"]
        key = (about["kind"], about.get("namespace", ""), about.get("name", ""))
        if event.at <= until:
            found.append(
                {
                    "node": _identify(key), "kind": key[0], "namespace": key[1], "name": key[2],
                    "timestamp": format_timestamp(shift.shows(event.at)), "type": event.body.get("type", ""),
                    "reason": event.body["reason"], "message": event.body.get("message", ""),
                    "count": int(event.body.get("count") or 1),
                }
            )  # fmt: skip
    return sorted(found, key=lambda each: (each["timestamp"], each["kind"], each["name"], json.dumps(each)))


def build_app_graph(app: App) -> dict[str, Any]:
    """Build the static graph of an app: services, stores and dependencies."""
    languages = {name: each.dialect for name, each in app.twin.components.items()} if app.twin else {}
    services, stores = [], []
    for component in app.components:
        if component.role in _STORES:
            stores.append({"name": component.name, "type": component.role.lower(), "description": component.workload})
        else:
            service = {
                "name": component.name,
                "language": languages.get(component.name, ""),
                "role": component.role.lower(),
            }
            services.append(service)
    known = {c.name for c in app.components}
    calls = [(c.caller, c.callee, c.mode) for c in app.calls if {c.caller, c.callee} <= known]
    return {
        "name": app.name,
        "description": app.title or app.name,
        "components": {"services": services, "infrastructure": stores},
        "dependencies": [
            {"source": caller, "target": callee, "protocol": "async" if mode == "Async" else "sync"}
            for caller, callee, mode in calls
        ],
    }


def _list_relations(objects: Sequence[Object]) -> Iterable[tuple[tuple[str, str, str], tuple[str, str, str], str]]:
    """List relations other than ownership: Services select pods, pods run on nodes and mount objects."""
    pods = [o for o in objects if o["kind"] == "Pod"]
    for obj in objects:
        space = obj["metadata"].get("namespace", "")
        if obj["kind"] == "Service" and (selector := obj["spec"].get("selector")):
            for pod in pods:
                labels = pod["metadata"].get("labels") or {}
                if pod["metadata"]["namespace"] == space and selector.items() <= labels.items():
                    yield identify_object(obj), identify_object(pod), "SELECTS"
    for pod in pods:
        space = pod["metadata"]["namespace"]
        if node := pod["spec"].get("nodeName"):
            yield identify_object(pod), ("Node", "", node), "RUNS_ON"
        for volume in pod["spec"].get("volumes") or ():
            if name := (volume.get("configMap") or {}).get("name"):
                yield identify_object(pod), ("ConfigMap", space, name), "MOUNTS"
            if claim := (volume.get("persistentVolumeClaim") or {}).get("claimName"):
                yield identify_object(pod), ("PersistentVolumeClaim", space, claim), "MOUNTS"


def _name(key: tuple[str, str, str]) -> str:
    return f"{key[0]}/{key[2]}"


def _spell_workload(component: Component) -> str:
    return "/".join(component.workload.bare)


def _identify(key: tuple[str, str, str]) -> str:
    return hashlib.sha256(":".join(key).encode()).hexdigest()[:16]


def _build_node(
    key: tuple[str, str, str], group: str, version: str, labels: dict[str, str], uid: str
) -> dict[str, Any]:
    return {
        "id": _identify(key), "kind": key[0], "group": group, "version": version, "namespace": key[1], "name": key[2],
        "labels": json.dumps(labels, sort_keys=True), "uid": uid,
    }  # fmt: skip


def _build_edge(source: tuple[str, str, str], target: tuple[str, str, str], type: str) -> dict[str, Any]:
    verbose = f"{source[0]}_{type}_{target[0]}"
    return {"source": _identify(source), "target": _identify(target), "type": type, "verbose_type": verbose}
