"""An incident as it is authored, with its truth in the names that its app has in its own namespace."""

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
from scenario_kit.render.scenarios.control_twin import build_control_twin
from scenario_kit.render.scenarios.runbook import resolve
from scenario_kit.scoring.entities.truth import IncidentTruth
from scenario_kit.scoring.files.scenario_truth import build_scenario_truth


class ScenarioIncident(NamedTuple):
    """A scenario, resolved. ``number`` is for formats whose incidents have numbers; it follows from the name.

    ``families`` are those of its types of faults; ``own_faults`` are types that lie beside the scenario.
    """

    scenario: Scenario
    runbook: Runbook
    truth: IncidentTruth
    number: int
    folder: Path
    families: dict[str, str]
    own_faults: tuple[str, ...]

    @property
    def name(self) -> str:
        """The name of the scenario."""
        return self.scenario.name


def read_scenarios(paths: Sequence[Path]) -> list[ScenarioIncident]:
    """Read scenarios, and require that their gates hold.

    Raises:
        UsageError: a path holds no scenario, or two have one name or number.
        AuthoringError: one of them has mistakes, or a gate does not hold.
    """
    catalog = Catalog()
    found = [_read(file, catalog) for file in find_scenario_files(list(paths))]
    seen: dict[int, str] = {}
    for each in found:
        if (other := seen.setdefault(each.number, each.name)) != each.name:
            raise UsageError(f"{each.name} and {other} would have one number", fix="export them into two folders")
    names = [each.name for each in found]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise UsageError(f"two scenarios are called {twice}", fix="rename one, or export one of them")
    return found


def build_scenario_object(scenario: Scenario) -> dict[str, Any]:
    """Build the object that is applied to a cluster."""
    return {
        "apiVersion": API_VERSION,
        "kind": "Scenario",
        "metadata": {"name": scenario.name, "annotations": {CANARY_KEY: CANARY}},
        "spec": scenario.spec.to_json(),
    }


def build_control_object(scenario: Scenario) -> dict[str, Any]:
    """Build the object of the control twin, which has a name of its own."""
    built = build_scenario_object(build_control_twin(scenario))
    built["metadata"]["name"] = f"{scenario.name}-control"
    return built


def forget_namespace(truth: IncidentTruth) -> IncidentTruth:
    """Return a truth that fits in any namespace: where the app runs is decided when the Scenario is applied."""
    groups = tuple(msgspec.structs.replace(group, namespace="") for group in truth.groups)
    return msgspec.structs.replace(truth, groups=groups)


def _read(file: Path, catalog: Catalog) -> ScenarioIncident:
    scenario = load_scenario(file).scenario
    spec = scenario.spec
    namespace = catalog.app(spec.app.name, spec.app.version).namespace
    runbook = resolve(scenario, catalog, namespace, beside=file.parent)
    truth = build_scenario_truth(scenario.name, spec, runbook.ground_truth, runbook.faults, namespace)
    require_gates(truth)
    number = int(hashlib.sha256(scenario.name.encode()).hexdigest(), 16) % 1_000_000
    types = list(dict.fromkeys(use.type for use in spec.faults))
    families = {name: catalog.fault(name, file.parent).family for name in types}
    known = {*catalog.faults()}
    own = tuple(name for name in types if name not in known)
    return ScenarioIncident(scenario, runbook, truth, number, file.parent, families, own)


def note_own_faults(incident: ScenarioIncident) -> list[str]:
    """Note the types of faults without which a cluster refuses the scenario."""
    if not incident.own_faults:
        return []
    names = ", ".join(incident.own_faults)
    return [f"{incident.name}: {names} lies beside the scenario, and has to be in the catalogue of the operator"]
