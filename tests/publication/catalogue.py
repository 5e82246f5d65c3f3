"""A small catalogue in memory: scenarios whose texts are hostile, with evidence, runs and a matrix."""

from datetime import date
from pathlib import Path

import msgspec

from scenario_kit.catalog import find_data_root
from scenario_kit.catalog.evidence import read_evidence
from scenario_kit.load import load_scenario
from scenario_kit.model import Reference
from scenario_kit.model.results.matrix import Fired, MatrixRow
from scenario_kit.publication.content import build_content
from scenario_kit.publication.difficulty import count_facts
from scenario_kit.publication.entry import CatalogueEntry
from scenario_kit.scoring.leaderboard.board import build_leaderboard
from scenario_kit.scoring.leaderboard.outcomes import list_outcomes
from scenario_kit.scoring.runs.usage import TokenCounts
from scenario_kit.scoring.scores.run_score import prepare_truth
from scenario_kit.scoring.scores.settings import ScoreSettings
from tests.scoring.shop import shop
from tests.scoring.test_scores import RIGHT, TRUTH, WRONG, run

SCENARIOS = find_data_root() / "catalog" / "scenarios"
HOSTILE = "<script>alert(1)</script>\"'&{{ 7 * 7 }}"
HASHED = "held-out-0123456789abcdef"
SETTINGS = ScoreSettings(repeats=1)


def entry(name: str = "down", hashed: str = "", **texts) -> CatalogueEntry:
    """The scenario ``cart-scaled-to-zero`` under another name, with other texts."""
    path = SCENARIOS / "cart-scaled-to-zero" / "scenario.yaml"
    scenario = load_scenario(path).scenario
    spec = msgspec.structs.replace(scenario.spec, **texts)
    evidence = read_evidence(path)
    return CatalogueEntry(
        path=Path(f"{name}/scenario.yaml"), scenario=msgspec.structs.replace(scenario, name=name, spec=spec),
        evidence=evidence, current=True, families=("Workload specification",), truth=spec.ground_truth,
        facts=count_facts(spec, evidence, evidence.difficulty.complexity), hashed=hashed,
    )  # fmt: skip


def row(fault: str = "deployment-scaled-to-zero", outcome: str = "Ran", alerts=(), **more) -> MatrixRow:
    return MatrixRow(
        app="otel-demo", version="2.2.0", fault=fault, change=1, family="WorkloadSpec",
        target=Reference("Deployment", "cart"),
        outcome=outcome, date=date(2026, 11, 25), alerts=alerts, **more,
    )  # fmt: skip


def content(*entries: CatalogueEntry, solvers=("good", "bad")):
    """A site of these entries; ``good`` solves each of them, any other solver none."""
    names = [each.published_name for each in entries]
    contexts = {name: prepare_truth(msgspec.structs.replace(TRUTH, incident=name), shop()) for name in names}
    records = [
        run(RIGHT if solver == "good" else WRONG, name, solver=solver, tokens=TokenCounts(input=1000 * number))
        for name in names for number, solver in enumerate(solvers, start=1)
    ]  # fmt: skip
    board = build_leaderboard(contexts, records, SETTINGS) if records else None
    outcomes = list_outcomes(contexts, records, SETTINGS)
    alerts = (Fired(name="HighRequestErrorRate", entity=Reference("Deployment", "frontend"), seconds=195.0),)
    return build_content(entries, outcomes, {"otel-demo 2.2.0": (row(alerts=alerts, recovered=True),)}, board)
