"""Identify fault types by what they do: a scenario's own type may be a copy of the catalogue's."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from msgspec import structs

from scenario_kit.catalog import Catalog
from scenario_kit.errors import AuthoringError
from scenario_kit.model import FaultType, Scenario


def canonicalise_fault_types(scenario: Scenario, path: Path, catalog: Catalog) -> Scenario:
    """Rename the scenario's own fault types to the equivalent ones of the catalogue.

    A new type is named by a hash of what it does, so that copies of it in two scenarios have the same name.
    """
    if not (path.parent / "faults").is_dir() and not scenario.spec.fault_types:
        return scenario
    catalog = catalog.extend(scenario.spec.fault_types)
    faults = tuple(structs.replace(use, type=_find_known_name(use.type, path, catalog)) for use in scenario.spec.faults)
    return structs.replace(scenario, spec=structs.replace(scenario.spec, faults=faults))


def _find_known_name(name: str, path: Path, catalog: Catalog) -> str:
    try:
        own = catalog.fault(name, path)
        if catalog.fault_path(name, path).parent.parent != path.parent / "faults":
            return name
    except AuthoringError:
        return name  # another rule reports it
    done = _describe_changes(own)
    same = (known for known in catalog.faults() if _does(catalog, known) == done)
    return next(same, f"own {hashlib.sha256(done.encode()).hexdigest()}")


def _does(catalog: Catalog, name: str) -> str:
    try:
        return _describe_changes(catalog.fault(name))
    except AuthoringError:
        return ""  # the catalogue's tests report it


def _describe_changes(fault: FaultType) -> str:
    """Return changes, undo, rollout and parameters as JSON, without descriptions."""
    known = fault.parameters.get("properties", {})
    parameters = {name: each.get("default") for name, each in known.items()}
    done = [fault.changes, fault.undo, fault.rollout.to_json(), parameters]
    return json.dumps(done, sort_keys=True, default=str)
