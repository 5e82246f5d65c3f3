"""Evidence is made of a pass of the plan standard or above, of the scenario as it is; of nothing else."""

import json
from datetime import date
from pathlib import Path

import jsonschema
import msgspec
import pytest
from typer.testing import CliRunner

from scenario_kit.campaign import Validation
from scenario_kit.campaign.results.result import AlertSummary, Statistics, TrialResult
from scenario_kit.catalog import Catalog
from scenario_kit.catalog.evidence import read_evidence, write_evidence
from scenario_kit.cli import build
from scenario_kit.errors import UsageError
from scenario_kit.lint import lint_file
from scenario_kit.load import load_scenario
from scenario_kit.model import Verdict
from scenario_kit.model.results.evidence import VersionKey
from scenario_kit.render.scenarios.runbook import render_as_written, resolve
from scenario_kit.render.scenarios.version import compute_version_key
from scenario_kit.report import Report, write_report
from scenario_kit.report.evidence import build_evidence, refuse_weaker_evidence

ROOT = Path(__file__).parents[2]
JUDGE = jsonschema.Draft202012Validator(json.loads((ROOT / "schema" / "evidence.schema.json").read_text()))
KEY = VersionKey(scenario="a", app="shop 1", app_digest="b", images="c", alerts="d", contract="e")


def alert(name, declared, fired):
    return AlertSummary(
        alert=name, declared=declared, fired=fired, n=5, median_seconds=210.0, p95_seconds=225.0, within_seconds=480
    )


ALERTS = (alert("A on Deployment/x", "MustFire", 5), alert("B", "MayFire", 2), alert("C", "MayFire", 0))
PASSED = Validation(
    scenario="s",
    path="catalog/scenarios/s/scenario.yaml",
    digest="d1",
    plan="standard",
    verdict=Verdict.PASS,
    headline="",
    trials=tuple(TrialResult(name=f"t{i}", purpose="", describe="", seed=i, outcome="Held") for i in range(9)),
    n=5,
    statistics=Statistics(n=5, broken=0, at_least=0.54928, claims=0.5308, alerts=ALERTS),
    wall_seconds=95.0,
)


def report(**changes):
    validation = msgspec.structs.replace(PASSED, **changes)
    return Report(created="2030-01-02T03:04:05+00:00", validation=validation)


def test_evidence_of_a_pass_matches_the_schema(tmp_path):
    found = build_evidence(report(), "d1", KEY)

    assert (found.n, found.failures, found.at_least, found.claims) == (5, 0, 0.5493, 0.5308)
    assert (found.tier, found.date, found.minutes, found.trials) == ("simulated", date(2030, 1, 2), 1.6, 9)
    assert [a.alert for a in found.alerts] == ["A on Deployment/x", "B"]
    assert (found.alerts[0].median_seconds, found.alerts[0].p95_seconds) == (210.0, 225.0)
    document = json.loads(write_evidence(tmp_path / "scenario.yaml", found).read_text())
    assert list(JUDGE.iter_errors(document)) == []


@pytest.mark.parametrize(
    ("changes", "digest", "reported"),
    [
        ({"verdict": Verdict.FAIL}, "d1", "only a pass"),
        ({"verdict": Verdict.INCONCLUSIVE}, "d1", "only a pass"),
        ({"plan": "quick"}, "d1", "too weak"),
        ({"plan": "try"}, "d1", "too weak"),
        ({}, "d2", "is now d2"),
    ],
)
def test_other_reports_give_no_evidence(changes, digest, reported):
    with pytest.raises(UsageError, match=reported) as error:
        build_evidence(report(**changes), digest, KEY)
    assert error.value.fix


def test_evidence_from_real_containers_is_reproduced():
    assert build_evidence(report(data_plane="Kind"), "d1", KEY).tier == "reproduced"


def compute_key(path, **versions):
    catalog = Catalog([ROOT])
    scenario = load_scenario(path).scenario
    runbook = resolve(scenario, catalog, "ns", users=9)
    objects = render_as_written(scenario.spec, runbook.app, catalog.templates(runbook.app.name))
    return compute_version_key(scenario.spec, runbook, objects, **versions)


def test_version_key_distinguishes_changed_parts(tmp_path):
    path = ROOT / "catalog" / "scenarios" / "cart-scaled-to-zero" / "scenario.yaml"
    changed = tmp_path / "scenario.yaml"
    one = compute_key(path, kubernetes="v1.34.2", engine="chaos-mesh 1")
    assert (one.app, one.kubernetes, one.engine) == ("otel-demo 2.2.0", "1.34", "chaos-mesh 1")
    assert [(f.name, f.type) for f in one.faults] == [("cart-replicas", "deployment-scaled-to-zero")]

    changed.write_text(path.read_text().replace("target: Deployment/cart}", "target: Deployment/cart }"))
    assert compute_key(changed, kubernetes="v1.34.9", engine="chaos-mesh 1") == one
    changed.write_text(path.read_text().replace("withinSeconds: 480", "withinSeconds: 470"))
    other = compute_key(changed)
    assert other.scenario != one.scenario
    assert (other.app_digest, other.faults, other.alerts, other.images) == (
        one.app_digest, one.faults, one.alerts, one.images,
    )  # fmt: skip


@pytest.fixture
def run(tmp_path):
    """A copy of a scenario, and the folder of a passed run of it."""
    path = tmp_path / "scenarios" / "cart-scaled-to-zero" / "scenario.yaml"
    path.parent.mkdir(parents=True)
    path.write_text((ROOT / "catalog" / "scenarios" / "cart-scaled-to-zero" / "scenario.yaml").read_text())
    digest = resolve(load_scenario(path).scenario, Catalog([ROOT]), "ns").digest
    passed = msgspec.structs.replace(PASSED, scenario="cart-scaled-to-zero", path=str(path), digest=digest)
    _, folder = write_report(Report(validation=passed, kubernetes="v1.34.2", engine="chaos-mesh 1"), tmp_path / "runs")
    return path, folder


def record(folder):
    return CliRunner().invoke(build(), ["report", str(folder), "--record"])


def test_command_writes_evidence_that_lint_accepts(run):
    path, folder = run
    answer = record(folder)

    assert answer.exit_code == 0, answer.output
    found = read_evidence(path)
    assert (found.scenario, found.n, found.key.kubernetes) == ("cart-scaled-to-zero", 5, "1.34")
    assert [f for f in lint_file(path, Catalog([ROOT])) if f.code == "SK607"] == []


def test_changed_or_missing_scenario_is_refused(run):
    path, folder = run
    path.write_text(path.read_text().replace("withinSeconds: 480", "withinSeconds: 490"))
    assert isinstance(record(folder).exception, UsageError)
    path.unlink()
    assert isinstance(record(folder).exception, UsageError)
    assert not path.with_name("evidence.json").exists()


@pytest.mark.parametrize(
    ("data_plane", "tier"), [("Twin", "simulated"), ("RealNode", "reproduced"), ("Kind", "reproduced")]
)
def test_tier_follows_from_the_data_plane(data_plane, tier):
    assert build_evidence(report(data_plane=data_plane), "d1", KEY).tier == tier


def test_unknown_data_plane_is_refused():
    with pytest.raises(UsageError, match="'Moon'; known are Twin, RealNode, Kind"):
        build_evidence(report(data_plane="Moon"), "d1", KEY)


def test_simulated_run_does_not_replace_reproduced_evidence():
    twin, real = (build_evidence(report(data_plane=plane), "d1", KEY) for plane in ("Twin", "RealNode"))
    with pytest.raises(UsageError, match="reproduced on RealNode"):
        refuse_weaker_evidence(real, twin)
    refuse_weaker_evidence(twin, real)
    refuse_weaker_evidence(real, real)
    refuse_weaker_evidence(None, twin)
    refuse_weaker_evidence(msgspec.structs.replace(real, digest="an older incident"), twin)


def test_reproduced_evidence_is_not_overwritten(run):
    path, folder = run
    record(folder)
    real = msgspec.structs.replace(read_evidence(path), tier="reproduced", data_plane="Kind")
    write_evidence(path, real)
    assert isinstance(record(folder).exception, UsageError)
    assert read_evidence(path).tier == "reproduced"
