"""Files in a container: those from ConfigMaps and Secrets, and in-memory volumes."""

from __future__ import annotations

import base64

from scenario_kit.lab.kubelet.pod.context import ConfigLookup
from scenario_kit.model.base import Object


def read_file(pod: Object, container: Object, path: str, objects: ConfigLookup) -> str | None:
    """Return the current text of a mounted file; None if there is no such file in a mount.

    Files of the image and those written by programs are unknown.
    """
    mount = find_mount(container, path)
    volume = next((v for v in pod["spec"].get("volumes") or () if mount and v["name"] == mount["name"]), None)
    if mount is None or volume is None:
        return None
    inside = path.removeprefix(mount["mountPath"]).strip("/")
    name = "/".join(part for part in (mount.get("subPath", ""), inside) if part)
    if source := volume.get("configMap"):
        found = objects.find("ConfigMap", source["name"])
        return _read_text(found, _find_key(source, name), encoded=False)
    if source := volume.get("secret"):
        found = objects.find("Secret", source["secretName"])
        return _read_text(found, _find_key(source, name), encoded=True)
    return None


def find_mount(container: Object, path: str) -> Object | None:
    """Find the innermost volume mount that contains a path."""
    mounts = [m for m in container.get("volumeMounts") or () if f"{path}/".startswith(m["mountPath"].rstrip("/") + "/")]
    return max(mounts, key=lambda m: len(m["mountPath"]), default=None)


def _find_key(source: Object, name: str) -> str:
    items = source.get("items")
    return name if not items else next((i["key"] for i in items if i["path"] == name), "")


def _read_text(found: Object | None, key: str, *, encoded: bool) -> str | None:
    value = ((found or {}).get("data") or {}).get(key)
    if value is None or not encoded:
        return value
    return base64.b64decode(value).decode(errors="replace")
