"""Containers of a pod's spec, their commands, and the files that are mounted into them. Pure."""

from __future__ import annotations

from typing import Final, NamedTuple

from scenario_kit.model.base import Object

#: The sources of volumes with keys as files: kind, field of the volume, and field with the name.
_SOURCES: Final = (("ConfigMap", "configMap", "name"), ("Secret", "secret", "secretName"))


class MountedKey(NamedTuple):
    """The key of a ConfigMap or Secret that a container sees as a file."""

    kind: str
    name: str
    key: str


def find_container(spec: Object, name: str) -> Object:
    """Find a container or init container by name.

    Raises:
        StopIteration: there is none.
    """
    found: Object = next(c for c in [*spec["containers"], *(spec.get("initContainers") or ())] if c["name"] == name)
    return found


def is_sidecar(init_container: Object) -> bool:
    """Return whether an init container is a sidecar, which starts before the other containers and runs beside them."""
    return init_container.get("restartPolicy") == "Always"


def list_sidecars(spec: Object) -> list[Object]:
    """List the sidecars of a pod: its init containers that restart always."""
    return [container for container in spec.get("initContainers") or () if is_sidecar(container)]


def list_serving_containers(spec: Object) -> list[Object]:
    """List the containers that run as long as the pod does: its containers, and its sidecars."""
    return [*(spec.get("containers") or ()), *list_sidecars(spec)]


def list_words(container: Object) -> list[str]:
    """List the words of a container's command with its arguments."""
    return [str(word) for word in (*(container.get("command") or ()), *(container.get("args") or ()))]


def find_mount(container: Object, path: str) -> Object | None:
    """Find the innermost volume mount that contains a path."""
    mounts = [m for m in container.get("volumeMounts") or () if _contains(str(m.get("mountPath", "")), path)]
    return max(mounts, key=lambda m: len(m["mountPath"]), default=None)


def find_volume(spec: Object, container: Object, path: str) -> Object | None:
    """Find the volume of a pod that contains a path of one of its containers."""
    mount = find_mount(container, path)
    return next((v for v in spec.get("volumes") or () if mount and v.get("name") == mount.get("name")), None)


def find_mounted_key(spec: Object, container: Object, path: str) -> MountedKey | None:
    """Find what a file of a container is mounted from; None if that is not a volume of one ConfigMap or Secret."""
    mount, volume = find_mount(container, path), find_volume(spec, container, path)
    if mount is None or volume is None:
        return None
    inside = path.removeprefix(str(mount["mountPath"])).strip("/")
    file = "/".join(part for part in (str(mount.get("subPath") or ""), inside) if part)
    for kind, field, name in _SOURCES:
        if source := volume.get(field):
            items = source.get("items")
            key = file if not items else next((i["key"] for i in items if i.get("path") == file), "")
            return MountedKey(kind, source.get(name) or "", key)
    return None


def _contains(folder: str, path: str) -> bool:
    return bool(folder) and f"{path}/".startswith(folder.rstrip("/") + "/")
