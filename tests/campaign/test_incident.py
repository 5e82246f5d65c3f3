"""The incident section of a report, and the file positions of trial findings."""

from __future__ import annotations

import msgspec
import pytest

from scenario_kit.campaign import Validation
from scenario_kit.campaign.results.incident import describe_incident, fill_deadlines, read_titles
from scenario_kit.campaign.results.location import locate_findings
from scenario_kit.campaign.results.verdict import name_correction, suggest_command
from scenario_kit.catalog import Catalog, find_data_root
from scenario_kit.load import load_scenario
from scenario_kit.model import AlertExpectation, Finding, Severity, Verdict
from scenario_kit.model.authored.alert_rule import DEADLINE_SLACK, find_slowest
from scenario_kit.render import build_preview, resolve

CATALOG = Catalog()
FILE = find_data_root() / "catalog" / "scenarios" / "product-catalog-wrong-target-port" / "scenario.yaml"
LOADED = load_scenario(FILE)
RUNBOOK = resolve(LOADED.scenario, CATALOG, "shop", beside=FILE)


def finding(code: str, message: str = "", **more: str) -> Finding:
    return Finding(code=code, severity=Severity.ERROR, message=message, trial="t", **more)


def test_incident_is_described_with_its_answer():
    incident = describe_incident(LOADED.scenario, RUNBOOK, read_titles(LOADED.scenario, CATALOG, FILE))
    assert incident.app == "otel-demo 2.2.0"
    assert incident.brief == LOADED.scenario.spec.brief
    (fault,) = incident.faults
    assert (fault.type, fault.target, fault.parameters["targetPort"]) == (
        "service-target-port-wrong", "Service/product-catalog", 9999,
    )  # fmt: skip
    assert fault.title
    assert incident.causes == ("Service/product-catalog",)
    assert incident.solutions
    assert incident.decoys
    reported = {p.name: p.solution.description for p in RUNBOOK.procedures if p.use in ("Solution", "Decoy")}
    assert {p.name: p.description for p in (*incident.solutions, *incident.decoys)} == reported
    assert any(reported.values())
    assert {a.name for a in incident.alerts} == {"HighRequestErrorRate"}


@pytest.mark.parametrize("period", [0, 900])
def test_preview_trial_and_report_share_the_deadline(period):
    may = AlertExpectation(name="KubePodNotReady", alert_class="MayFire")
    alerts = (*(msgspec.structs.replace(a, within_seconds=None) for a in RUNBOOK.expect.alerts), may)
    expect, windows = (
        msgspec.structs.replace(RUNBOOK.expect, alerts=alerts), msgspec.structs.replace(RUNBOOK.windows, period=period)
    )  # fmt: skip
    runbook = msgspec.structs.replace(RUNBOOK, expect=expect, windows=windows)
    due = period + find_slowest(runbook.rules, "HighRequestErrorRate") + DEADLINE_SLACK
    must = [a for a in fill_deadlines(runbook).alerts if a.alert_class == "MustFire"]
    assert {a.within_seconds for a in must} == {due}
    assert may in fill_deadlines(runbook).alerts
    scenario = LOADED.scenario
    spec = msgspec.structs.replace(scenario.spec, expect=runbook.expect)
    scenario = msgspec.structs.replace(scenario, spec=spec)
    assert {a.within_seconds for a in describe_incident(scenario, runbook, {}).alerts} == {due}
    assert {a.within_seconds for a in describe_incident(scenario, None, {}).alerts} == {0}
    assert next(s.seconds for s in build_preview(runbook).timeline if s.name == "alerts") == due


@pytest.mark.parametrize(
    ("found", "place"),
    [
        (
            finding("SK322", "'HighRequestErrorRate' on Deployment/checkout did not fire"),
            ("spec", "expect", "alerts", 1),
        ),
        (finding("SK304", "fault 'catalog-port' has no measurable effect"), ("spec", "faults", 0)),
        (finding("SK401", "fixing only Service/product-catalog"), ("spec", "groundTruth", "rootCauses", 0)),
        (finding("SK307"), ("spec",)),
    ],
)
def test_trial_finding_gets_the_line_of_its_declaration(found, place):
    alerts = LOADED.scenario.spec.expect.alerts
    on = {a.entity: i for i, a in enumerate(alerts)}
    if place[-1] == 1:
        place = (*place[:-1], on["Deployment/checkout"])
    validation = Validation(scenario="s", plan="quick", verdict=Verdict.FAIL, headline="", findings=(found,))
    located = locate_findings(validation, LOADED.scenario.spec, LOADED.positions)
    assert located.findings[0].position == LOADED.positions.value(*place)
    assert located.findings[0].position.line > 1
    assert str(located.findings[0].position) in located.correction


def test_infrastructure_has_no_line():
    found = finding("SK901", "a node failed")
    validation = Validation(scenario="s", plan="quick", verdict=Verdict.NOT_EVALUATED, headline="", findings=(found,))
    assert locate_findings(validation, LOADED.scenario.spec, LOADED.positions).findings[0].position is None


@pytest.mark.parametrize(
    ("verdict", "plan", "findings", "command"),
    [
        (Verdict.PASS, "try", [], "scenario-kit verify p"),
        (Verdict.PASS, "quick", [], "scenario-kit verify p --plan standard"),
        (Verdict.PASS, "standard", [], ""),
        (Verdict.FAIL, "quick", [Finding(code="SK110", severity=Severity.ERROR, message="m")], "scenario-kit lint p"),
        (Verdict.FAIL, "quick", [finding("SK322")], "scenario-kit try p --accept"),
        (Verdict.FAIL, "try", [finding("SK304")], "scenario-kit try p"),
        (Verdict.FAIL, "standard", [finding("SK401")], "scenario-kit verify p --plan standard"),
        (Verdict.FAIL, "standard", [Finding(code="SK501", severity=Severity.ERROR, message="m")],
         "scenario-kit verify p --plan standard"),
        (Verdict.NOT_EVALUATED, "quick", [finding("SK911")], "scenario-kit explain SK911"),
        (Verdict.NOT_EVALUATED, "quick", [], "scenario-kit lab status"),
    ],
)  # fmt: skip
def test_suggested_command_follows_the_verdict(verdict, plan, findings, command):
    assert suggest_command(verdict, "p", plan, findings) == command


def test_correction_precedes_command():
    found = Finding(code="SK110", severity=Severity.ERROR, message="m", fix="name an object of the app")
    assert name_correction(Verdict.FAIL, [found]) == "SK110: name an object of the app"
    assert name_correction(Verdict.PASS, [found]) == ""
