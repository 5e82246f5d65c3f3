"""Operations on nodes: each touches one field or one taint, and its undo takes back exactly that.

The node controller writes taints of its own (a cordoned node gets one), so comparing whole nodes would mix its writes
with ours. Sending twice is the same as once: a crash may have left some of several nodes unwritten.
"""

from __future__ import annotations

from typing import Final

from scenario_kit.changes.node_placeholders import SEPARATOR
from scenario_kit.changes.scene import Scene
from scenario_kit.errors import AuthoringError, Conflict, EvictionRefused
from scenario_kit.model import Change, Object, Reference
from scenario_kit.model.authored.change import Taint
from scenario_kit.ports import Cluster

OPERATIONS: Final = ("cordon", "uncordon", "drain", "taint", "untaint")
_ATTEMPTS: Final = 5
_MIRROR: Final = "kubernetes.io/config.mirror"


def parse_references(text: str) -> list[Reference]:
    """Parse the nodes that the target of such an operation names; several are separated by commas.

    Raises:
        AuthoringError: it names something else than nodes.
    """
    if not text.startswith("Node/"):
        raise AuthoringError(f"'{text}' is no node", fix="target: Node/<name>")
    return [Reference.parse(f"Node/{name}") for name in text.removeprefix("Node/").split(SEPARATOR)]


def send(scene: Scene, change: Change) -> None:
    """Perform the operation on every node that the change names; of a drain, only the cordon (see ``evict``).

    Raises:
        AuthoringError: a node does not exist.
    """
    for ref in parse_references(change.target or ""):
        if scene.cluster.get(ref) is None:
            raise AuthoringError(f"node {ref.name} does not exist", fix="name a node of the cluster")
        if change.taint or change.untaint:
            _write_taint(scene.cluster, ref, change.taint or change.untaint, present=change.taint is not None)
            continue
        _write_cordon(scene.cluster, ref, on=change.uncordon is None)


def take_back(cluster: Cluster, change: Change, ref: Reference, prior: Object) -> None:
    """Give one node the field or the taint back that it had before; a node that is gone needs nothing."""
    if cluster.get(ref) is None:
        return
    if taint := change.taint or change.untaint:
        before = _find_same(_read_taints(prior), taint)
        _write_taint(cluster, ref, before or taint, present=before is not None)
    else:
        _write_cordon(cluster, ref, on=bool((prior.get("spec") or {}).get("unschedulable")))


def _write_cordon(cluster: Cluster, ref: Reference, *, on: bool) -> None:
    cluster.patch(ref, {"spec": {"unschedulable": True if on else None}})


def list_pods_to_evict(scene: Scene, change: Change) -> list[Object]:
    """List the app's pods that a drain sends away: all on its nodes, but those of DaemonSets and mirrors of static
    pods.
    """
    drained = {ref.name for ref in parse_references(change.target or "")}
    pods = [p for namespace in scene.everywhere for p in scene.cluster.list("Pod", namespace)]
    return [p for p in pods if p["spec"].get("nodeName") in drained and not _is_tied_to_node(p)]


def evict(scene: Scene, change: Change) -> str:
    """Ask for the eviction of every pod that a drain sends away; returns why some stay, empty where none does."""
    refused = []
    for pod in list_pods_to_evict(scene, change):
        if "deletionTimestamp" in pod["metadata"]:
            continue
        name = pod["metadata"]["name"]
        try:
            scene.cluster.evict(Reference("Pod", name, pod["metadata"]["namespace"]))
        except EvictionRefused as error:
            refused.append(f"Pod/{name}: {error.message}")
    return "; ".join(refused)


def is_draining(cluster: Cluster, change: Change) -> bool:
    """Check whether a node of a drain is still cordoned: who uncordons it has called the drain off."""
    nodes = [cluster.get(ref) for ref in parse_references(change.target or "")]
    return any((node.get("spec") or {}).get("unschedulable") for node in nodes if node is not None)


def _is_tied_to_node(pod: Object) -> bool:
    metadata = pod["metadata"]
    owners = {owner.get("kind") for owner in metadata.get("ownerReferences") or ()}
    return bool(owners & {"DaemonSet", "Node"}) or _MIRROR in (metadata.get("annotations") or {})


def _write_taint(cluster: Cluster, ref: Reference, taint: Taint | None, *, present: bool) -> None:
    """Write the list of taints as a whole; it must not have changed since it was read."""
    assert taint is not None
    for attempt in range(_ATTEMPTS):
        node = cluster.get(ref)
        if node is None:
            return
        kept = [t for t in _read_taints(node) if (t.get("key"), t.get("effect")) != (taint.key, taint.effect)]
        desired = [*kept, _serialize_taint(taint)] if present else kept
        if desired == _read_taints(node):
            return
        version = {"resourceVersion": node["metadata"]["resourceVersion"]}
        try:
            cluster.patch(ref, {"metadata": version, "spec": {"taints": desired or None}})
            return
        except Conflict:
            if attempt == _ATTEMPTS - 1:
                raise


def _read_taints(node: Object) -> list[Object]:
    return list((node.get("spec") or {}).get("taints") or ())


def _find_same(taints: list[Object], taint: Taint) -> Taint | None:
    for each in taints:
        if (each.get("key"), each.get("effect")) == (taint.key, taint.effect):
            return Taint(target=taint.target, key=taint.key, value=each.get("value", ""), effect=taint.effect)
    return None


def _serialize_taint(taint: Taint) -> Object:
    value = {"value": taint.value} if taint.value else {}
    return {"key": taint.key, **value, "effect": taint.effect}
