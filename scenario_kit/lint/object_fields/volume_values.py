"""Judge the volumes of a pod, where its containers mount them, and the paths within them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from scenario_kit.lint.object_fields.mistake import FieldMistake
from scenario_kit.lint.object_fields.value_syntax import report
from scenario_kit.model.json_document import Place, list_mappings

_INSIDE: Final = "a path inside the volume, without '..'"
#: Volumes that write entries to paths, and sources of a projected one that do.
_WRITERS: Final = ("configMap", "secret", "downwardAPI")


def find_wrong_paths(spec: Mapping[str, Any], place: Place) -> Iterator[FieldMistake]:
    """Yield the paths of a pod's volumes that the API server refuses."""
    for i, volume in list_mappings(spec.get("volumes")):
        where = (*place, "volumes", i)
        host = volume.get("hostPath")
        path = host.get("path") if isinstance(host, Mapping) else None
        if isinstance(path, str) and _has_back_step(path):
            must = f"is {path}, which goes back with '..'"
            yield report((*where, "hostPath", "path"), must, path, "a path of the node without '..'")
        yield from _judge_entries(volume, where)
        projected = volume.get("projected")
        sources = projected.get("sources") if isinstance(projected, Mapping) else None
        for j, source in list_mappings(sources):
            yield from _judge_entries(source, (*where, "projected", "sources", j))


def find_wrong_mounts(container: Mapping[str, Any], volumes: set[str], place: Place) -> Iterator[FieldMistake]:
    """Yield what the API server refuses of a container's mounts of these volumes."""
    seen: set[str] = set()
    for i, mount in list_mappings(container.get("volumeMounts")):
        where = (*place, "volumeMounts", i)
        name, path = str(mount.get("name")), str(mount.get("mountPath"))
        if name not in volumes:
            known = " | ".join(sorted(volumes)) or "no volumes"
            must = f"is '{name}', but the pod has no such volume"
            yield report((*where, "name"), must, name, known, "name a volume of the pod, or add one")
        if path in seen:
            must = f"is {path}, where another volume is mounted"
            yield report((*where, "mountPath"), must, path, "a path of its own for each volume")
        seen.add(path)
        yield from _judge_part(mount, where)


def _judge_part(mount: Mapping[str, Any], place: Place) -> Iterator[FieldMistake]:
    for field in ("subPath", "subPathExpr"):
        path = mount.get(field)
        if not isinstance(path, str):
            continue
        if path.startswith("/"):
            yield report((*place, field), f"is {path}, which begins with /", path, _INSIDE)
        elif _has_back_step(path):
            yield report((*place, field), f"is {path}, which leads out of the volume", path, _INSIDE)
    if mount.get("subPath") and mount.get("subPathExpr"):
        observed = f"{mount['subPath']} and {mount['subPathExpr']}"
        must = "stands beside `subPath`, which names the part as well"
        yield report((*place, "subPathExpr"), must, observed, "one of them", "leave one of them out")


def _judge_entries(volume: Mapping[str, Any], place: Place) -> Iterator[FieldMistake]:
    for kind in _WRITERS:
        source = volume.get(kind)
        for i, item in list_mappings(source.get("items") if isinstance(source, Mapping) else None):
            path = item.get("path")
            if not isinstance(path, str):
                continue
            if path.startswith(("/", "..")) or _has_back_step(path):
                must = f"is {path}, which leads out of the volume" if _has_back_step(path) else f"is {path}"
                yield report((*place, kind, "items", i, "path"), must, path, "a path that begins with neither / nor ..")


def _has_back_step(path: str) -> bool:
    return ".." in path.split("/")
