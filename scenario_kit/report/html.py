"""A validation as one self-contained HTML page: timelines, propagation, interventions, findings. No scripts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import isfinite
from typing import Any

from scenario_kit.campaign import TrialResult
from scenario_kit.campaign.results.result import Statistics
from scenario_kit.campaign.results.summary import find_first_onset
from scenario_kit.catalog.page_templates import open_page_templates
from scenario_kit.model import Finding, Reference, Severity, Verdict
from scenario_kit.model.authored.scenario import Expect, GroundTruth, PropagationEdge
from scenario_kit.model.results.purpose import is_repeat
from scenario_kit.report import graph as propagation
from scenario_kit.report import timeline
from scenario_kit.report.difficulty import describe_difficulty
from scenario_kit.report.document import Report
from scenario_kit.report.incident import READING, build_incident_rows
from scenario_kit.report.markdown import format_minutes
from scenario_kit.report.similar_incidents import describe_neighbours, describe_resembling

_TONES = {Verdict.PASS: "good", Verdict.FAIL: "bad"}
_OUTCOMES: Mapping[str, tuple[str, str]] = {
    "Held": ("✓ held", "good"), "Broken": ("✗ broken", "bad"), "Infra": ("? not evaluated", "open"),
}  # fmt: skip


def render(report: Report) -> str:
    """Render the page; all text is escaped, and no external resource is loaded."""
    validation = report.validation
    expect = validation.expect or Expect()
    truth = validation.ground_truth or GroundTruth()
    repeats = [t for t in validation.trials if is_repeat(t.purpose)]
    others = [t for t in validation.trials if not is_repeat(t.purpose)]
    page = open_page_templates("report").get_template("page.html.j2")
    return page.render(
        report=report,
        validation=validation,
        word=validation.verdict.heading,
        tone=_TONES.get(validation.verdict, "open"),
        incident=list(build_incident_rows(validation.incident)) if validation.incident else [],
        reading=READING,
        findings=[_build_finding(f) for f in validation.findings],
        repeats=timeline.build_chart(repeats, expect),
        others=[(t, timeline.build_chart([t], expect)) for t in others],
        graph=propagation.draw_graph(
            truth, {**_format_passages(validation.statistics), **_format_onsets(repeats, truth)}
        ),
        box=(propagation.BOX_WIDTH, propagation.BOX_HEIGHT),
        lane=timeline.LANE,
        head=timeline.HEAD,
        edges=[{"from": e.from_, "to": e.to, "because": e.because} for e in truth.propagation],
        trials=[_build_trial(t) for t in validation.trials],
        numbers=validation.statistics,
        neighbours=describe_neighbours(validation.identifiability),
        lookalikes=describe_resembling(validation.resemblance),
        difficulty=describe_difficulty(validation.difficulty) if validation.difficulty else [],
    )


def _build_finding(finding: Finding) -> dict[str, Any]:
    tone = {Severity.ERROR: "bad", Severity.WARNING: "open", Severity.NOTE: "plain"}[finding.severity]
    places = (str(finding.position or ""), f"step {finding.step}" if finding.step else "")
    where = ", ".join(place for place in places if place)
    rows = (("observed", finding.observed), ("expected", finding.expected), ("why", finding.why), ("fix", finding.fix))
    return {
        "code": finding.code,
        "tone": tone,
        "word": str(finding.severity).lower(),
        "where": where,
        "message": finding.message,
        "rows": [(name, text) for name, text in rows if text],
    }


def _build_trial(trial: TrialResult) -> dict[str, Any]:
    word, tone = _OUTCOMES.get(trial.outcome, (trial.outcome, "open"))
    return {
        "purpose": trial.purpose,
        "describe": trial.describe,
        "word": word,
        "tone": tone,
        "virtual": format_minutes(trial),
        "wall": f"{trial.wall_seconds:.1f} s",
        "seed": trial.seed,
        "message": trial.message,
    }


def _format_onsets(repeats: Iterable[TrialResult], truth: GroundTruth) -> dict[str, str]:
    """Format the range of first alert onsets over the repeats, by entity of the propagation."""
    entities = {c.entity for c in truth.root_causes if c.entity} | {n for e in truth.propagation for n in _ends(e)}
    found: dict[str, str] = {}
    for entity in entities:
        times = sorted(t for r in repeats if isfinite(t := find_first_onset(r, entity)))
        if times:
            span = f"{times[0]:.0f} s" if times[0] == times[-1] else f"{times[0]:.0f} to {times[-1]:.0f} s"
            found[entity] = f"alerts after {span}"
    return found


def _format_passages(statistics: Statistics | None) -> dict[str, str]:
    """Format the clearest change in the traces of each component without an alert."""
    return {p.entity: p.traces[0] if p.traces else "as before" for p in statistics.passages} if statistics else {}


def _ends(edge: PropagationEdge) -> tuple[Reference, Reference]:
    return edge.from_, edge.to
