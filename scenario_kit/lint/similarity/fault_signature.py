"""What a fault type does, whatever it is called: a type beside a scenario may be a copy of the catalogue's."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from msgspec import structs

from scenario_kit.catalog import Catalog
from scenario_kit.errors import AuthoringError
from scenario_kit.model import FaultType, Scenario


def call_by_mechanism(scenario: Scenario, path: Path, catalog: Catalog) -> Scenario:
    """Return the scenario with its own fault types called as the catalogue calls what does the same.

    One that does something new is named by what it does, so that the same beside two scenarios has one name.
    """
    if not (path.parent / "faults").is_dir():
        return scenario
    faults = tuple(structs.replace(use, type=_find_known_name(use.type, path, catalog)) for use in scenario.spec.faults)
    return structs.replace(scenario, spec=structs.replace(scenario.spec, faults=faults))


def _find_known_name(name: str, path: Path, catalog: Catalog) -> str:
    try:
        own = catalog.fault(name, path)
        if catalog.fault_path(name, path).parent.parent != path.parent / "faults":
            return name
    except AuthoringError:
        return name  # another rule says so
    done = _describe_changes(own)
    same = (known for known in catalog.faults() if _does(catalog, known) == done)
    return next(same, f"own {hashlib.sha256(done.encode()).hexdigest()}")


def _does(catalog: Catalog, name: str) -> str:
    try:
        return _describe_changes(catalog.fault(name))
    except AuthoringError:
        return ""  # the catalogue's own tests say so


def _describe_changes(fault: FaultType) -> str:
    """Describe changes and how they reach what runs, with the parameters that they are made of; no text that only
    tells.
    """
    known = fault.parameters.get("properties", {})
    parameters = {name: each.get("default") for name, each in known.items()}
    done = [fault.changes, fault.undo, fault.rollout.to_json(), parameters]
    return json.dumps(done, sort_keys=True, default=str)
