"""Alerts promised by a draft from the records of its fault."""

from datetime import date

import pytest

from scenario_kit.catalog import Catalog
from scenario_kit.draft import Answers, draft
from scenario_kit.draft.matrix_alerts import find_row, list_warnings, promise_alerts
from scenario_kit.model import Reference
from scenario_kit.model.authored.scenario import AlertExpectation
from scenario_kit.model.results.matrix import Fired, MatrixRow


def row(*alerts, outcome="Ran", reported=""):
    fired = tuple(
        Fired(name=name, entity=Reference.parse(on) if on else None, seconds=seconds) for name, on, seconds in alerts
    )
    return MatrixRow(
        app="otel-demo", version="2.2.0", fault="cpu-stress", change=1, family="Chaos",
        target=Reference("Deployment", "ad"),
        outcome=outcome, date=date(2026, 11, 24), alerts=fired, observed_seconds=1230, reported=reported,
    )  # fmt: skip


def must(name, on):
    return AlertExpectation(name=name, entity=Reference.parse(on) if on else None)


def may(name, on):
    return AlertExpectation(name=name, entity=Reference.parse(on) if on else None, alert_class="MayFire")


SLOW, ERRORS = ("Slow", "Deployment/ad"), ("Errors", "Deployment/frontend")


@pytest.mark.parametrize(
    ("predicted", "outcome", "expected"),
    [
        ([must(*SLOW)], [(*SLOW, 195.0)], [must(*SLOW)]),
        ([must(*SLOW), may(*ERRORS)], [(*ERRORS, 90.0), (*SLOW, 195.0)], [must(*SLOW), may(*ERRORS)]),
        ([must(*SLOW), may(*ERRORS)], [(*ERRORS, 90.0)], [must(*ERRORS)]),
        ([must("Other", "")], [(*ERRORS, 90.0), (*SLOW, 195.0)], [must(*ERRORS), may(*SLOW)]),
        ([], [(*ERRORS, 90.0)], [must(*ERRORS)]),
        ([must(*SLOW)], [], [must(*SLOW)]),
    ],
    ids=["as predicted", "the most direct one", "only an indirect one", "another one", "unpredicted", "silent"],
)
def test_promise_has_one_must_fire_alert(predicted, outcome, expected):
    assert list(promise_alerts(predicted, row(*outcome))) == expected


def test_only_judged_rows_are_used():
    tried = [row((*SLOW, 195.0), outcome="Infra"), row(outcome="Lacking")]
    assert find_row(tried, "cpu-stress", "Deployment/ad") is None
    ran = row((*SLOW, 195.0))
    assert find_row([*tried, ran], "cpu-stress", "Deployment/ad") is ran
    assert find_row([ran], "cpu-stress", "Deployment/cart") is None


def test_silent_and_ineffective_faults_have_warnings():
    (silent,) = list_warnings(row())
    assert "no alert of the default pack fired within 20 min" in silent
    (idle,) = list_warnings(row(outcome="NoEffect", reported="nothing is slower"))
    assert idle.endswith("it had no effect: nothing is slower")
    assert list_warnings(row((*SLOW, 195.0))) == ()


def test_draft_uses_matrix_for_defaults_and_predicts_otherwise():
    catalog = Catalog()
    tried = find_row(catalog.matrix(catalog.app("otel-demo", "2.2.0")), "pod-failure", "Deployment/ad")
    assert tried is not None
    made = draft(Answers("otel-demo", "2.2.0", Reference("Deployment", "ad"), "pod-failure"), catalog)
    assert {(a.name, a.entity) for a in made.alerts} == {(a.name, a.entity) for a in tried.alerts}
    assert "what fired when this fault was tried there" in made.text
    slower = {"latencyMilliseconds": 4321}
    other = draft(Answers("otel-demo", "2.2.0", Reference("Deployment", "ad"), "network-delay", slower), catalog)
    assert "predicted from the fault" in other.text


def test_draft_reports_failed_prediction():
    catalog = Catalog()
    app = catalog.app("hotel-reservation", "6ecb097")
    row = next(r for r in catalog.matrix(app, "network-loss") if r.outcome == "Ran" and not r.alerts)
    made = draft(Answers(app=app.name, version=app.version, target=row.target, fault=row.fault), catalog)
    assert "no alert fired when it was tried there" in made.text
    assert any("no alert of the default pack fired" in caution for caution in made.cautions)


@pytest.mark.parametrize(
    ("target", "restarted"),
    [("Deployment/otel-collector", "Deployment/otel-collector"), ("Deployment/cart", "Deployment/checkout")],
    ids=["nobody else shows anything", "what suffers most directly"],
)
def test_fault_without_decoys_gets_a_related_restart(target, restarted):
    made = draft(Answers("otel-demo", "2.2.0", Reference.parse(target), "memory-stress"), Catalog())
    assert f"restart: {{target: {restarted}}}" in made.text
