"""Mounted files of a container, and JSON configuration files."""

from __future__ import annotations

import json
from collections.abc import Mapping

from scenario_kit.lab.twin.cluster.cluster_view import View
from scenario_kit.lab.twin.cluster.environment import decode
from scenario_kit.model.base import Object
from scenario_kit.model.json_document import flatten
from scenario_kit.model.kubernetes.pod_spec import find_mounted_key


def read_mounted(view: View, pod: Object, container: Object, path: str) -> str | None:
    """Return the current text of a file from a ConfigMap or Secret; None if no such file is mounted."""
    found = find_mounted_key(pod["spec"], container, path)
    if found is None:
        return None
    obj = view.kind(found.kind).get(found.name) or {}
    value = (decode(obj) if found.kind == "Secret" else obj.get("data") or {}).get(found.key)
    return None if value is None else str(value)


def parse_configuration(text: str) -> Mapping[str, str]:
    """Parse a JSON object into its strings and numbers; keys of nested objects are joined by dots.

    Other values are ignored; a document that is not an object yields nothing.
    """
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    values = flatten(document) if isinstance(document, dict) else ()
    return {key: str(v) for key, v in values if isinstance(v, str | int | float) and not isinstance(v, bool)}
