"""Comparison of a trial's alerts with those of the file."""

import msgspec
import pytest
import yaml

from scenario_kit.catalog import find_data_root
from scenario_kit.draft import select_observed, write_accepted
from scenario_kit.load import load_scenario
from scenario_kit.model import AlertHistory, AlertRule, AlertTimeline, Interval, Reference
from scenario_kit.model.authored.scenario import AlertExpectation, Expect, PropagationEdge, Recurrence

FILE = find_data_root() / "catalog" / "scenarios" / "shipping-quote-address-wrong" / "scenario.yaml"
SPEC = load_scenario(FILE).scenario.spec
TEXT = FILE.read_text()


def build_timeline(name, on, start, end=None):
    return AlertTimeline(
        name=name, entity=Reference.parse(on) if on else None, firing=(Interval(start=start, end=end),)
    )


@pytest.mark.parametrize(
    ("timeline", "expected"),
    [
        (build_timeline("A", "Deployment/x", 150), [("A", "Deployment/x", "MustFire")]),
        (build_timeline("A", "Deployment/x", 150, 180), [("A", "Deployment/x", "MayFire")]),
        (build_timeline("A", "Deployment/x", 50), []),  # before the injection
        (build_timeline("A", "Deployment/x", 250), []),  # when somebody acted already
    ],
)
def test_alerts_between_injection_and_judgement_count(timeline, expected):
    seen = select_observed(AlertHistory(start=0, end=300, timelines=(timeline,)), 100, 200)
    assert [(a.name, a.entity, a.alert_class) for a in seen] == expected


@pytest.mark.parametrize(
    ("firing", "promised"),
    [
        ([(150, None)], "MustFire"),
        ([(150, 340), (345, None)], "MustFire"),  # a decoy interrupted it
        ([(150, 210)], "MayFire"),  # it went by itself, while a decoy was tried
        ([(150, 210), (395, None)], "MayFire"),
    ],
)
def test_alert_ending_before_repair_is_not_expected(firing, promised):
    timeline = AlertTimeline(name="A", firing=tuple(Interval(start=s, end=e) for s, e in firing))
    (seen,) = select_observed(AlertHistory(start=0, end=500, timelines=(timeline,)), 100, 200, 400)
    assert seen.alert_class == promised


def alerts(text):
    return [
        (a["name"], a.get("entity"), a.get("class", "MustFire")) for a in document(text)["spec"]["expect"]["alerts"]
    ]


def document(text):
    return yaml.load(text, Loader=yaml.BaseLoader)


def expect(name, on, alert_class="MustFire"):
    return AlertExpectation(name=name, entity=Reference.parse(on) if on else None, alert_class=alert_class)


def test_predicted_alerts_keep_their_text():
    seen = [
        expect("HighRequestErrorRate", "Deployment/shipping"),
        expect("HighRequestErrorRate", "Deployment/checkout"),
    ]
    text = write_accepted(TEXT, SPEC, seen, ())
    reported = alerts(text)
    assert reported[:2] == [("HighRequestErrorRate", f"Deployment/{n}", "MustFire") for n in ("shipping", "checkout")]
    assert document(text)["spec"]["expect"]["alerts"][0]["withinSeconds"] == "480"
    assert ("KubePodNotReady", None, "MustNotFire") in reported
    assert text.startswith(TEXT[: TEXT.index("  expect:")])


def test_accept_replaces_unfired_alerts_with_fired():
    seen = [expect("HighRequestLatency", "Deployment/cart"), expect("KubePodNotReady", "Deployment/shipping")]
    edges = [
        PropagationEdge(
            from_=Reference("Deployment", "shipping"), to=Reference("Deployment", "cart"), because="of a test"
        )
    ]
    text = write_accepted(TEXT, SPEC, seen, edges)
    optional = [("HighRequestErrorRate", f"Deployment/{n}", "MayFire") for n in ("frontend", "frontend-proxy")]
    assert alerts(text) == [
        *optional,
        ("NoRequestsReceived", None, "MayFire"),
        ("HighRequestErrorRate", "Deployment/payment", "MustNotFire"),
        ("HighRequestLatency", "Deployment/cart", "MustFire"),
        ("KubePodNotReady", "Deployment/shipping", "MustFire"),
    ]
    drawn = [(e["from"], e["to"]) for e in document(text)["spec"]["groundTruth"]["propagation"]]
    assert drawn[-1] == ("Deployment/shipping", "Deployment/cart")
    assert ("Deployment/frontend", "Deployment/frontend-proxy") in drawn, "what may fire stays explained"


def test_draft_without_expectations_gets_observed_alerts():
    start, end = TEXT.index("  expect:"), TEXT.index("  groundTruth:")
    text, spec = TEXT[:start] + TEXT[end:], msgspec.structs.replace(SPEC, expect=Expect())
    assert alerts(write_accepted(text, spec, [expect("KubePodNotReady", "Deployment/cart")], ())) == [
        ("KubePodNotReady", "Deployment/cart", "MustFire")
    ]


def test_overly_strict_alert_class_is_lowered():
    seen = [expect("HighRequestErrorRate", "Deployment/shipping", "MayFire")]
    assert ("HighRequestErrorRate", "Deployment/shipping", "MayFire") in alerts(write_accepted(TEXT, SPEC, seen, ()))


@pytest.mark.parametrize(
    ("seen", "frontend"),
    [
        ([expect("HighRequestErrorRate", "Deployment/frontend")], "MustFire"),
        ([expect("HighRequestErrorRate", "Deployment/frontend", "MayFire")], "MayFire"),
        ([expect("HighRequestErrorRate", f"Deployment/{n}") for n in ("shipping", "frontend")], "MayFire"),
    ],
    ids=["nothing else lasts", "it does not last either", "something else lasts"],
)
def test_may_fire_alert_is_expected_if_no_other_is(seen, frontend):
    reported = alerts(write_accepted(TEXT, SPEC, seen, ()))
    assert ("HighRequestErrorRate", "Deployment/frontend", frontend) in reported


def test_no_dangling_edge_if_only_the_cause_alerts():
    (cause,) = SPEC.ground_truth.root_causes
    plain = "".join(line for line in TEXT.splitlines(keepends=True) if "MayFire" not in line)
    must = tuple(a for a in SPEC.expect.alerts if a.alert_class != "MayFire")
    spec = msgspec.structs.replace(SPEC, expect=msgspec.structs.replace(SPEC.expect, alerts=must))
    truth = document(write_accepted(plain, spec, [expect("KubePodNotReady", cause.entity)], ()))["spec"]["groundTruth"]
    assert "propagation" not in truth
    elsewhere = write_accepted(plain, spec, [expect("KubePodNotReady", "Deployment/cart")], ())
    assert "propagation" in document(elsewhere)["spec"]["groundTruth"], "the author has to say how it got there"


@pytest.mark.parametrize(("held", "promised"), [(True, "MustFire"), (False, "MayFire")])
def test_alert_interrupted_by_decoy_remains_expected(held, promised):
    seen = [expect("HighRequestErrorRate", "Deployment/shipping", "MayFire")]
    reported = alerts(write_accepted(TEXT, SPEC, seen, (), held=held))
    assert ("HighRequestErrorRate", "Deployment/shipping", promised) in reported


def seen_after(seconds, on="Deployment/shipping", alert_class="MustFire"):
    return AlertExpectation(
        name="HighRequestErrorRate",
        entity=Reference.parse(on) if on else None,
        alert_class=alert_class,
        within_seconds=seconds,
    )


@pytest.mark.parametrize(
    ("period", "onset", "within"),
    [(0, 700, "1410"), (0, 300, "600"), (0, 100, "480"), (900, 700, "480"), (900, 2000, "4020")],
)
def test_default_deadline_is_kept_if_a_campaign_would_not_call_it_too_short(period, onset, within):
    use = msgspec.structs.replace(SPEC.faults[0], recurrence=Recurrence(every_seconds=period) if period else None)
    due = tuple(msgspec.structs.replace(a, within_seconds=None) for a in SPEC.expect.alerts)
    spec = msgspec.structs.replace(SPEC, faults=(use,), expect=msgspec.structs.replace(SPEC.expect, alerts=due))
    rules = [AlertRule(name="HighRequestErrorRate", expr="up", for_seconds=180, range_seconds=120)]
    text = write_accepted(TEXT, spec, [seen_after(onset)], (), rules=rules)
    (shipping,) = (a for a in document(text)["spec"]["expect"]["alerts"] if a.get("entity") == "Deployment/shipping")
    assert shipping["withinSeconds"] == within, "480 is what the file has"


@pytest.mark.parametrize(("onset", "within"), [(100, "480"), (480, "480"), (600, "1200")])
def test_short_deadline_is_extended_as_the_finding_suggests(onset, within):
    text = write_accepted(TEXT, SPEC, [seen_after(onset)], ())
    reported = {
        a["entity"]: a.get("withinSeconds") for a in document(text)["spec"]["expect"]["alerts"] if "entity" in a
    }
    assert reported["Deployment/shipping"] == within


@pytest.mark.parametrize(
    ("after", "within"),
    [
        ("first", "1800"),  # 900 s after it
        ("second", "480"),  # 300 s after it: in time
        ("", "480"),  # without `after` deadlines count from the last injection
    ],
)
def test_deadline_counts_from_the_injection_named_by_after(after, within):
    alert = AlertExpectation(
        name="HighRequestErrorRate", entity=Reference("Deployment", "shipping"), after=after, within_seconds=480
    )
    spec = msgspec.structs.replace(SPEC, expect=Expect(alerts=(alert,)))
    injected = {"first": 1000.0, "second": 1600.0}
    text = write_accepted(TEXT, spec, [seen_after(900)], (), injections=injected)
    assert document(text)["spec"]["expect"]["alerts"][0].get("withinSeconds") == within


def test_unfired_may_fire_alert_is_kept():
    reported = alerts(write_accepted(TEXT, SPEC, [seen_after(100)], ()))
    assert ("HighRequestErrorRate", "Deployment/frontend", "MayFire") in reported


def test_lowered_alert_class_keeps_other_fields():
    text = write_accepted(TEXT, SPEC, [seen_after(100, alert_class="MayFire")], ())
    entry = next(a for a in document(text)["spec"]["expect"]["alerts"] if a.get("entity") == "Deployment/shipping")
    assert (entry["class"], entry["withinSeconds"]) == ("MayFire", "480")


def test_alert_beginning_at_hold_end_is_recorded():
    timeline = build_timeline("A", "Deployment/x", 200)
    (seen,) = select_observed(AlertHistory(start=0, end=300, timelines=(timeline,)), 100, 200)
    assert (seen.name, seen.within_seconds) == ("A", 100)
