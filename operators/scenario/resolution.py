"""Lint and resolve a Scenario object; cached, as the result depends only on its text and the catalogue."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path

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


class Understood(Value, frozen=True, kw_only=True):
    """A scenario as far as it could be resolved. Without ``runbook`` it cannot run, and ``findings`` say why."""

    scenario: Scenario | None = None
    findings: tuple[Finding, ...] = ()
    runbook: Runbook | None = None

    @property
    def errors(self) -> list[Finding]:
        """Return the findings that block it."""
        return [f for f in self.findings if f.severity == Severity.ERROR]


def resolve_scenario(catalog: Catalog, obj: Object) -> Understood:
    """Resolve a Scenario object, or any with name and spec; cached, as live ones are resolved every second."""
    return _resolve_text(catalog, json.dumps([obj["metadata"]["name"], obj["spec"]], sort_keys=True))


@lru_cache(maxsize=64)
def _resolve_text(catalog: Catalog, text: str) -> Understood:
    name, spec = json.loads(text)
    try:
        scenario = parse_scenario_object({"metadata": {"name": name}, "spec": spec})
        file = Path(name) / "scenario.yaml"  # its path in a catalogue; nothing is read from there
        positions = ObjectPositions(f"Scenario/{name}")
        positions.note_texts({"spec": spec})
        findings = tuple(judge(build_context(file, Loaded(scenario, positions), catalog)))
        judged = Understood(scenario=scenario, findings=findings)
        if judged.errors:
            return judged
        app = catalog.app(scenario.spec.app.name, scenario.spec.app.version)
        runbook = resolve(scenario, catalog, app.namespace)
        if refused := list_refusals(runbook):  # lint covers the catalogue's contents; refusals protect this cluster
            return Understood(scenario=scenario, findings=(*findings, *refused))
        return Understood(scenario=scenario, findings=findings, runbook=runbook)
    except AuthoringError as problem:
        return Understood(findings=list_findings(problem))


def list_findings(problem: AuthoringError) -> tuple[Finding, ...]:
    """Return the findings of an authoring error, or one built from its message."""
    untold = build_finding(
        "SK104",
        message=problem.message,
        fix=problem.fix,
        why="",
    )
    return problem.findings or (untold,)
