"""From repeats to numbers, remarks and one headline."""

import msgspec
import pytest

from scenario_kit.campaign.planning.plans import get_plan
from scenario_kit.campaign.planning.sequential_test import FIVE_THEN_FIVE
from scenario_kit.campaign.results.remarks import make_remarks
from scenario_kit.campaign.results.result import TrialResult
from scenario_kit.campaign.results.summary import summarise
from scenario_kit.campaign.results.verdict import ValidationSubject, conclude, write_headline
from scenario_kit.model import AlertHistory, Finding, Reference, Severity, StepStatus, Verdict
from scenario_kit.model.authored.scenario import AlertExpectation, Expect, PropagationEdge
from scenario_kit.model.runtime.observation import AlertTimeline, Interval, Passage, Work

INJECTED = 1000.0


def alert(name, entity, *onsets):
    firing = tuple(Interval(start=INJECTED + o) for o in onsets)
    return AlertTimeline(name=name, entity=Reference.parse(entity) if entity else None, firing=firing)


def build_repeat(number, *timelines, outcome="Held", findings=()):
    steps = [
        StepStatus(index=0, step="expectAlerts", outcome=outcome, started_at=INJECTED, finished_at=INJECTED + 300),
        StepStatus(index=1, step="hold", outcome="Held", started_at=INJECTED + 300, finished_at=INJECTED + 600),
    ]
    return TrialResult(
        name=f"r{number}", purpose=f"repeat-{number}", describe="", seed=number, outcome=outcome, steps=tuple(steps),
        injected_at=INJECTED, findings=tuple(findings),
        history=AlertHistory(start=0, end=INJECTED + 2000, timelines=timelines),
    )  # fmt: skip


EXPECT = Expect(alerts=(AlertExpectation(name="Errors", entity=Reference("Deployment", "web"), within_seconds=200),))


def numbers(*repeats, edges=(), expect=EXPECT):
    return summarise(FIVE_THEN_FIVE, repeats, expect, edges)


def test_onsets_of_must_fire_alerts_are_summarised():
    repeats = [build_repeat(i, alert("Errors", "Deployment/web", t)) for i, t in enumerate((94, 101, 118))]
    (row,) = numbers(*repeats).alerts
    assert (row.declared, row.fired, row.n) == ("MustFire", 3, 3)
    assert (row.median_seconds, row.p95_seconds, row.proposed_seconds) == (101, 118, 240)
    (remark,) = make_remarks(numbers(*repeats))
    assert (remark.code, remark.severity) == ("SK508", Severity.WARNING)
    assert "withinSeconds: 240" in remark.fix


@pytest.mark.parametrize(
    ("after", "injections", "median"),
    [
        ("", {}, 101),
        ("", {"a": INJECTED}, 101),
        ("", {"a": INJECTED, "b": INJECTED + 80}, 21),
        ("a", {"a": INJECTED, "b": INJECTED + 80}, 101),
        ("b", {"a": INJECTED, "b": INJECTED + 80}, 21),
        ("c", {"a": INJECTED, "b": INJECTED + 80}, 101),
        ("b", {"a": INJECTED, "b": INJECTED + 110}, 0),
    ],
    ids=[
        "unknown",
        "one",
        "the last of two",
        "the first",
        "the second",
        "one that was left out",
        "raised by the first",
    ],
)
def test_onset_counts_from_the_after_fault(after, injections, median):
    expectation = AlertExpectation(
        name="Errors", entity=Reference("Deployment", "web"), after=after, within_seconds=200
    )
    repeats = [
        msgspec.structs.replace(build_repeat(i, alert("Errors", "Deployment/web", 101)), injections=injections)
        for i in range(3)
    ]
    (row,) = numbers(*repeats, expect=Expect(alerts=(expectation,))).alerts
    assert row.median_seconds == median


def test_distinct_placements_are_counted():
    repeats = [
        msgspec.structs.replace(build_repeat(i), placement={"Deployment/web": nodes})
        for i, nodes in enumerate((("n0", "n1"), ("n0", "n2"), ("n0", "n1")))
    ]
    assert numbers(*repeats).placements == 2
    assert numbers(*repeats, build_repeat(4), msgspec.structs.replace(repeats[1], outcome="Infra")).placements == 2
    assert numbers(build_repeat(1)).placements == 0


def test_intermittent_alert_is_proposed_as_may_fire():
    repeats = [build_repeat(1, alert("Errors", "Deployment/web", 50)), build_repeat(2)]
    row = numbers(*repeats).alerts[0]
    assert (row.fired, row.n, row.p95_seconds, row.proposal) == (1, 2, None, "MayFire")
    assert [r.code for r in make_remarks(numbers(*repeats))] == ["SK322"]


def test_undeclared_alerts_are_marked_and_late_ones_left_out():
    seen = numbers(
        build_repeat(1, alert("Errors", "Deployment/web", 50), alert("Late", "", 700), alert("Other", "", 60))
    )
    assert [(a.alert, a.declared) for a in seen.alerts] == [
        ("Errors on Deployment/web", "MustFire"),
        ("Other", "undeclared"),
    ]


def test_repeats_with_disjoint_alerts_have_no_similarity():
    repeats = [build_repeat(i, alert(name, "", 50)) for i, name in enumerate("ABC")]
    assert numbers(*repeats).similarity == 0
    assert "SK509" in {r.code for r in make_remarks(numbers(*repeats))}


def test_may_fire_alerts_do_not_lower_similarity():
    repeats = [
        build_repeat(i, alert("Errors", "Deployment/web", 50), *([alert("Late", "Deployment/web", 90)] if i else []))
        for i in range(4)
    ]
    assert numbers(*repeats).similarity == 0.75
    known = msgspec.structs.replace(
        EXPECT, alerts=(*EXPECT.alerts, AlertExpectation(name="Late", alert_class="MayFire"),
                        AlertExpectation(name="Errors", alert_class="MayFire")),
    )  # fmt: skip
    assert numbers(*repeats, expect=known).similarity == 1
    assert numbers(*repeats, build_repeat(4), expect=known).similarity == 0.6


@pytest.mark.parametrize(("first", "second", "codes"), [(60, 120, set()), (200, 60, {"SK407"})])
def test_order_of_the_propagation(first, second, codes):
    repeats = [
        build_repeat(i, alert("Errors", "Deployment/db", first), alert("Errors", "Deployment/web", second))
        for i in range(3)
    ]
    seen = numbers(
        *repeats, edges=[PropagationEdge(from_=Reference("Deployment", "db"), to=Reference("Deployment", "web"))]
    )
    assert {r.code for r in make_remarks(seen)} & {"SK407"} == codes


def test_rules_with_different_delays_do_not_order_causes():
    repeats = [
        build_repeat(i, alert("Silent", "Deployment/db", 585), alert("Errors", "Deployment/web", 210)) for i in range(3)
    ]
    seen = numbers(
        *repeats, edges=[PropagationEdge(from_=Reference("Deployment", "db"), to=Reference("Deployment", "web"))]
    )
    assert seen.order == ()
    assert "SK407" not in {r.code for r in make_remarks(seen)}


HEALTHY = Work(seconds=300, requests=600, within=((10.0, 300.0), (100.0, 600.0)))


@pytest.mark.parametrize(
    ("during", "signs", "traces", "codes"),
    [
        pytest.param(HEALTHY, ((), (), ()), (), {"SK415"}, id="as before"),
        pytest.param(
            Work(seconds=300, requests=600, errors=60, within=HEALTHY.within), ((), (), ()), ("errors 0.0% → 10.0%",),
            set(), id="failing",
        ),
        pytest.param(HEALTHY, (("event BackOff on Deployment/api",),) * 3, (), set(), id="with a sign"),
        pytest.param(HEALTHY, (("log of Deployment/api: it failed",), (), ()), (), {"SK415"}, id="with a sign once"),
        pytest.param(HEALTHY, (("log of Deployment/api: it failed",),) * 2 + ((),), (), set(), id="with it twice"),
        pytest.param(HEALTHY, (("event BackOff on Deployment/api2",),) * 3, (), {"SK415"}, id="with another's sign"),
        pytest.param(Work(seconds=3, requests=6), ((), (), ()), (), set(), id="hardly looked at"),
    ],
)  # fmt: skip
def test_declared_passage_through_silent_component(during, signs, traces, codes):
    passage = Passage(entity=Reference("Deployment", "api"), before=HEALTHY, during=during)
    repeats = [
        msgspec.structs.replace(build_held_repeat(i), signs=found, passages=(passage,))
        for i, found in enumerate(signs, start=1)
    ]
    seen = numbers(*repeats)
    assert [(p.entity, p.n, p.traces) for p in seen.passages] == [("Deployment/api", 3, traces)]
    assert {r.code for r in make_remarks(seen)} & {"SK415"} == codes


def test_entity_with_alert_in_one_repeat_needs_no_other_trace():
    passage = Passage(entity=Reference("Deployment", "api"), before=HEALTHY, during=HEALTHY)
    assert (
        numbers(msgspec.structs.replace(build_held_repeat(1), passages=(passage,)), build_held_repeat(2)).passages == ()
    )


def test_invalid_repeats_give_no_statistics():
    assert numbers(build_repeat(1, outcome="Infra")).infra == 1
    assert numbers().n == 0


def build_broken_repeat(number):
    finding = Finding(code="SK322", severity=Severity.ERROR, message="'Errors' did not fire", observed="nothing")
    return build_repeat(number, outcome="Broken", findings=(finding,))


def build_held_repeat(number):
    return build_repeat(number, alert("Errors", "Deployment/web", 20))


@pytest.mark.parametrize(
    ("outcomes", "verdict", "codes"),
    [
        ("HHHHH", Verdict.PASS, set()),
        ("HHHHBHHHHH", Verdict.PASS, {("SK322", Severity.WARNING)}),
        ("HHHHBHHHHB", Verdict.INCONCLUSIVE, {("SK322", Severity.ERROR), ("SK502", Severity.WARNING)}),
        ("BBB", Verdict.FAIL, {("SK322", Severity.ERROR), ("SK501", Severity.ERROR)}),
    ],
)
def test_conclusion_weighs_repeats_into_verdict_and_findings(outcomes, verdict, codes, build_promising_runbook):
    results = [build_held_repeat(i) if o == "H" else build_broken_repeat(i) for i, o in enumerate(outcomes, start=1)]
    validation = conclude(
        ValidationSubject("s", "", "d", get_plan("standard")), results, [], 1.0, promised=build_promising_runbook
    )
    assert validation.verdict == verdict
    assert {
        (f.code, f.severity) for f in validation.findings if f.code != "SK509" and "fired in" not in f.message
    } == codes
    assert (validation.n, validation.failures) == (len(outcomes), outcomes.count("B"))
    assert type(validation).from_json(validation.to_json()) == validation
    if outcomes.count("B") and len(outcomes) > 3:
        reported = next(f for f in validation.findings if f.code == "SK322" and "did not" in f.message)
        assert reported.observed == f"nothing; in {outcomes.count('B')} of {len(outcomes)} repeats"


@pytest.fixture
def build_promising_runbook(runbook_of, fault):
    book = runbook_of(fault("a"))
    return type(book).from_json(book.to_json() | {"expect": EXPECT.to_json()})


def test_headline_counts_held_trials():
    other = alert("Errors", "Deployment/web", 50)
    results = [
        build_repeat(1, other),
        build_repeat(2, outcome="Infra"),
        build_repeat(3, outcome="Broken"),
        build_repeat(4, other),
    ]
    assert write_headline(Verdict.PASS, results, []).startswith("2 of 3 trials held: it reproduces 2 times")
