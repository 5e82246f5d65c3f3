"""Which faults of the matrix raise the same alerts, and what would be found there and not here."""

from datetime import date

import msgspec
import pytest

from scenario_kit.campaign.results.result import Lookalike, Resemblance, TrialResult
from scenario_kit.campaign.results.similar_faults import find_resemblance
from scenario_kit.catalog import Catalog
from scenario_kit.load import load_scenario
from scenario_kit.model import AlertHistory, AlertTimeline, CheckResult, Reference, StepStatus
from scenario_kit.model.results.matrix import Fired, MatrixRow
from scenario_kit.model.runtime.observation import Interval
from scenario_kit.render import resolve
from scenario_kit.report.similar_incidents import describe_resembling

SCENARIO = "cart-scaled-to-zero"
ERRORS, SILENCE = ("HighRequestErrorRate", "Deployment/frontend"), ("NoRequestsReceived", "Deployment/cart")


@pytest.fixture(scope="module")
def runbook():
    catalog = Catalog()
    (path,) = (p for p in catalog.scenarios() if p.parent.name == SCENARIO)
    return resolve(load_scenario(path).scenario, catalog, "app")


def repeat(*alerts, number=1, outcome="Held", hold=1000.0):
    proven = CheckResult(describe="nothing is ready", answer="True", observed="0", at=110.0)
    steps = (
        StepStatus(index=2, step="inject all", outcome="Held", started_at=100.0, finished_at=130.0, checks=(proven,)),
        StepStatus(index=4, step="hold", outcome="Held", started_at=200.0, finished_at=hold),
    )
    fired = tuple(
        AlertTimeline(name=n, entity=Reference.parse(on) if on else None, firing=(Interval(start=300.0),))
        for n, on in alerts
    )
    history = AlertHistory(start=0.0, end=2000.0, timelines=fired)
    return TrialResult(
        name="t", purpose=f"repeat-{number}", describe="", seed=number, outcome=outcome, injected_at=100.0,
        steps=steps, history=history,
    )  # fmt: skip


def row(*alerts, fault="service-deleted", target="Service/cart", outcome="Ran", at=200.0, proven=("no Service",)):
    fired = tuple(Fired(name=n, entity=Reference.parse(on) if on else None, seconds=at) for n, on in alerts)
    return MatrixRow(
        app="otel-demo", version="2.2.0", fault=fault, change=1, family="Network", target=Reference.parse(target),
        outcome=outcome,
        date=date(2026, 11, 24), alerts=fired, proven=proven, observed_seconds=1200,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("tried", "found"),
    [
        (row(ERRORS, SILENCE), True),
        (row(ERRORS), False),
        (row(ERRORS, SILENCE, outcome="NoEffect"), False),
        (row(), False),
        (row(ERRORS, SILENCE, at=950.0), False),
        (row(ERRORS, SILENCE, fault="deployment-scaled-to-zero", target="Deployment/cart"), False),
    ],
    ids=["the same", "fewer", "no effect", "silent", "after the hold", "the scenario's own fault"],
)
def test_faults_with_equal_alerts_are_found(runbook, tried, found):
    seen = find_resemblance(runbook, [repeat(ERRORS, SILENCE)], [tried])
    assert bool(seen and seen.faults) is found


def test_alerts_after_the_hold_still_match(runbook):
    """The matrix looks for twenty minutes; who was repaired after fifteen has not seen the later alerts."""
    late = row(ERRORS, SILENCE)
    late = msgspec.structs.replace(late, alerts=(late.alerts[0], msgspec.structs.replace(late.alerts[1], seconds=1000)))
    seen = find_resemblance(runbook, [repeat(ERRORS)], [late])
    assert seen is not None
    assert [f.fault for f in seen.faults] == [late.fault]


def test_distinguishing_observations_are_listed(runbook):
    tried = [
        row(ERRORS, target="Deployment/checkout", fault="pod-failure", proven=("nothing is ready", "an image of ours")),
        row(ERRORS),
        row(ERRORS, target="Deployment/checkout", fault="cpu-stress", proven=("nothing is ready",)),
    ]
    found = find_resemblance(runbook, [repeat(ERRORS), repeat(ERRORS, number=2)], tried)
    assert found is not None
    assert list(found.faults) == [
        Lookalike(fault="cpu-stress", target="Deployment/checkout", margin=0.0),
        Lookalike(fault="pod-failure", target="Deployment/checkout", margin=0.0, there=("an image of ours",)),
        Lookalike(fault="service-deleted", target="Service/cart", margin=0.0, same_place=True, there=("no Service",)),
    ]
    assert describe_resembling(found) == [
        ("Same alerts", "3 of the 3 faults that raised any"),
        ("Deployment/checkout", "cpu-stress, pod-failure (an image of ours)"),
        ("Service/cart, the cause itself", "service-deleted (no Service)"),
    ]


def test_no_comparison_without_incident(runbook):
    assert find_resemblance(runbook, [repeat(ERRORS, outcome="Broken")], [row(ERRORS)]) is None
    assert find_resemblance(runbook, [repeat()], [row(ERRORS)]) is None
    assert find_resemblance(runbook, [repeat(ERRORS)], []) is None
    benign = msgspec.structs.replace(runbook.ground_truth, outcome="Benign")
    assert (
        find_resemblance(msgspec.structs.replace(runbook, ground_truth=benign), [repeat(ERRORS)], [row(ERRORS)]) is None
    )


def test_long_list_is_truncated_with_counts(runbook):
    tried = [row(ERRORS, target=f"Deployment/d{n:02}") for n in range(11)]
    tried += [row(ERRORS, target="Deployment/d00", fault=f"f{n}") for n in range(5)]
    reported = describe_resembling(find_resemblance(runbook, [repeat(ERRORS)], tried))
    assert reported[1] == ("Deployment/d00", "f0 (no Service), f1 (no Service), f2 (no Service) and 3 more")
    assert reported[-1] == ("3 more objects", "3 faults; report.json has them all")
    assert len(reported) == 10


def test_absence_of_resembling_faults_is_stated(runbook):
    reported = describe_resembling(find_resemblance(runbook, [repeat(ERRORS)], [row(SILENCE)]))
    assert reported == [("Same alerts", "none of the 1 faults that raised any")]
    assert describe_resembling(Resemblance(compared=1409)) == [
        ("Same alerts", "none of the 1,409 faults that raised any")
    ]
