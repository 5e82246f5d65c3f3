"""Files in a container that come from ConfigMaps and Secrets."""

from __future__ import annotations

import base64

from scenario_kit.lab.kubelet.pod.context import ConfigLookup
from scenario_kit.model.base import Object
from scenario_kit.model.kubernetes.pod_spec import find_mounted_key


def read_file(pod: Object, container: Object, path: str, objects: ConfigLookup) -> str | None:
    """Return the current text of a mounted file; None if there is no such file in a mount.

    Files of the image and those written by programs are unknown.
    """
    found = find_mounted_key(pod["spec"], container, path)
    obj = objects.find(found.kind, found.name) if found is not None else None
    value = ((obj or {}).get("data") or {}).get(found.key) if found is not None else None
    if value is None or found is None or found.kind == "ConfigMap":
        return value
    return base64.b64decode(value).decode(errors="replace")
