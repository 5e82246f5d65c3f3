"""The escalation attempts, each as a scenario and as a fault that declares every exception and scope."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from scenario_kit.load.yaml.document import read_document
from scenario_kit.model import Object
from scenario_kit.schema.writable import EXCEPTIONS

_CATALOG = Path(__file__).parents[2] / "catalog"
_SCENARIO = _CATALOG / "scenarios/product-catalog-wrong-target-port/scenario.yaml"
_FAULT = _CATALOG / "faults/service-target-port-wrong/fault.yaml"


class Attempt(NamedTuple):
    """An attempt: changes, the code that refuses them, and the declaration that allows them (empty: none)."""

    name: str
    code: str
    changes: tuple[Object, ...]
    declared: str


@lru_cache(maxsize=1)
def load_attempts() -> tuple[Attempt, ...]:
    """Load all attempts."""
    documents = yaml.safe_load((Path(__file__).with_name("attempts.yaml")).read_text())
    return tuple(
        Attempt(d["name"], d["code"], tuple(d.get("changes") or [d["change"]]), d.get("declared", ""))
        for d in documents
    )


def build_scenario(changes: Sequence[Object], place: str = "decoys") -> Object:
    """Return a valid catalogue scenario with these changes as its first solution or decoy."""
    document: Any = yaml.safe_load(yaml.safe_dump(read_document(_SCENARIO).data))
    document["spec"].setdefault(place, [{"name": "attempt", "description": "What is tried"}])
    document["spec"][place][0]["changes"] = list(changes)
    return dict(document)


def build_fault(changes: Sequence[Object], **declared: Any) -> Object:
    """Return a valid catalogue fault with additional changes and these declarations."""
    document: Any = yaml.safe_load(yaml.safe_dump(read_document(_FAULT).data))
    document["name"] = "port-closed"
    document["changes"] += changes
    if commands := [change for change in changes if "run" in change]:
        document["undo"] = commands  # required of a fault that runs commands
    return {**document, **declared}


def list_declarations() -> Object:
    """Return every declaration that a fault can make."""
    said = [{"allow": name, "because": "It says so of everything"} for name in EXCEPTIONS]
    return {
        "exceptions": said,
        "scope": "Cluster",
        "requires": ["node-access", "kernel", "app:otel-demo", "real-data-plane"],
    }
