"""Missing references of a pod's volumes and environment, with the kubelet's messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scenario_kit.lab.kubelet.image import host_paths
from scenario_kit.lab.kubelet.pod.context import ConfigLookup
from scenario_kit.model.base import Object

_SPELLING = {"ConfigMap": "configmap", "Secret": "secret"}


def find_missing_environment(container: Object, namespace: str, objects: ConfigLookup) -> str:
    """Find the first reason, in the kubelet's order, why the environment cannot be built; empty if it can."""
    for source in container.get("envFrom") or ():
        for kind, key in (("ConfigMap", "configMapRef"), ("Secret", "secretRef")):
            ref = source.get(key)
            if ref and not ref.get("optional") and objects.find(kind, ref["name"]) is None:
                return f'{_SPELLING[kind]} "{ref["name"]}" not found'
    for variable in container.get("env") or ():
        source = variable.get("valueFrom") or {}
        for kind, key in (("ConfigMap", "configMapKeyRef"), ("Secret", "secretKeyRef")):
            ref = source.get(key)
            if not ref or ref.get("optional"):
                continue
            found = objects.find(kind, ref["name"])
            if found is None:
                return f'{_SPELLING[kind]} "{ref["name"]}" not found'
            if ref["key"] not in _list_keys(found):
                return f"couldn't find key {ref['key']} in {kind} {namespace}/{ref['name']}"
    return ""


def find_missing_volumes(pod: Object, objects: ConfigLookup) -> list[str]:
    """Return one message per volume that cannot be mounted."""
    problems = []
    namespace = pod["metadata"]["namespace"]
    for volume in pod["spec"].get("volumes") or ():
        claim = volume.get("persistentVolumeClaim")
        if claim and objects.find("PersistentVolumeClaim", claim["claimName"]) is None:
            problems.append(
                f"Unable to attach or mount volumes: unmounted volumes=[{volume['name']}], unattached volumes=[], "
                f"failed to process volumes=[{volume['name']}]: error processing PVC {namespace}/{claim['claimName']}: "
                f'failed to fetch PVC from API server: persistentvolumeclaims "{claim["claimName"]}" not found'
            )
        if reason := host_paths.find_problem(volume.get("hostPath") or {}):
            problems.append(f'MountVolume.SetUp failed for volume "{volume["name"]}" : {reason}')
        for kind, name, items, optional in _list_sources(volume):
            reason = "" if optional else _find_missing_source(kind, name, items, objects)
            if reason:
                problems.append(f'MountVolume.SetUp failed for volume "{volume["name"]}" : {reason}')
                break
    return problems


def _list_sources(volume: Mapping[str, Any]) -> Iterator[tuple[str, str, list[Object], bool]]:
    if source := volume.get("configMap"):
        yield "ConfigMap", source["name"], source.get("items") or [], bool(source.get("optional"))
    if source := volume.get("secret"):
        yield "Secret", source["secretName"], source.get("items") or [], bool(source.get("optional"))
    sources = (volume.get("projected") or {}).get("sources") or ()
    if any("serviceAccountToken" in s for s in sources):
        return  # the service account's volume: its root CA is published shortly after the namespace
    for projected in sources:
        if source := projected.get("configMap"):
            yield "ConfigMap", source["name"], source.get("items") or [], bool(source.get("optional"))
        if source := projected.get("secret"):
            yield "Secret", source["name"], source.get("items") or [], bool(source.get("optional"))


def _find_missing_source(kind: str, name: str, items: list[Object], objects: ConfigLookup) -> str:
    found = objects.find(kind, name)
    if found is None:
        return f'{_SPELLING[kind]} "{name}" not found'
    keys = _list_keys(found)
    absent = next((item["key"] for item in items if item["key"] not in keys), None)
    if absent is None:
        return ""
    start = "configmap references non-existent config" if kind == "ConfigMap" else "references non-existent secret"
    return f"{start} key: {absent}"


def _list_keys(obj: Object) -> set[str]:
    return {*(obj.get("data") or {}), *(obj.get("binaryData") or {}), *(obj.get("stringData") or {})}
