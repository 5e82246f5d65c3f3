"""Environment variables and mounted files of containers, resolved from rendered objects."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from scenario_kit.model import Object
from scenario_kit.model.kubernetes.pod_spec import find_mounted_key

_REFERENCE: Final = re.compile(r"\$\(([A-Za-z_][\w.-]*)\)")
#: Value of an unresolvable reference; the kubelet does not start such a container.
MISSING: Final = "\0missing"


class Contents:
    """The ConfigMaps and Secrets of one namespace."""

    def __init__(self, objects: Sequence[Object], namespace: str, home: str) -> None:
        self._data = {
            (obj["kind"], obj["metadata"]["name"]): _read_data(obj)
            for obj in objects
            if obj["kind"] in ("ConfigMap", "Secret") and obj["metadata"].get("namespace", namespace) == home
        }

    def value(self, kind: str, name: str, key: str) -> str | None:
        """Return the value of a key; None if it is missing."""
        return self._data.get((kind, name), {}).get(key)

    def environment(self, container: Object, labels: Mapping[str, Any]) -> dict[str, str]:
        """Return the environment of a container, as far as it is known without a cluster."""
        found: dict[str, str] = {}
        for source in container.get("envFrom") or ():
            for kind, key in (("ConfigMap", "configMapRef"), ("Secret", "secretRef")):
                if ref := source.get(key):
                    data = self._data.get((kind, ref.get("name", "")))
                    if data is None and not ref.get("optional"):
                        found[f"{MISSING} {ref.get('name')}"] = MISSING
                    found |= {f"{source.get('prefix', '')}{k}": v for k, v in (data or {}).items()}
        for entry in container.get("env") or ():
            name = str(entry.get("name"))
            if source := entry.get("valueFrom"):
                value = self._from(source, labels)
                if value is not None:
                    found[name] = value
            else:
                found[name] = expand_variables(str(entry.get("value") or ""), found)
        return found

    def _from(self, source: Mapping[str, Any], labels: Mapping[str, Any]) -> str | None:
        for kind, key in (("ConfigMap", "configMapKeyRef"), ("Secret", "secretKeyRef")):
            if ref := source.get(key):
                value = self.value(kind, ref.get("name", ""), ref.get("key", ""))
                return value if value is not None or ref.get("optional") else MISSING
        path = str((source.get("fieldRef") or {}).get("fieldPath", ""))
        label = re.fullmatch(r"metadata\.labels\['([^']+)'\]", path)
        return str(labels.get(label[1], "")) if label else repr(sorted(source.items()))

    def absent(self, volumes: Sequence[Object]) -> list[str]:
        """Return the missing objects and keys that volumes refer to; the kubelet cannot mount them."""
        return [found for volume in volumes for found in self._absent(volume)]

    def _absent(self, volume: Object) -> Iterator[str]:
        for source in (volume, *((volume.get("projected") or {}).get("sources") or ())):
            for kind, field, name in (("ConfigMap", "configMap", "name"), ("Secret", "secret", "secretName")):
                ref = source.get(field)
                if not isinstance(ref, Mapping) or ref.get("optional"):
                    continue
                called = ref.get(name) or ref.get("name", "")
                data = self._data.get((kind, called))
                if data is None:
                    yield f"{kind}/{called}"
                else:
                    yield from (f"{kind}/{called} {i['key']}" for i in ref.get("items") or () if i["key"] not in data)

    def file(self, spec: Object, container: Object, path: str) -> str | None:
        """Return the text of a mounted file; None if the path is not mounted."""
        found = find_mounted_key(spec, container, path)
        return self.value(*found) if found is not None else None


def expand_variables(text: str, known: Mapping[str, str]) -> str:
    """Replace ``$(NAME)`` with known values."""
    return _REFERENCE.sub(lambda match: known.get(match[1], match[0]), text)


def _read_data(obj: Object) -> dict[str, str]:
    found = {str(k): str(v) for k, v in (obj.get("binaryData") or {}).items()}
    for key, value in (obj.get("data") or {}).items():
        found[str(key)] = _decode(str(value)) if obj["kind"] == "Secret" else str(value)
    return {**found, **{str(k): str(v) for k, v in (obj.get("stringData") or {}).items()}}


def _decode(text: str) -> str:
    try:
        return base64.b64decode(text, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return text
