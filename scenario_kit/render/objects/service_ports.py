"""At which port of a Service the rest of an app knocks, told by the addresses that it is given."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from scenario_kit.model import Object
from scenario_kit.model.kubernetes.reference import WORKLOADS


def find_called_port(objects: Sequence[Object], service: Object) -> int:
    """Find the port of a Service by which most of an app's settings name it, its first port where none does.

    The first port alone says little: many Services list their metrics or a protocol between servers first, and no
    request of the app ever goes there.

    Args:
        objects: the app's objects; settings are the strings of its workloads and the texts of its ConfigMaps.
        service: one of them, with at least one port.
    """
    ports: list[int] = [entry["port"] for entry in service["spec"]["ports"]]
    name = re.escape(service["metadata"]["name"])
    address = re.compile(rf"(?<![\w.-]){name}(?:\.[a-z0-9.-]+)?:(\d{{1,5}})(?!\d)")
    named = Counter(
        int(port)
        for obj in objects
        if obj["kind"] in (*WORKLOADS, "ConfigMap")
        for text in _list_texts(obj.get("spec") or obj.get("data"))
        for port in address.findall(text)
    )
    return max(ports, key=lambda port: named[port])


def _list_texts(node: Any) -> Iterator[str]:
    if isinstance(node, str):
        yield node
    elif isinstance(node, dict):
        for value in node.values():
            yield from _list_texts(value)
    elif isinstance(node, list):
        for value in node:
            yield from _list_texts(value)
