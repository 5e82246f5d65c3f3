"""Load ground truths from a path: resolved scenarios or ITBench files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from scenario_kit.catalog import Catalog, find_collections
from scenario_kit.errors import AuthoringError, UsageError
from scenario_kit.load import find_scenario_files, load_scenario
from scenario_kit.model import Finding, Severity
from scenario_kit.model.shortening import shorten_list
from scenario_kit.render.scenarios.runbook import resolve
from scenario_kit.scoring.files.app_topology import build_app_topology
from scenario_kit.scoring.files.scenario_truth import build_scenario_truth
from scenario_kit.scoring.files.source import read_source
from scenario_kit.scoring.files.truths import LoadedTruth, list_incidents, read_truths
from scenario_kit.scoring.graph.topology import Topology
from scenario_kit.scoring.runs.record import RunRecord
from scenario_kit.scoring.scores.problems import find_truth_problems
from scenario_kit.scoring.scores.run_score import TruthContext, prepare_truth


def load_contexts(
    path: Path, topology: Topology | None, namespace: str
) -> tuple[dict[str, TruthContext], list[Finding]]:
    """Load the truths of a path, by incident, and warnings about their files.

    Args:
        path: a scenario, an ITBench truth, or a folder of either.
        topology: topology of all incidents; for scenarios, the calls of the app by default.
        namespace: namespace in which the app was deployed; empty if unknown.

    Raises:
        UsageError: the path does not exist, contains no truth, or two truths with the same name.
        AuthoringError: a truth cannot be scored.
    """
    if scenarios := _find_scenarios(path):
        catalog = Catalog(find_collections(scenarios))
        contexts = [_load_scenario(file, catalog, topology, namespace) for file in scenarios]
        list_incidents([LoadedTruth(each.index.truth) for each in contexts])
        return {each.index.truth.incident: each for each in contexts}, []
    loaded = read_truths(path)
    names = list_incidents(loaded)
    prepared = {name: prepare_truth(each.truth, topology) for name, each in zip(names, loaded, strict=True)}
    return prepared, [finding for each in loaded for finding in each.warnings]


def find_outdated(contexts: Mapping[str, TruthContext], records: Iterable[RunRecord]) -> list[Finding]:
    """Return a warning for each incident with records that were made with another version of it."""
    outdated: dict[tuple[str, str], list[str]] = {}
    for record in records:
        context = contexts.get(record.incident)
        if context is not None and context.digest and record.digest and record.digest != context.digest:
            outdated.setdefault((record.incident, record.digest), []).append(
                "/".join(part for part in (record.solver, record.trial) if part)
            )
    return [
        Finding(
            code="SK104",
            severity=Severity.WARNING,
            message=f"records of another version of '{incident}' are scored: {shorten_list(runs, 5)}",
            observed=digest,
            expected=contexts[incident].digest,
            fix="run the solvers again with another `--runs` folder, or score with the version of the scenario that "
            "the records were made with",
        )
        for (incident, digest), runs in outdated.items()
    ]


def _find_scenarios(path: Path) -> list[Path]:
    """Find the scenarios of a path; empty if it contains other truths."""
    if path.is_file():
        if path.suffix not in (".yaml", ".yml"):
            return []
        data = read_source(path).data
        return [path] if isinstance(data, dict) and data.get("kind") == "Scenario" else []
    try:
        return find_scenario_files([path]) if path.is_dir() else []
    except UsageError:
        return []


def _load_scenario(path: Path, catalog: Catalog, topology: Topology | None, namespace: str) -> TruthContext:
    loaded = load_scenario(path)
    spec = loaded.scenario.spec
    runbook = resolve(loaded.scenario, catalog, "app", beside=path.parent)
    truth = build_scenario_truth(loaded.scenario.name, spec, runbook.ground_truth, runbook.faults, namespace)
    problems = [
        Finding(
            code="SK104", severity=Severity.ERROR, message=problem.message, expected=problem.expected, fix=problem.fix,
            position=loaded.positions.key("spec", "groundTruth"),
        )
        for problem in find_truth_problems(truth)
    ]  # fmt: skip
    if problems:
        raise AuthoringError(f"{path}: {problems[0].message}", problems)
    shape = topology or build_app_topology(catalog.app(spec.app.name, spec.app.version))
    return prepare_truth(truth, shape, runbook.digest)
