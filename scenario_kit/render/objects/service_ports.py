"""The port of a Service that an app uses, determined from the addresses in its settings."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from scenario_kit.model import Object
from scenario_kit.model.json_document import list_texts
from scenario_kit.model.kubernetes.reference import WORKLOADS


def find_called_port(objects: Sequence[Object], service: Object) -> int:
    """Return the Service port that most of an app's settings use, by default the first.

    The first port alone is unreliable: many Services list a metrics or peer port first, which the app never calls.

    Args:
        objects: the app's objects; settings are strings in its workloads and ConfigMaps.
        service: one of them, with at least one port.
    """
    ports: list[int] = [entry["port"] for entry in service["spec"]["ports"]]
    name = re.escape(service["metadata"]["name"])
    address = re.compile(rf"(?<![\w.-]){name}(?:\.[a-z0-9.-]+)?:(\d{{1,5}})(?!\d)")
    named = Counter(
        int(port)
        for obj in objects
        if obj["kind"] in (*WORKLOADS, "ConfigMap")
        for text in list_texts(obj.get("spec") or obj.get("data"))
        for port in address.findall(text)
    )
    return max(ports, key=lambda port: named[port])
