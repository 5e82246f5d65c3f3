"""View models of scenario pages: formatted text without markup. The truth of held-out scenarios is dropped here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

from scenario_kit.model.authored.alert_rule import name_alert
from scenario_kit.model.authored.scenario import AlertExpectation, FaultUse
from scenario_kit.model.results.evidence import Evidence, Onset
from scenario_kit.publication.content import SiteContent
from scenario_kit.publication.difficulty import MeasuredDifficulty, StructuralFacts
from scenario_kit.publication.entry import CatalogueEntry


class AlertView(NamedTuple):
    """An alert: its entity, its declared class, and its measured onset."""

    name: str
    entity: str
    declared: str
    fired: str
    median: str
    p95: str


class TruthView(NamedTuple):
    """The ground truth of a public scenario."""

    title: str
    description: str
    outcome: str
    causes: tuple[tuple[str, str], ...]
    propagation: tuple[tuple[str, str, str], ...]
    faults: tuple[tuple[str, str, str, str], ...]
    solutions: tuple[tuple[str, str], ...]
    decoys: tuple[tuple[str, str], ...]
    quiet: tuple[str, ...]


class ScenarioView(NamedTuple):
    """A scenario on its own page and in the catalogue; ``truth`` is None if it is held out.

    ``facets`` are the values of the catalogue's filters; ``solved`` has solver, share and number of runs.
    """

    name: str
    held_out: bool
    brief: str
    app: str
    families: tuple[str, ...]
    tier: str
    difficulty: MeasuredDifficulty
    verdict: str
    evidence: tuple[tuple[str, str], ...]
    measures: tuple[tuple[str, str], ...]
    alerts: tuple[AlertView, ...]
    solved: tuple[tuple[str, str, int], ...]
    facets: Mapping[str, list[str]]
    truth: TruthView | None


def build_views(content: SiteContent) -> tuple[ScenarioView, ...]:
    """Build the views of all scenarios, sorted by published name."""
    return tuple(_build_view(entry, content) for entry in content.entries)


def _build_view(entry: CatalogueEntry, content: SiteContent) -> ScenarioView:
    spec, name = entry.scenario.spec, entry.published_name
    difficulty = _conceal_facts(content.difficulties[name]) if entry.held_out else content.difficulties[name]
    families = () if entry.held_out else entry.families
    outcomes = content.outcomes.get(name, {})
    return ScenarioView(
        name=name, held_out=entry.held_out, brief=" ".join(spec.brief.split()) or "It has no brief.",
        app=f"{spec.app.name} {spec.app.version}", families=families, tier=entry.tier or "none",
        difficulty=difficulty, verdict=_describe_verdict(entry), evidence=tuple(_list_evidence(entry)),
        measures=tuple(list_measures(difficulty)), alerts=tuple(_list_alerts(entry)),
        solved=tuple(
            (solver, f"{sum(runs) / len(runs):.2f}", len(runs)) for solver, runs in sorted(outcomes.items()) if runs
        ),
        facets={
            "app": [spec.app.name], "family": [*families], "tier": [entry.tier or "none"],
            "difficulty": [difficulty.band], "set": ["held-out" if entry.held_out else "public"],
            "solver": [*difficulty.solved_by] or (["(none)"] if difficulty.runs else []),
        },
        truth=None if entry.held_out else _build_truth(entry),
    )  # fmt: skip


def _conceal_facts(found: MeasuredDifficulty) -> MeasuredDifficulty:
    """Drop the facts that are counted in the truth: their absence would reveal a control."""
    return msgspec.structs.replace(found, facts=StructuralFacts(alerts=found.facts.alerts))


def _describe_verdict(entry: CatalogueEntry) -> str:
    if entry.evidence is None:
        return "NO EVIDENCE"
    return "PASS" if entry.current else "OUTDATED"


def _list_evidence(entry: CatalogueEntry) -> Iterator[tuple[str, str]]:
    evidence = entry.evidence
    if evidence is None:
        yield "verdict", "none: not validated, or not recorded"
        return
    held = evidence.n - evidence.failures
    outdated = "" if entry.current else "; outdated: the scenario has changed since"
    yield "verdict", f"passed, {held} of {evidence.n} repeats held{outdated}"
    yield (
        "what it rules out",
        f"that a repeat holds with a chance of {evidence.claims:.2f} or less (plan {evidence.plan})",
    )
    yield "chance that a repeat holds", f"at least {evidence.at_least:.2f} (one-sided 95 %)"
    yield "tier", f"{evidence.tier} ({_describe_plane(evidence)})"
    yield "trials", f"{evidence.trials}, in {evidence.minutes:g} minutes"
    yield "date", str(evidence.date)
    yield "kit", evidence.kit


def _describe_plane(evidence: Evidence) -> str:
    planes = {
        "Twin": "a model serves the app's traffic",
        "RealNode": "containers on a real node",
        "Kind": "a real cluster",
    }
    return planes.get(evidence.data_plane, evidence.data_plane)


def list_measures(found: MeasuredDifficulty) -> Iterator[tuple[str, str]]:
    """List the difficulty measures, formatted."""
    if found.share is None or found.low is None or found.high is None:
        yield "solved", "unmeasured: there are no runs (n = 0)"
    else:
        certainty = "conclusive" if found.conclusive else "not conclusive: the interval reaches another band"
        yield "band", f"{found.band.lower()}, {certainty}"
        yield (
            "solved",
            f"{found.share:.2f} ({found.low:.2f} to {found.high:.2f}), n = {found.solvers} solvers, {found.runs} runs",
        )
    facts = found.facts
    if facts.alerts is not None:
        yield "alerts that fire", str(facts.alerts)
    if facts.hops is not None:
        yield "hops from cause to alert", str(facts.hops)
    if facts.decoys is not None:
        yield "decoys and distractors", str(facts.decoys)
    if facts.complexity is not None:
        yield (
            "complexity",
            f"{facts.complexity:.2f} (hops {facts.hops} × steps {facts.steps} × technologies {facts.technologies}, "
            "cube root)",
        )


def _list_alerts(entry: CatalogueEntry) -> Iterator[AlertView]:
    """List the alerts to show; those of held-out scenarios without their objects, which may be the answer."""
    if entry.evidence is None:
        declared = (a for a in entry.scenario.spec.expect.alerts if a.alert_class != "MustNotFire")
        seen = [_view_expectation(each) for each in declared]
    else:
        seen = [_view_onset(each) for each in entry.evidence.alerts if each.declared != "MustNotFire"]
    if not entry.held_out:
        yield from seen
        return
    first: dict[str, AlertView] = {}
    for each in seen:
        first.setdefault(each.name, each._replace(entity="", fired="", median="", p95="", declared=""))
    yield from first.values()


def _view_expectation(alert: AlertExpectation) -> AlertView:
    return AlertView(alert.name, alert.entity or "any", alert.alert_class, "–", "–", "–")


def _view_onset(onset: Onset) -> AlertView:
    name, _, entity = onset.alert.partition(" on ")
    return AlertView(
        name, entity or "any", onset.declared, f"{onset.fired} of {onset.n}",
        "–" if onset.median_seconds is None else f"{onset.median_seconds:.0f} s",
        "–" if onset.p95_seconds is None else f"{onset.p95_seconds:.0f} s",
    )  # fmt: skip


def _build_truth(entry: CatalogueEntry) -> TruthView:
    spec, truth = entry.scenario.spec, entry.truth
    return TruthView(
        title=spec.title, description=" ".join(spec.description.split()),
        outcome={"Incident": "an incident", "Benign": "benign: nothing is to be repaired"}.get(
            truth.outcome, "no incident"
        ),
        causes=tuple((each.entity or _find_target(spec.faults, each.fault), each.fault) for each in truth.root_causes),
        propagation=tuple((each.from_, each.to, each.because) for each in truth.propagation),
        faults=tuple((use.name, use.type, use.target, use.role) for use in spec.faults),
        solutions=tuple((each.name, each.description) for each in spec.solutions),
        decoys=tuple((each.name, each.description) for each in spec.decoys),
        quiet=tuple(name_alert(a) for a in spec.expect.alerts if a.alert_class == "MustNotFire"),
    )  # fmt: skip


def _find_target(faults: tuple[FaultUse, ...], name: str) -> str:
    return next((use.target for use in faults if use.name == name), "")


def build_document(view: ScenarioView) -> dict[str, Any]:
    """Build the JSON document of a scenario, without its truth."""
    found = view.difficulty
    return {
        "name": view.name, "set": "held-out" if view.held_out else "public", "app": view.app, "brief": view.brief,
        "families": list(view.families), "tier": view.tier, "verdict": view.verdict,
        "evidence": dict(view.evidence), "difficulty": found.to_json(),
        "solvers": {solver: {"share": float(share), "runs": runs} for solver, share, runs in view.solved},
    }  # fmt: skip
