"""What repeats say together: rows of alerts, remarks at their bounds, order, fingerprints and assumptions."""

from types import SimpleNamespace

import msgspec
import pytest

from scenario_kit.campaign.planning.assumptions import draw_assumptions, find_decisive_assumptions, vary_runbook
from scenario_kit.campaign.planning.sequential_test import FIVE_THEN_FIVE
from scenario_kit.campaign.planning.spec import ValidationSpec, parse_validation_spec
from scenario_kit.campaign.results.exceptions import list_allowances
from scenario_kit.campaign.results.identifiability import find_neighbours, judge_neighbours, take_fingerprint
from scenario_kit.campaign.results.remarks import make_remarks
from scenario_kit.campaign.results.result import (
    AlertSummary,
    Allowance,
    Neighbour,
    OrderSummary,
    PassageSummary,
    Statistics,
    TrialResult,
    complete_from_status,
)
from scenario_kit.campaign.results.summary import end_of_hold, find_first_onset, summarise
from scenario_kit.errors import UsageError
from scenario_kit.model import (
    AlertExpectation,
    AlertHistory,
    AlertTimeline,
    Finding,
    Interval,
    Reference,
    Severity,
    StepStatus,
)  # fmt: skip
from scenario_kit.model.authored.fault import Entity
from scenario_kit.model.authored.scenario import BackgroundAlert, Expect, PropagationEdge
from scenario_kit.model.results.evidence import Fingerprint
from scenario_kit.model.twin import Assumption
from scenario_kit.trial import TrialStatus
from tests.lab.twin import tiny


def alert(name, entity, *onsets):
    return AlertTimeline(
        name=name,
        entity=Reference.parse(entity) if entity else None,
        firing=tuple(Interval(start=1000.0 + o, end=1000.0 + o + 50) for o in onsets),
    )


def build_repeat(number, *timelines, outcome="Held", hold=600.0, **more):
    steps = (
        [StepStatus(index=0, step="hold", outcome="Held", started_at=1000.0, finished_at=1000.0 + hold)] if hold else []
    )
    seen = AlertHistory(start=0.0, end=3000.0, timelines=timelines)
    made = {"purpose": f"repeat-{number}", "steps": tuple(steps), "injected_at": 1000.0, "history": seen}
    return TrialResult(**({"name": f"r{number}", "describe": "", "seed": number, "outcome": outcome} | made | more))


WEB = AlertExpectation(name="Errors", entity=Reference("Deployment", "web"), within_seconds=200)


def numbers(*repeats, expect=None, edges=()):
    return summarise(FIVE_THEN_FIVE, repeats, expect or Expect(alerts=(WEB,)), edges)


def test_alerts_are_counted_until_the_first_action():
    seen = numbers(
        build_repeat(1, alert("Errors", "Deployment/web", 600)), build_repeat(2, alert("Errors", "Deployment/web", 601))
    )
    (row,) = seen.alerts
    assert row == AlertSummary(
        alert="Errors on Deployment/web", declared="MustFire", fired=1, n=2, median_seconds=600.0,
        within_seconds=200, proposal="MayFire",
    )  # fmt: skip


def test_alert_firing_earlier_counts_from_injection():
    (row,) = numbers(build_repeat(1, alert("Errors", "Deployment/web", -20))).alerts
    assert (row.median_seconds, row.p95_seconds, row.proposed_seconds, row.proposal) == (0.0, 0.0, 60.0, "")


def test_expectation_on_any_entity_uses_the_earliest_alert():
    anywhere = AlertExpectation(name="Errors")
    lines = (alert("Errors", "Deployment/web", 90), alert("Errors", "Deployment/ad", 30), alert("Slow", "", 10))
    rows = numbers(build_repeat(1, *lines), expect=Expect(alerts=(anywhere,))).alerts
    assert [(r.alert, r.declared, r.median_seconds) for r in rows] == [
        ("Errors", "MustFire", 30.0),
        ("Slow", "undeclared", 10.0),
    ]


def test_may_fire_and_background_alerts_count_as_declared():
    expect = Expect(
        alerts=(AlertExpectation(name="Slow", alert_class="MayFire"),),
        background=(BackgroundAlert(name="Old", reason="x"),),
    )
    rows = numbers(
        build_repeat(1, alert("Slow", "", 9), alert("Old", "", 9), alert("New", "", 9)), build_repeat(2), expect=expect
    ).alerts
    assert [(r.alert, r.declared, r.fired, r.n, r.proposal, r.within_seconds) for r in rows] == [
        ("New", "undeclared", 1, 2, "", None), ("Old", "MayFire", 1, 2, "", None), ("Slow", "MayFire", 1, 2, "", None),
    ]  # fmt: skip


def test_repeats_without_evidence_count_without_alerts():
    seen = numbers(
        build_repeat(1, history=None),
        build_repeat(2, injected_at=None, outcome="Broken"),
        build_repeat(3, outcome="Infra"),
    )
    assert (seen.n, seen.broken, seen.infra, seen.similarity) == (2, 1, 1, None)
    assert seen.alerts == (
        AlertSummary(alert="Errors on Deployment/web", declared="MustFire", fired=0, n=0, within_seconds=200),
    )


def test_only_repeats_are_counted():
    seen = numbers(build_repeat(1), msgspec.structs.replace(build_repeat(2), purpose="control"))
    assert (seen.n, seen.infra) == (1, 0)
    nothing = numbers(msgspec.structs.replace(build_repeat(2), purpose="control"), build_repeat(1, outcome="Infra"))
    assert nothing == Statistics(n=0, broken=0, infra=1, claims=nothing.claims)
    assert nothing.claims == pytest.approx(numbers(build_repeat(1)).claims)
    assert 0.4 < nothing.claims < 0.7


def test_hold_rate_bounds_match_the_formula():
    assert numbers(build_repeat(1)).at_least == pytest.approx(0.05)
    assert numbers(*(build_repeat(i) for i in range(5))).at_least == pytest.approx(0.05 ** (1 / 5))
    assert numbers(*(build_repeat(i) for i in range(5))).effective == pytest.approx(5 / 2.2)


def test_edge_order_compares_one_rule_on_both_ends():
    edges = [
        PropagationEdge(from_=Reference("Deployment", "db"), to=Reference("Deployment", "web")),
        PropagationEdge(from_=Reference("Deployment", "x"), to=Reference("Deployment", "web")),
    ]
    early = build_repeat(1, alert("Errors", "Deployment/db", 10), alert("Errors", "Deployment/web", 90))
    tick = build_repeat(2, alert("Errors", "Deployment/db", 120), alert("Errors", "Deployment/web", 90))
    late = build_repeat(3, alert("Errors", "Deployment/db", 121), alert("Errors", "Deployment/web", 90))
    assert numbers(early, tick, late, edges=edges).order == (
        OrderSummary(from_="Deployment/db", to="Deployment/web", share=pytest.approx(2 / 3)),
    )
    after = build_repeat(1, alert("Errors", "Deployment/db", 700), alert("Errors", "Deployment/web", 90))
    assert numbers(after, edges=edges).order == ()


def brief(statistics):
    return [(f.code, f.severity) for f in make_remarks(statistics)]


def row(**more):
    return AlertSummary(
        **(
            {"alert": "E", "declared": "MustFire", "fired": 3, "n": 3, "median_seconds": 50.0, "p95_seconds": 60.0}
            | more
        )
    )


@pytest.mark.parametrize(
    ("more", "codes"),
    [
        ({"within_seconds": 119, "proposed_seconds": 120.0}, ["SK508"]),
        ({"within_seconds": 120, "proposed_seconds": 120.0}, []),
        ({"within_seconds": None, "proposed_seconds": 120.0}, []),
        ({"within_seconds": 10, "proposed_seconds": None}, []),
        ({"proposal": "MayFire"}, ["SK322"]),
    ],
)
def test_remarks_on_an_alert(more, codes):
    assert brief(Statistics(n=3, broken=0, alerts=(row(**more),))) == [(code, Severity.WARNING) for code in codes]


def test_remark_says_the_numbers():
    (found,) = make_remarks(Statistics(n=3, broken=0, alerts=(row(within_seconds=90, proposed_seconds=120.0),)))
    assert (found.expected, found.fix) == ("twice that, at least a minute more: 120 s", "withinSeconds: 120")
    (found,) = make_remarks(Statistics(n=3, broken=0, alerts=(row(fired=1, proposal="MayFire"),)))
    assert (found.observed, found.expected) == ("1 of 3", "3 of 3")


@pytest.mark.parametrize(
    ("n", "similar", "reported"), [(3, 0.79, True), (3, 0.8, False), (2, 0.1, False), (3, None, False)]
)
def test_low_similarity_of_repeats_is_reported(n, similar, reported):
    assert brief(Statistics(n=n, broken=0, similarity=similar)) == ([("SK509", Severity.WARNING)] if reported else [])


@pytest.mark.parametrize(("n", "share", "reported"), [(3, 0.79, True), (3, 0.8, False), (2, 0.1, False)])
def test_repeats_agree_on_the_order(n, share, reported):
    order = (OrderSummary(from_="Deployment/a", to="Deployment/b", share=share),)
    found = make_remarks(Statistics(n=n, broken=0, order=order))
    assert [(f.code, f.severity) for f in found] == ([("SK407", Severity.WARNING)] if reported else [])
    assert all(f.message.startswith("Deployment/b alerts before Deployment/a") for f in found)


@pytest.mark.parametrize(
    ("requests", "traces", "signs", "reported"),
    [(100, (), (), True), (0, (), (), False), (100, ("errors",), (), False), (100, (), ("event x",), False)],
)
def test_passage_without_a_trace(requests, traces, signs, reported):
    passage = PassageSummary(entity="Deployment/a", n=3, requests=requests, traces=traces, signs=signs)
    assert brief(Statistics(n=3, broken=0, passages=(passage,))) == ([("SK415", Severity.WARNING)] if reported else [])


def test_the_end_of_a_hold():
    assert end_of_hold(build_repeat(1)) == 1600.0
    assert end_of_hold(build_repeat(1, hold=0)) == 3000.0


@pytest.mark.parametrize(
    ("entity", "until", "rule", "onset"),
    [
        ("Deployment/web", 9999.0, "", 30.0),
        ("Deployment/web", 9999.0, "Errors", 90.0),
        ("Deployment/web", 1030.0, "", 30.0),
        ("Deployment/web", 1029.0, "", float("inf")),
        ("Deployment/ad", 9999.0, "", float("inf")),
    ],
)
def test_the_first_onset_on_an_entity(entity, until, rule, onset):
    seen = build_repeat(
        1, alert("Errors", "Deployment/web", 90), alert("Slow", "Deployment/web", 30), alert("Slow", "", 10)
    )
    assert find_first_onset(seen, Reference.parse(entity), until, rule) == onset
    assert find_first_onset(build_repeat(1, history=None), Reference.parse(entity)) == float("inf")
    assert find_first_onset(msgspec.structs.replace(seen, injected_at=None), Reference.parse(entity)) == float("inf")


def test_fingerprint_has_frequent_signs_and_fields(fault, runbook_of):
    entities = (
        Entity(ref=Reference("ConfigMap", "f"), field="data.k"), Entity(ref=Reference("Deployment", "v"),
        role="Victim"),
        Entity(ref=Reference("Pod", "g"), role="Artefact", generated=True), Entity(ref=Reference("Service", "a"),
        role="Artefact"),
    )  # fmt: skip
    book = runbook_of(msgspec.structs.replace(fault("f"), entities=entities), solutions={"s": ["f"]})
    signs = [("x", "y", "y"), ("x",), ("z", "y"), ()]
    seen = [
        build_repeat(i, alert("E", "Deployment/b", 9), alert("A", "", 9), alert("Late", "", 601), signs=s)
        for i, s in enumerate(signs)
    ]
    assert take_fingerprint(book, seen) == Fingerprint(
        app="shop", answer=("ConfigMap/f",), symptoms=(("A", "E on Deployment/b"),) * 4,
        signs=("field data.k on ConfigMap/f", "field of on Service/a", "x", "y"),
    )  # fmt: skip
    broken = [build_repeat(i, outcome="Broken") for i in range(3)]
    control = [msgspec.structs.replace(r, purpose="control") for r in seen]
    assert [take_fingerprint(book, r) for r in (broken, control, seen[:2])] == [None] * 3
    assert take_fingerprint(runbook_of(fault("f"), outcome="Benign"), seen) is None


def test_neighbours_are_sorted_by_distance_and_name():
    def near(*symptoms, signs=("a",), answer=("x",)):
        return Fingerprint(app="shop", answer=answer, symptoms=symptoms, signs=signs)

    ab, abc = ("a", "b"), ("a", "b", "c")
    found = find_neighbours(
        near(ab, ab, ab, signs=("a", "c", "b")),
        {
            "z": near(ab, ab, ab, signs=("a", "e", "d"), answer=("y",)),
            "b": near(ab, ab, ab), "a": near(ab, abc, abc), "far": near(abc, abc, abc),
        },
    )  # fmt: skip
    assert [(n.scenario, n.margin, n.same_answer, n.here, n.there) for n in found] == [
        ("b", 0.0, True, ("b", "c"), ()), ("z", 0.0, False, ("b", "c"), ("d", "e")), ("a", 0.111, True, ("b", "c"), ()),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("near", "found"),
    [
        ({"same_answer": True}, ("SK452", Severity.WARNING)),
        ({"same_answer": True, "here": ("x",)}, ("SK452", Severity.WARNING)),
        ({"same_answer": False}, ("SK451", Severity.ERROR)),
        ({"same_answer": False, "here": ("x",)}, None),
        ({"same_answer": False, "there": ("x",)}, None),
    ],
)
def test_neighbours_within_margin_are_reported(near, found):
    reported = judge_neighbours([Neighbour(scenario="other", margin=0.125, **near)])
    assert [(f.code, f.severity) for f in reported] == ([found] if found else [])
    assert all("'other'" in f.message and "0.12" in f.observed for f in reported)


def build_result(outcome, **assumed):
    return SimpleNamespace(outcome=outcome, assumed=assumed)


def build_runbook(app, **why):
    known = {n: Assumption(value=2.0, low=1.0, high=3.0, why=w) for n, w in why.items()}
    return msgspec.structs.replace(app, twin=msgspec.structs.replace(tiny.DEFINITION, assumptions=known))


def test_common_factor_of_broken_repeats_is_a_warning(fault, runbook_of):
    app = build_runbook(runbook_of(fault("f")).app, a="guess", b="", c="x", d="y", e="z")
    low, high = dict.fromkeys("abcde", 1.0), dict.fromkeys("abcde", 3.0)
    (found,) = find_decisive_assumptions([build_result("Held", **low), build_result("Broken", **high)], app)
    assert (found.code, found.severity) == ("SK512", Severity.WARNING)
    assert found.message.endswith("a, b or c")
    assert found.observed.endswith(
        "had a = 3 (1 to 3, guess) or b = 3 (1 to 3) or c = 3 (1 to 3, x); or on 2 more that went with them"
    )
    (found,) = find_decisive_assumptions(
        [build_result("Held", **low), build_result("Broken", **(low | {"b": 3.0}))], app
    )
    assert found.observed.endswith("had b = 3 (1 to 3)")


def test_variations_of_the_assumptions(fault, runbook_of):
    book = runbook_of(fault("f"))
    app = build_runbook(book.app, a="", b="", c="")
    assert [draw_assumptions(app, v) for v in range(1, 5)] == [
        {"a": 3.0, "b": 1.0, "c": 3.0}, {"a": 3.0, "b": 1.0, "c": 1.0},
        {"a": 1.0, "b": 3.0, "c": 3.0}, {"a": 1.0, "b": 3.0, "c": 1.0},
    ]  # fmt: skip
    assert draw_assumptions(app, 5) == {"a": 1.0, "b": 3.0, "c": 1.0}
    assert draw_assumptions(app, 7) == {"a": 3.0, "b": 3.0, "c": 1.0}
    assert draw_assumptions(book.app, 3) == {}
    changed = vary_runbook(msgspec.structs.replace(book, app=app), 1).app.twin
    assert changed.assumptions["a"] == Assumption(value=3.0, low=1.0, high=3.0, why="")


def test_allowances_of_faults_are_listed(fault):
    ordinary = fault("a")
    special = msgspec.structs.replace(fault("b"), scope="Cluster", requires=("netem", "kernel", "node-access"))
    assert list_allowances([ordinary]) == ()
    found = list_allowances([ordinary, special])
    assert [(a.fault, a.allow) for a in found] == [("b", "Cluster"), ("b", "kernel"), ("b", "node-access")]
    assert all(isinstance(a, Allowance) and a.because for a in found)


BASE = TrialResult(name="t", purpose="p", describe="d", seed=3, outcome="Infra")
FAILED = StepStatus(index=1, step="hold", outcome="Broken", started_at=1.0, message="it broke")
FINE = StepStatus(index=0, step="deploy", outcome="Held", started_at=0.0, message="fine")


@pytest.mark.parametrize(
    ("outcome", "steps", "trouble", "result", "message"),
    [
        ("Held", (FINE,), "", "Held", ""),
        ("Broken", (FINE, FAILED), "", "Broken", "it broke"),
        ("Infra", (FINE, msgspec.structs.replace(FAILED, outcome="Infra")), "", "Infra", "it broke"),
        ("Broken", (FAILED,), "gone", "Broken", "gone"),
        ("", (), "gone", "Infra", "gone"),
    ],
)
def test_trial_result_takes_status_and_history(outcome, steps, trouble, result, message):
    finding = Finding(code="SK322", severity=Severity.ERROR, message="m")
    status = TrialStatus(outcome=outcome, started_at=5.0, steps=steps, findings=(finding,))
    history = AlertHistory(start=0.0, end=9.0)
    found = complete_from_status(BASE, status, history, 7.0, trouble)
    assert (found.outcome, found.message, found.started_at, found.injected_at) == (result, message, 5.0, 7.0)
    assert (found.steps, found.findings, found.history, found.name, found.seed) == (steps, (finding,), history, "t", 3)


CUSTOM = {"name": "mine", "looks": [{"repeats": 3, "accept": 0, "reject": 1}]}


@pytest.mark.parametrize(
    ("spec", "name", "repeats", "parallel"),
    [
        ({"scenario": "s"}, "quick", [1], 2),
        ({"scenario": "s", "plan": "Standard"}, "standard", [5, 10], 2),
        ({"scenario": "s", "plan": "Standard", "maxRepeats": 9}, "standard", [5], 2),
        ({"scenario": "s", "custom": CUSTOM}, "mine", [3], 2),
        ({"scenario": "s", "custom": {**CUSTOM, "parallel": 4}}, "mine", [3], 4),
        ({"scenario": "s", "custom": {**CUSTOM, "parallel": 4}, "parallelism": 3}, "mine", [3], 3),
        ({"scenario": "s", "embedded": {"anything": 1}}, "quick", [1], 2),
    ],
)
def test_spec_of_a_validation(spec, name, repeats, parallel):
    found = parse_validation_spec(spec)
    assert (found.followed.name, [look.n for look in found.followed.looks], found.parallel) == (name, repeats, parallel)
    assert found.embedded is None


def test_budget_too_small_to_pass_is_refused():
    with pytest.raises(UsageError, match="SK503"):
        _ = ValidationSpec(scenario="s", plan="Standard", max_repeats=4).followed
