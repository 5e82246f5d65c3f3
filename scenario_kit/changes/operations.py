"""One function per operation: read what is there, say what will be touched, send the write.

``list_targets`` names the objects before anything is sent, so that a receipt can hold them. ``send`` performs the
write and
is called again after a crash only when nothing of it arrived. Both read the cluster and decide nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from scenario_kit.changes import chaos, nodes
from scenario_kit.changes.reach import demand
from scenario_kit.changes.scene import Scene
from scenario_kit.changes.three_way_restore import RESTARTED
from scenario_kit.changes.workloads import SCALABLE
from scenario_kit.errors import AuthoringError
from scenario_kit.model import Change, Object, Reference
from scenario_kit.model.kubernetes.reference import WORKLOADS
from scenario_kit.model.runtime.flag import set_variant
from scenario_kit.schema.writable import OWNED


def make_object_reference(obj: Object, namespace: str) -> Reference:
    """Make the reference of a manifest; namespaced kinds without a namespace belong to the app."""
    group = obj.get("apiVersion", "v1").rpartition("/")[0]
    metadata = obj["metadata"]
    return Reference(obj["kind"], metadata["name"], metadata.get("namespace", namespace), group)


def list_targets(scene: Scene, change: Change) -> list[Reference]:
    """List the objects that a change is going to write."""
    if manifest := change.create or change.apply or change.chaos:
        return [make_object_reference(manifest, scene.namespace)]
    if change.set_flag:
        if scene.app.flags is None:
            raise AuthoringError(f"{scene.app.name} has no feature flags", fix="use an app that declares `flags`")
        return [Reference("ConfigMap", scene.app.flags.config_map, scene.namespace)]
    if change.target is None:
        raise AuthoringError(
            f"the operation '{change.operation}' is not executed by this version", fix=f"one of: {', '.join(_SENDERS)}"
        )
    if change.operation in nodes.OPERATIONS:
        return nodes.parse_references(change.target)
    return [scene.reference(change.target)]


def send(scene: Scene, change: Change) -> None:
    """Perform the write of a change (all but restarts through zero, which take several).

    Raises:
        AuthoringError: it cannot be made, or its chaos leads out of the app.
    """
    demand(change, scene.reach, scene.namespace)
    handler = _SENDERS.get(change.operation)
    if handler is None:
        raise AuthoringError(
            f"the operation '{change.operation}' is not executed by this version", fix=f"one of: {', '.join(_SENDERS)}"
        )
    handler(scene, change)


def _create(scene: Scene, change: Change) -> None:
    assert change.create is not None
    scene.cluster.create(_place_manifest(change.create, scene.namespace))


def _apply(scene: Scene, change: Change) -> None:
    assert change.apply is not None
    scene.cluster.apply(_place_manifest(change.apply, scene.namespace))


def _place_manifest(manifest: Object, namespace: str) -> Object:
    metadata = {"namespace": namespace, **manifest["metadata"]}
    if manifest["kind"] == "Namespace":  # by this label we are allowed to write in it
        metadata["labels"] = {**(metadata.get("labels") or {}), **dict([OWNED])}
    return {**manifest, "metadata": metadata}


def _patch(scene: Scene, change: Change) -> None:
    assert change.patch is not None
    ref, _ = scene.existing(change.patch.target)
    scene.cluster.patch(ref, change.patch.patch, change.patch.type)


def _delete(scene: Scene, change: Change) -> None:
    assert change.delete is not None
    ref, _ = scene.existing(change.delete.target)
    scene.cluster.delete(ref)


def _scale(scene: Scene, change: Change) -> None:
    assert change.scale is not None
    ref, _ = scene.existing(change.scale.target)
    if ref.kind not in SCALABLE:
        raise AuthoringError(f"{change.scale.target} cannot be scaled", fix=f"name one of {', '.join(SCALABLE)}")
    scene.cluster.patch(ref, {"spec": {"replicas": change.scale.replicas}})


def _restart(scene: Scene, change: Change) -> None:
    assert change.restart is not None
    ref, live = scene.existing(change.restart.target)
    if ref.kind == "Pod":
        scene.cluster.delete(ref)
        return
    if ref.kind not in WORKLOADS:
        raise AuthoringError(f"{change.restart.target} cannot be restarted", fix=f"name one of {', '.join(WORKLOADS)}")
    annotations = {RESTARTED: _choose_restart_time(live, scene.now())}
    scene.cluster.patch(ref, {"spec": {"template": {"metadata": {"annotations": annotations}}}})


def _choose_restart_time(workload: Object, now: float) -> str:
    """Choose the time of a restart; never that of the last one, which would change nothing: virtual time may stand
    still.
    """
    at = datetime.fromtimestamp(now, UTC)
    last = ((workload["spec"]["template"].get("metadata") or {}).get("annotations") or {}).get(RESTARTED)
    with suppress(ValueError, TypeError):  # somebody else may have written anything there
        since = (datetime.fromisoformat(str(last)) - at).total_seconds()
        at += timedelta(microseconds=round(since * 1e6) + 1) if 0 <= since < 1 else timedelta()
    return at.isoformat(timespec="microseconds")


_REVISION: Final = "deployment.kubernetes.io/revision"


def _undo_rollout(scene: Scene, change: Change) -> None:
    assert change.undo_rollout is not None
    ref, workload = scene.existing(change.undo_rollout.target)
    uid = workload["metadata"]["uid"]
    owned = [
        r
        for r in scene.cluster.list("ReplicaSet", ref.namespace)
        if any(o.get("uid") == uid for o in r["metadata"].get("ownerReferences") or [])
    ]
    revisions = sorted(owned, key=lambda r: int((r["metadata"].get("annotations") or {}).get(_REVISION, 0)))
    if len(revisions) < 2:
        raise AuthoringError(f"{change.undo_rollout.target} has no earlier revision to return to")
    template = json.loads(json.dumps(revisions[-2]["spec"]["template"]))
    template["metadata"].get("labels", {}).pop("pod-template-hash", None)
    scene.cluster.patch(ref, [{"op": "replace", "path": "/spec/template", "value": template}], "Json")


def flag_document(scene: Scene) -> tuple[Reference, str, dict[str, Any]]:
    """Return the ConfigMap of the app's flags, its key, and the document in it."""
    store = scene.app.flags
    if store is None:
        raise AuthoringError(f"{scene.app.name} has no feature flags", fix="use an app that declares `flags`")
    ref, found = scene.existing(f"ConfigMap/{store.config_map}")
    return ref, store.key, json.loads((found.get("data") or {}).get(store.key, "{}"))


def _set_flag(scene: Scene, change: Change) -> None:
    assert change.set_flag is not None
    flag, variant, value = change.set_flag.flag, change.set_flag.variant, change.set_flag.value
    _, _, document = flag_document(scene)
    known = document.get("flags") or {}
    if flag not in known or (value is None and variant not in (known[flag].get("variants") or {})):
        choices = ", ".join(known.get(flag, {}).get("variants") or known)
        raise AuthoringError(
            f"{scene.app.name} has no flag '{flag}' with a variant '{variant}'", fix=f"one of: {choices}"
        )
    try:
        entry = set_variant(known[flag], variant, value)
    except ValueError as error:
        raise AuthoringError(f"flag '{flag}' cannot be set: {error}") from error
    put_flag(scene, flag, entry)


def put_flag(scene: Scene, flag: str, entry: Object) -> None:
    """Write the entry of one flag, then restart whatever reads the document only at its start."""
    ref, key, document = flag_document(scene)
    document.setdefault("flags", {})[flag] = entry
    scene.cluster.patch(ref, {"data": {key: json.dumps(document, indent=2)}})
    assert scene.app.flags is not None
    for workload in scene.app.flags.restart:
        _restart(scene, Change.from_json({"restart": {"target": workload}}))


def _apply_chaos(scene: Scene, change: Change) -> None:
    assert change.chaos is not None
    template = _place_manifest(change.chaos, scene.namespace)
    pods = chaos.choose_pods(scene.cluster, template, scene.namespace)
    if pods.empty:
        name = f"{template['kind']}/{template['metadata']['name']}"
        raise AuthoringError(*chaos.explain_empty_selection(name), fix="aim the fault at a workload that has pods")
    scene.cluster.create(chaos.bind(template, pods))


_SENDERS: Final[dict[str, Callable[[Scene, Change], None]]] = {
    "create": _create,
    "apply": _apply,
    "patch": _patch,
    "delete": _delete,
    "scale": _scale,
    "restart": _restart,
    "undoRollout": _undo_rollout,
    **dict.fromkeys(nodes.OPERATIONS, nodes.send),
    "setFlag": _set_flag,
    "chaos": _apply_chaos,
}
