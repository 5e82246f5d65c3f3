"""Lint and resolve a Scenario object; cached, since the result depends only on its text and the catalogue."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Final

import msgspec

from scenario_kit.catalog import Catalog
from scenario_kit.errors import AuthoringError
from scenario_kit.lint import judge
from scenario_kit.lint.context.build_context import build_context
from scenario_kit.lint.rules.security.runbook_admission import list_refusals
from scenario_kit.load import Loaded, parse_scenario_object
from scenario_kit.load.rules import build_finding
from scenario_kit.load.yaml.object_positions import ObjectPositions
from scenario_kit.model import Finding, Object, Runbook, Scenario, Severity, Value
from scenario_kit.render import resolve

#: Scenarios whose result is cached, and those whose runbook is cached unpacked: half a megabyte each.
_CACHED: Final = 2048
_UNPACKED: Final = 64


class ResolvedScenario(Value, frozen=True, kw_only=True):
    """The result of resolving a scenario. Without a ``runbook`` it cannot run; ``findings`` tell why."""

    scenario: Scenario | None = None
    findings: tuple[Finding, ...] = ()
    runbook: Runbook | None = None

    @property
    def errors(self) -> list[Finding]:
        """The findings that block the scenario."""
        return [f for f in self.findings if f.severity == Severity.ERROR]


def resolve_scenario(catalog: Catalog, obj: Object) -> ResolvedScenario:
    """Resolve a Scenario object, or any object with name and spec; cached, since live ones are resolved often."""
    found, packed = _resolve_and_pack(catalog, json.dumps([obj["metadata"]["name"], obj["spec"]], sort_keys=True))
    return msgspec.structs.replace(found, runbook=_unpack(packed)) if packed else found


@lru_cache(maxsize=_CACHED)
def _resolve_and_pack(catalog: Catalog, text: str) -> tuple[ResolvedScenario, str]:
    """Return the result without its runbook, and the runbook packed; empty if there is none."""
    found = _resolve_text(catalog, text)
    return msgspec.structs.replace(found, runbook=None), found.runbook.pack() if found.runbook else ""


@lru_cache(maxsize=_UNPACKED)
def _unpack(packed: str) -> Runbook:
    return Runbook.unpack(packed)


def _resolve_text(catalog: Catalog, text: str) -> ResolvedScenario:
    name, spec = json.loads(text)
    try:
        scenario = parse_scenario_object({"metadata": {"name": name}, "spec": spec})
        file = Path(name) / "scenario.yaml"  # as in a catalogue; the file is never read
        positions = ObjectPositions(f"Scenario/{name}")
        positions.note_texts({"spec": spec})
        findings = tuple(judge(build_context(file, Loaded(scenario, positions), catalog)))
        judged = ResolvedScenario(scenario=scenario, findings=findings)
        if judged.errors:
            return judged
        app = catalog.app(scenario.spec.app.name, scenario.spec.app.version)
        runbook = resolve(scenario, catalog, app.namespace)
        if refused := list_refusals(runbook):  # refusals protect the cluster beyond lint
            return ResolvedScenario(scenario=scenario, findings=(*findings, *refused))
        return ResolvedScenario(scenario=scenario, findings=findings, runbook=runbook)
    except AuthoringError as error:
        return ResolvedScenario(findings=list_findings(error))


def list_findings(problem: AuthoringError) -> tuple[Finding, ...]:
    """Return the findings of an authoring error, or one built from its message."""
    return problem.findings or (build_finding("SK104", problem.message, fix=problem.fix, why=""),)
