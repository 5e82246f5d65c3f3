"""Mounted files of a container, and JSON configuration files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from scenario_kit.lab.twin.cluster.cluster_view import View
from scenario_kit.lab.twin.cluster.environment import decode
from scenario_kit.model.base import Object


def read_mounted(view: View, pod: Object, container: Object, path: str) -> str | None:
    """Return the current text of a file from a ConfigMap or Secret; None if no such file is mounted."""
    mounts = [m for m in container.get("volumeMounts") or () if f"{path}/".startswith(m["mountPath"].rstrip("/") + "/")]
    mount = max(mounts, key=lambda m: len(m["mountPath"]), default=None)
    volume = next((v for v in pod["spec"].get("volumes") or () if mount and v["name"] == mount["name"]), None)
    if mount is None or volume is None:
        return None
    inside = path.removeprefix(mount["mountPath"]).strip("/")
    name = "/".join(part for part in (str(mount.get("subPath") or ""), inside) if part)
    if source := volume.get("configMap"):
        data = (view.kind("ConfigMap").get(source.get("name") or "") or {}).get("data") or {}
    elif source := volume.get("secret"):
        data = decode(view.kind("Secret").get(source.get("secretName") or "") or {})
    else:
        return None
    items = source.get("items")
    key = name if not items else next((i["key"] for i in items if i["path"] == name), "")
    value = data.get(key)
    return None if value is None else str(value)


def parse_configuration(text: str) -> Mapping[str, str]:
    """Parse a JSON object into its strings and numbers; keys of nested objects are joined by dots.

    Other values are ignored; a document that is not an object yields nothing.
    """
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return dict(_leaves(document, "")) if isinstance(document, dict) else {}


def _leaves(node: Mapping[str, object], above: str) -> Iterator[tuple[str, str]]:
    for key, value in node.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{above}{key}.")
        elif isinstance(value, str | int | float) and not isinstance(value, bool):
            yield f"{above}{key}", str(value)
