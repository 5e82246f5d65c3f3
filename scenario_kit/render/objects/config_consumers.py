"""Workloads that read a ConfigMap, Secret or PersistentVolumeClaim."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from scenario_kit.model import Object, Reference
from scenario_kit.model.kubernetes.pod_template import read_pod_spec
from scenario_kit.model.kubernetes.reference import WORKLOADS, resolve_namespace
from scenario_kit.render.objects.lookup import format_reference

#: By kind: the fields of volumes, projected sources and environment variables that name such an object.
_VOLUME: Final = {
    "ConfigMap": ("configMap", "name"),
    "Secret": ("secret", "secretName"),
    "PersistentVolumeClaim": ("persistentVolumeClaim", "claimName"),
}
_PROJECTED: Final = {"ConfigMap": "configMap", "Secret": "secret"}
_ENVIRONMENT: Final = {"ConfigMap": ("configMapRef", "configMapKeyRef"), "Secret": ("secretRef", "secretKeyRef")}


def find_readers(objects: Sequence[Object], ref: Reference, namespace: str, way: str = "") -> list[Reference]:
    """Find the workloads whose pods read an object, in the order of the app's manifests.

    Args:
        objects: the app's objects.
        ref: a ConfigMap, Secret or PersistentVolumeClaim; only pods of the same namespace can read it.
        namespace: the app's real namespace.
        way: ``volume`` or ``env``; empty for both.
    """
    ways = {"volume": _find_by_volume, "env": _find_by_environment}
    home = resolve_namespace(namespace, ref.namespace)
    chosen = [ways[way]] if way else list(ways.values())
    return [
        format_reference(obj, namespace)
        for obj in objects
        if obj["kind"] in WORKLOADS
        and obj["metadata"].get("namespace", home) == home
        and any(ref.name in read(read_pod_spec(obj), ref.kind) for read in chosen)
    ]


def _find_by_volume(spec: Mapping[str, Any], kind: str) -> Iterator[str]:
    if kind not in _VOLUME:
        return
    source, name = _VOLUME[kind]
    for volume in spec.get("volumes") or ():
        if source in volume:
            yield volume[source].get(name, "")
        for projected in (volume.get("projected") or {}).get("sources") or ():
            yield (projected.get(_PROJECTED.get(kind, "")) or {}).get("name", "")


def _find_by_environment(spec: Mapping[str, Any], kind: str) -> Iterator[str]:
    if kind not in _ENVIRONMENT:
        return
    whole, key = _ENVIRONMENT[kind]
    for container in (*(spec.get("initContainers") or ()), *(spec.get("containers") or ())):
        for source in container.get("envFrom") or ():
            yield (source.get(whole) or {}).get("name", "")
        for variable in container.get("env") or ():
            yield ((variable.get("valueFrom") or {}).get(key) or {}).get("name", "")
