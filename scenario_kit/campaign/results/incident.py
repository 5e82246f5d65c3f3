"""Summarise a scenario for a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from scenario_kit.catalog import Catalog
from scenario_kit.errors import ScenarioKitError
from scenario_kit.model import Runbook, Scenario
from scenario_kit.model.authored.alert_rule import compute_alert_deadline
from scenario_kit.model.authored.scenario import FAULT_NODE, AlertExpectation, Decoy, Expect, Solution
from scenario_kit.model.results.incident import BrokenTarget, Incident, NamedProcedure, PromisedAlert


def describe_incident(scenario: Scenario, runbook: Runbook | None, titles: Mapping[str, str]) -> Incident:
    """Summarise an incident: the brief, and the answer.

    Args:
        scenario: the authored file.
        runbook: its runbook; without it, deadlines and the faults' own procedures are unknown.
        titles: titles of fault types, by name.
    """
    spec = scenario.spec
    solutions: Sequence[Solution | Decoy] = spec.solutions
    decoys: Sequence[Solution | Decoy] = spec.decoys
    if runbook is not None:
        solutions = solutions or [p.solution for p in runbook.procedures if p.use == "Solution"]
        decoys = decoys or [p.solution for p in runbook.procedures if p.use == "Decoy"]
    return Incident(
        title=spec.title,
        brief=spec.brief,
        app=f"{spec.app.name} {spec.app.version}",
        load=f"{spec.app.load.users} users, profile {spec.app.load.profile}",
        options=spec.app.options,
        outcome=spec.ground_truth.outcome,
        faults=tuple(
            BrokenTarget(
                name=use.name,
                type=use.type,
                title=titles.get(use.type, ""),
                target=use.target,
                parameters=use.parameters,
                role=use.role,
            )
            for use in spec.faults
        ),
        causes=tuple(cause.entity or f"{FAULT_NODE}/{cause.fault}" for cause in spec.ground_truth.root_causes),
        alerts=tuple(
            PromisedAlert(name=a.name, entity=a.entity or "", within_seconds=_compute_deadline(a, runbook))
            for a in spec.expect.alerts
            if a.alert_class == "MustFire"
        ),
        solutions=tuple(NamedProcedure(name=s.name, description=s.description) for s in solutions),
        decoys=tuple(NamedProcedure(name=d.name, description=d.description) for d in decoys),
    )


def _compute_deadline(alert: AlertExpectation, runbook: Runbook | None) -> int:
    """Return the seconds after injection; 0 if they depend on unknown rules."""
    if runbook is None:
        return alert.within_seconds or 0
    return compute_alert_deadline(runbook.rules, alert.name, alert.within_seconds, period=runbook.windows.period)


def read_titles(scenario: Scenario, catalog: Catalog, beside: Path | None = None) -> dict[str, str]:
    """Return the titles of a scenario's fault types, without those that cannot be loaded, which rules report."""
    titles, catalog = {}, catalog.extend(scenario.spec.fault_types)
    for use in scenario.spec.faults:
        try:
            titles[use.type] = catalog.fault(use.type, beside).title
        except ScenarioKitError:
            continue
    return titles


def fill_deadlines(runbook: Runbook) -> Expect:
    """Return the expectations of a scenario with a deadline for every must-fire alert."""
    alerts = tuple(
        msgspec.structs.replace(a, within_seconds=_compute_deadline(a, runbook)) if a.alert_class == "MustFire" else a
        for a in runbook.expect.alerts
    )
    return msgspec.structs.replace(runbook.expect, alerts=alerts)
