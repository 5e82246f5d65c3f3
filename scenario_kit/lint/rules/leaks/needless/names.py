"""Freely chosen names, which must be neutral."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from scenario_kit.lint.rules.leaks.needless.surroundings import Needless, ObjectSurroundings
from scenario_kit.lint.simulation.stages import list_containers, list_pod_specs
from scenario_kit.model import Object
from scenario_kit.model.json_document import Place, get_part, list_mappings

_TEMPLATE: Final = re.compile(r"{[{%]")
_DATA: Final = ("ConfigMap", "Secret")


def find_strange_names(
    obj: Object, was: Object | None, world: ObjectSurroundings, *, created: bool
) -> Iterator[Needless]:
    """Find new names that contain a word that is neither neutral nor used by the app.

    For objects that are known only in part, new names cannot be told from old ones.
    """
    if was is None and not created:
        return
    for keys, name, what in _list_chosen(obj, created=created):
        text = str(name)
        if (was is not None and get_part(was, keys) == name) or _TEMPLATE.search(text) or world.neutral(text):
            continue
        if was is not None and text in _list_former(was):
            continue
        reported = next(iter(world.strange(text)))
        yield Needless(keys, name, f"{what} '{name}': '{reported}' is not a neutral word")


def _list_chosen(obj: Object, *, created: bool) -> Iterator[tuple[Place, Any, str]]:
    metadata = obj["metadata"]
    if created:
        yield ("metadata", "name"), metadata["name"], "name"
        if text := metadata.get("generateName"):
            yield ("metadata", "generateName"), text, "name"
    for keys, container in list_containers(obj):
        yield (*keys, "name"), container.get("name", ""), "container"
        for i, port in list_mappings(container.get("ports")):
            yield (*keys, "ports", i, "name"), port.get("name", ""), "port"
    for keys, spec in list_pod_specs(obj):
        for i, volume in list_mappings(spec.get("volumes")):
            yield (*keys, "volumes", i, "name"), volume.get("name", ""), "volume"
        for i, alias in list_mappings(spec.get("hostAliases")):
            for j, host in enumerate(alias.get("hostnames") or ()):
                yield (*keys, "hostAliases", i, "hostnames", j), host, "host name"
        for field in ("hostname", "subdomain"):
            yield (*keys, field), spec.get(field) or "", "host name"
    for i, port in list_mappings(get_part(obj, ("spec", "ports"))):
        yield ("spec", "ports", i, "name"), port.get("name", ""), "port"
    for i, hook in list_mappings(obj.get("webhooks")):
        yield ("webhooks", i, "name"), hook.get("name", ""), "webhook"
    for i, taint in list_mappings(get_part(obj, ("spec", "taints"))):
        yield ("spec", "taints", i, "key"), taint.get("key", ""), "taint"
        yield ("spec", "taints", i, "value"), taint.get("value", ""), "taint"
    if obj["kind"] in _DATA:
        for field in ("data", "stringData", "binaryData"):
            yield from (((field, key), key, "key") for key in obj.get(field) or ())


def _list_former(was: Object) -> set[str]:
    """Return the names that the object had before, at any position."""
    found = {str(name) for _, name, _ in _list_chosen(was, created=False)}
    keys: Mapping[str, Any] = {**(was.get("data") or {}), **(was.get("binaryData") or {})}
    return found | set(keys)
