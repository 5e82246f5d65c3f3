"""An authored incident with its truth, in the object names of its app's default namespace."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from scenario_kit.catalog import Catalog
from scenario_kit.errors import UsageError
from scenario_kit.exporters.gates import require_gates
from scenario_kit.load import find_scenario_files, load_scenario
from scenario_kit.model import Runbook, Scenario
from scenario_kit.model.authored.contamination_canary import CANARY, CANARY_KEY
from scenario_kit.model.authored.scenario import API_VERSION
from scenario_kit.render.faults.fault import fill_parameters
from scenario_kit.render.scenarios.control_twin import build_control_twin
from scenario_kit.render.scenarios.runbook import resolve
from scenario_kit.scoring.entities.truth import IncidentTruth
from scenario_kit.scoring.files.scenario_truth import build_scenario_truth


class ScenarioIncident(NamedTuple):
    """A resolved scenario. ``number`` identifies it in formats that number incidents; it is a hash of the name.

    ``families`` maps each fault type to its family; ``own_faults`` are fault types defined beside the scenario.
    ``parameters`` are those of each fault by its name, with defaults.
    """

    scenario: Scenario
    runbook: Runbook
    truth: IncidentTruth
    number: int
    folder: Path
    families: dict[str, str]
    own_faults: tuple[str, ...]
    parameters: dict[str, dict[str, Any]]

    @property
    def name(self) -> str:
        """The scenario's name."""
        return self.scenario.name


def read_scenarios(paths: Sequence[Path]) -> list[ScenarioIncident]:
    """Read scenarios and check their gates.

    Raises:
        UsageError: a path contains no scenario, or two share a name or number.
        AuthoringError: a scenario is invalid, or a gate failed.
    """
    catalog = Catalog()
    found = [_read_scenario(file, catalog) for file in find_scenario_files(list(paths))]
    seen: dict[int, str] = {}
    for each in found:
        if (other := seen.setdefault(each.number, each.name)) != each.name:
            raise UsageError(f"{each.name} and {other} would share a number", fix="export them into two folders")
    names = [each.name for each in found]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise UsageError(f"two scenarios are called {twice}", fix="rename one, or export one of them")
    return found


def build_scenario_object(scenario: Scenario) -> dict[str, Any]:
    """Build the Scenario object to apply to a cluster."""
    return {
        "apiVersion": API_VERSION,
        "kind": "Scenario",
        "metadata": {"name": scenario.name, "annotations": {CANARY_KEY: CANARY}},
        "spec": scenario.spec.to_json(),
    }


def build_control_object(scenario: Scenario) -> dict[str, Any]:
    """Build the Scenario object of the control twin, named ``<name>-control``."""
    built = build_scenario_object(build_control_twin(scenario))
    built["metadata"]["name"] = f"{scenario.name}-control"
    return built


def clear_namespace(truth: IncidentTruth) -> IncidentTruth:
    """Clear the namespaces of a truth: the app's namespace is chosen when the Scenario is applied."""
    groups = tuple(msgspec.structs.replace(group, namespace="") for group in truth.groups)
    return msgspec.structs.replace(truth, groups=groups)


def _read_scenario(file: Path, catalog: Catalog) -> ScenarioIncident:
    scenario = load_scenario(file).scenario
    spec = scenario.spec
    namespace = catalog.app(spec.app.name, spec.app.version).namespace
    runbook = resolve(scenario, catalog, namespace, beside=file.parent)
    truth = build_scenario_truth(scenario.name, spec, runbook.ground_truth, runbook.faults, namespace)
    require_gates(truth)
    number = int(hashlib.sha256(scenario.name.encode()).hexdigest(), 16) % 1_000_000
    types = list(dict.fromkeys(use.type for use in spec.faults))
    families = {name: catalog.fault(name, file.parent).family for name in types}
    parameters = {
        use.name: fill_parameters(
            catalog.fault(use.type, file.parent), use, runbook.app, runbook.objects, runbook.namespace
        )
        for use in spec.faults
    }
    known = {*catalog.faults()}
    own = tuple(name for name in types if name not in known)
    return ScenarioIncident(scenario, runbook, truth, number, file.parent, families, own, parameters)


def note_own_faults(incident: ScenarioIncident) -> list[str]:
    """Note the scenario's own fault types, which the operator needs in its catalogue."""
    if not incident.own_faults:
        return []
    names = ", ".join(incident.own_faults)
    return [f"{incident.name}: {names} is defined beside the scenario; add it to the operator's catalogue"]
