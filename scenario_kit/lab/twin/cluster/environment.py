"""The environment of a container at its start: values, references, and ``$(NAME)`` expansion."""

from __future__ import annotations

import base64
import binascii
import re
from collections import ChainMap
from collections.abc import Mapping
from typing import Final

from scenario_kit.lab.twin.cluster.cluster_view import View
from scenario_kit.lab.twin.cluster.service_links import list_service_links
from scenario_kit.model.base import Object

#: The maximum length of a string passed to a program on Linux (MAX_ARG_STRLEN), here in characters.
_MAX_STRING: Final = 128 * 1024
_REFERENCE = re.compile(r"\$(\$|\((?P<name>[A-Za-z_.][-\w.]*)\))")


def expand(text: str, known: Mapping[str, str]) -> str:
    """Replace ``$(NAME)`` by known values; unknown names are kept, and ``$$`` is an escaped dollar.

    The result is truncated to the maximum length: a few mutual references would grow without bound.
    """
    parts, length, end = list[str](), 0, 0
    for match in _REFERENCE.finditer(text):
        value = "$" if match[1] == "$" else known.get(match["name"], match[0])
        parts += (text[end : match.start()], value)
        length += match.start() - end + len(value)
        end = match.end()
        if length > _MAX_STRING:
            break
    return "".join([*parts, text[end:]])[:_MAX_STRING]


def decode(secret: Object) -> dict[str, str]:
    """Decode the data of a Secret as text, without values that are not text."""
    result: dict[str, str] = {}
    for key, value in (secret.get("data") or {}).items():
        try:
            result[key] = base64.b64decode(value, validate=True).decode()
        except (binascii.Error, UnicodeDecodeError):
            continue
    return result


def build_environment(view: View, pod: Object, container: Object) -> dict[str, str]:
    """Build the environment of a process that starts now. Later entries override earlier ones, and all override the
    variables that name Services, which they may refer to.

    References to missing objects or keys are skipped: a kubelet would not start the container.
    """
    links = list_service_links(view, pod)
    result: dict[str, str] = {}
    for source in container.get("envFrom") or ():
        prefix = source.get("prefix", "")
        result.update({prefix + key: value for key, value in _read_bulk(view, source).items()})
    for entry in container.get("env") or ():
        name = entry["name"]
        if entry.get("valueFrom"):
            value = _read_value_from(view, pod, container, entry["valueFrom"])
            if value is not None:
                result[name] = value
        else:
            result[name] = expand(entry.get("value") or "", ChainMap(result, links))
    return {**result, **{name: value for name, value in links.items() if name not in result}}


def _read_bulk(view: View, source: Object) -> dict[str, str]:
    if ref := source.get("configMapRef"):
        return dict((view.kind("ConfigMap").get(ref["name"]) or {}).get("data") or {})
    if ref := source.get("secretRef"):
        return decode(view.kind("Secret").get(ref["name"]) or {})
    return {}


def _read_value_from(view: View, pod: Object, container: Object, source: Object) -> str | None:
    if ref := source.get("configMapKeyRef"):
        data = (view.kind("ConfigMap").get(ref["name"]) or {}).get("data") or {}
        value = data.get(ref["key"])
        return None if value is None else str(value)
    if ref := source.get("secretKeyRef"):
        return decode(view.kind("Secret").get(ref["name"]) or {}).get(ref["key"])
    if ref := source.get("fieldRef"):
        return _read_field(pod, ref["fieldPath"])
    if ref := source.get("resourceFieldRef"):
        kind, _, name = ref["resource"].partition(".")
        value = ((container.get("resources") or {}).get(kind) or {}).get(name)
        return None if value is None else str(value)
    return None


def _read_field(pod: Object, path: str) -> str | None:
    match = re.fullmatch(r"metadata\.(labels|annotations)\['([^']+)'\]", path)
    if match:
        value = ((pod.get("metadata") or {}).get(match[1]) or {}).get(match[2])
        return None if value is None else str(value)
    node: object = pod
    for part in path.split("."):
        node = node.get(part) if isinstance(node, dict) else None
    return "" if node is None else str(node)
