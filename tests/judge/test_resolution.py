"""Resolved is tri-state: it needs evidence of health, and missing data is no evidence."""

import json

import pytest

from scenario_kit.judge.repair import invariants, resolution
from scenario_kit.judge.repair.resolution import EntryTraffic, Resolution
from scenario_kit.model import AlertExpectation, AlertHistory, AlertTimeline, App, CheckResult, Interval, Reference
from scenario_kit.model.authored.scenario import BackgroundAlert, Expect

EXPECT = Expect(alerts=(AlertExpectation(name="Errors", entity=Reference("Deployment", "frontend")),))


def test_unrelated_alerts_are_not_new_and_need_not_clear():
    own = AlertExpectation(name="Loops", entity=Reference("Deployment", "email"), alert_class="MayFire", after="old")
    loops = AlertTimeline(
        name="Loops",
        entity=Reference("Deployment", "email"),
        firing=(Interval(start=150.0, end=200.0), Interval(start=400.0)),
    )
    history = AlertHistory(start=0.0, end=900.0, timelines=(loops,))
    expect = Expect(alerts=(own,))
    assert resolution.list_known(history, expect, 300.0, 350.0) == []
    assert resolution.list_known(history, expect, 300.0, 350.0, own=[own]) == ["Loops on Deployment/email"]
    assert resolution.find_lingering(history, expect, 100.0, 800.0) == [loops]
    assert resolution.find_lingering(history, expect, 100.0, 800.0, [own]) == []


@pytest.mark.parametrize(("raised", "seconds"), [(1.0, 500.0), (2.0, 1500.0), (4.0, 3500.0), (100.0, 7200.0)])
def test_recurrence_wait_grows_with_raised_capacity(raised, seconds):
    must = AlertExpectation(name="Loops", entity=Reference("Deployment", "email"))
    loops = AlertTimeline(name="Loops", entity=Reference("Deployment", "email"), firing=(Interval(start=500.0),))
    history = AlertHistory(start=0.0, end=900.0, timelines=(loops,))
    assert resolution.compute_recurrence_wait(history, Expect(alerts=(must,)), 100.0, 800.0, raised) == seconds


def history(*firing, end=2000.0, gaps=(), name="Errors"):
    timeline = AlertTimeline(
        name=name, entity=Reference("Deployment", "frontend"), firing=tuple(Interval(start=a, end=b) for a, b in firing)
    )
    return AlertHistory(start=0.0, end=end, timelines=(timeline,), gaps=gaps)


@pytest.mark.parametrize(
    ("seen", "answer"),
    [
        (history((1000.0, 1500.0)), "True"),
        (history((1000.0, None)), "False"),
        (history((1000.0, 1900.0)), "False"),
        (history((1000.0, 1500.0), gaps=(Interval(start=1900.0, end=1915.0),)), "Unknown"),
        (history((1000.0, 1500.0), gaps=(Interval(start=100.0, end=115.0),)), "True"),
        (history((1900.0, None), name="Other"), "False"),
    ],
    ids=["clear long enough", "firing", "clear too briefly", "blind in the window", "blind before it", "something new"],
)
def test_alerts_clear(seen, answer):
    assert resolution.judge_alerts(seen, EXPECT, [], 360.0).answer == answer


CHRONIC = Expect(background=(BackgroundAlert(name="Other", reason="always on"),))


@pytest.mark.parametrize(
    ("span", "expect", "benign", "may"),
    [
        ((1100.0, None), EXPECT, False, True),
        ((1100.0, None), EXPECT, True, False),
        ((1600.0, None), EXPECT, False, False),
        ((500.0, None), CHRONIC, False, True),
        ((500.0, None), CHRONIC, True, True),
        ((500.0, 900.0), CHRONIC, False, True),
        ((1600.0, None), CHRONIC, False, False),
    ],
    ids=[
        "of the fault", "of what is benign", "of the repair", "chronic", "chronic beside what is benign",
        "chronic now and then", "called chronic",
    ],
)  # fmt: skip
def test_known_alerts_may_fire_after_repair(span, expect, benign, may):
    seen = history(span, name="Other")
    known = resolution.list_known(seen, expect, 1000.0, 1500.0, benign=benign)
    assert known == (["Other on Deployment/frontend"] if may else [])


@pytest.mark.parametrize(
    ("spans", "left"),
    [
        ([(1100.0, None)], True),
        ([(1100.0, 1700.0)], False),
        ([(1600.0, None)], False),
        ([(500.0, None)], False),
        ([(500.0, 900.0), (1100.0, None)], True),
    ],
    ids=["raised", "raised and gone", "raised by the repair", "on since before", "on before, and raised again"],
)
def test_undeclared_alerts_of_fault_must_clear_after_repair(spans, left):
    seen = history(*spans, name="Other")
    assert bool(resolution.find_lingering(seen, EXPECT, 1000.0, 1500.0)) is left


@pytest.mark.parametrize(
    ("name", "span", "new"),
    [
        ("Other", (1600.0, None), True),
        ("Other", (1600.0, 1900.0), False),
        ("Other", (1100.0, None), False),
        ("Errors", (1600.0, None), False),
    ],
    ids=["raised by the repair", "and gone", "raised by the fault", "promised, so that it has returned"],
)
def test_new_alerts_began_after_the_repair(name, span, new):
    seen = history(span, name=name)
    assert resolution.find_new(seen, EXPECT, 1000.0, 1500.0) == (list(seen.timelines) if new else [])


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ((), Resolution(answer="True")),
        (("False",), Resolution(answer="True")),
        (("False", "True"), Resolution(answer="False", reasons=("c: o",))),
        (("Unknown",), Resolution(answer="Unknown", reasons=("c is unknown: o",))),
        (("Unknown", "True"), Resolution(answer="False", reasons=("c: o",))),
    ],
)
def test_signs_of_a_silent_incident_end(answers, expected):
    results = [CheckResult(describe="c", answer=each, observed="o", expected="e", at=0.0) for each in answers]
    assert resolution.judge_signs(results) == expected


@pytest.mark.parametrize(
    ("now", "answer"),
    [
        (EntryTraffic(seconds=300, requests=3000, errors=0), "True"),
        (EntryTraffic(seconds=300, requests=3000, errors=2), "True"),
        (EntryTraffic(seconds=300, requests=3000, errors=300), "False"),
        (EntryTraffic(seconds=300, requests=2000, errors=0), "False"),
        (EntryTraffic(seconds=300), "Unknown"),
        (EntryTraffic(seconds=18, requests=180, errors=0), "Unknown"),
    ],
    ids=["as before", "two by chance", "one in ten fails", "a third is missing", "no data", "too few"],
)
def test_traffic(now, answer):
    assert resolution.judge_traffic(EntryTraffic(seconds=300, requests=3000, errors=0), now).answer == answer


def test_baseline_error_rate_is_tolerated():
    baseline = EntryTraffic(seconds=300, requests=3000, errors=300)
    assert resolution.judge_traffic(baseline, EntryTraffic(seconds=300, requests=3000, errors=310)).answer == "True"
    assert resolution.judge_traffic(baseline, EntryTraffic(seconds=300, requests=3000, errors=400)).answer == "False"


def test_false_beats_unknown_beats_true():
    true, false, unknown = (Resolution(answer=a, reasons=(a,)) for a in ("True", "False", "Unknown"))
    assert resolution.combine([true, unknown, false]) == Resolution(answer="False", reasons=("Unknown", "False"))
    assert resolution.combine([true, unknown]).answer == "Unknown"
    assert resolution.combine([true]).answer == "True"


def app():
    components = [
        {"name": "cart", "workload": "Deployment/cart", "role": "Load"},
        {"name": "mail", "workload": "Deployment/mail"},
    ]
    effects = {"users": {"component": "cart", "effect": "Surge"}, "mail": {"component": "mail", "effect": "Errors"}}
    store = {"configMap": "flags", "key": "flags.json", "effects": effects}
    document = {
        "name": "a",
        "version": "1",
        "namespace": "a",
        "entry": "cart",
        "components": components,
        "flags": store,
    }
    return App.from_json(document)


def workload(replicas=1, ready=1, memory="64Mi", probe=True, users="50", name="cart"):
    container = {
        "name": name,
        "resources": {"limits": {"memory": memory} if memory else {}},
        "env": [{"name": "LOCUST_USERS", "value": users}],
    }
    if probe:
        container["readinessProbe"] = {"tcpSocket": {"port": 1}}
    return {
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {"replicas": replicas, "template": {"spec": {"containers": [container]}}},
        "status": {"readyReplicas": ready},
    }


@pytest.mark.parametrize(
    ("live", "problem"),
    [
        (workload(), None),
        (workload(replicas=3, ready=3), None),
        (workload(memory="256Mi"), None),
        (workload(memory="300Mi"), "more than × 4"),
        (workload(memory=None), "has no limit of memory any more, its baseline is 64Mi"),
        (workload(replicas=0, ready=0), "scaled to 0"),
        (workload(ready=0), "0 ready of 1"),
        (workload(probe=False), "lost its readinessProbe"),
        (None, "is gone"),
        (workload(users="1"), "load setting LOCUST_USERS is 1, its baseline is"),
    ],
    ids=[
        "same",
        "more replicas",
        "four times",
        "five times",
        "without a limit",
        "zero",
        "not ready",
        "probe dropped",
        "deleted",
        "load cut",
    ],
)
def test_guards(live, problem):
    baseline = invariants.take_baseline([workload()], app())
    found = invariants.find_violations(baseline, [live] if live else [], app())
    assert [p for p in found if problem and problem in p] if problem else found == []


def service(port=8080, **selector):
    spec = {"selector": selector or {"app": "cart"}, "ports": [{"port": 80, "targetPort": port}, {"port": 81}]}
    return {"kind": "Service", "metadata": {"name": "cart"}, "spec": spec}


def build_served_objects():
    obj = workload()
    obj["spec"]["template"]["metadata"] = {"labels": {"app": "cart", "tier": "shop"}}
    obj["spec"]["template"]["spec"]["containers"][0]["ports"] = [{"containerPort": 8080, "name": "http"}]
    return obj


@pytest.mark.parametrize(
    ("live", "problems"),
    [
        (service(), []),
        (service("http"), []),
        (service(8080, tier="shop"), []),
        (service(9999), ["Service/cart: nothing listens behind port 80 any more"]),
        (service(8080, app="ad"), ["Service/cart: nothing listens behind port 80 any more"]),
    ],
    ids=["same", "by name", "by another label", "a closed port", "nobody's pods"],
)
def test_service_ports_must_have_listeners(live, problems):
    baseline = invariants.take_baseline([build_served_objects(), service()], app())
    assert invariants.find_violations(baseline, [build_served_objects(), live], app()) == problems


@pytest.mark.parametrize(("users", "fine"), [("60", True), ("50", True), ("40", False)])
def test_repair_may_restore_load_of_trial_or_scenario(users, fine):
    baseline = invariants.take_baseline(
        [workload(users="60"), flags("60", **{"60": 60, "40": 40})], app(), build_load_variants(users="50")
    )
    live = [workload(users=users), flags(users, **{"60": 60, "40": 40})]
    found = invariants.find_violations(baseline, live, app())
    assert (found == []) if fine else ["load setting" in problem for problem in found] == [True, True]


def build_load_variants(users):
    return {"LOCUST_USERS": users, "users": users}


def test_autoscaled_workload_may_shrink_to_its_minimum():
    baseline = invariants.take_baseline([workload(replicas=4, ready=4)], app())
    scaler = {"spec": {"scaleTargetRef": {"kind": "Deployment", "name": "cart"}, "minReplicas": 1}}
    assert invariants.find_violations(baseline, [workload()], app(), [scaler]) == []
    assert invariants.find_violations(baseline, [workload()], app()) != []


def flags(users="50", **variants):
    known = {"5": 5, "50": 50, **variants}
    mail = {"state": "ENABLED", "variants": {"on": 1, "off": 0}, "defaultVariant": "off"}
    document = {"flags": {"users": {"state": "ENABLED", "variants": known, "defaultVariant": users}, "mail": mail}}
    return {"kind": "ConfigMap", "metadata": {"name": "flags"}, "data": {"flags.json": json.dumps(document)}}


def build_disabled_flags():
    obj = flags()
    obj["data"]["flags.json"] = obj["data"]["flags.json"].replace("ENABLED", "DISABLED")
    return obj


@pytest.mark.parametrize(
    ("live", "problem"),
    [
        (flags(), None),
        (flags("usual", usual=50), None),
        (flags("5"), "load setting users is 5, its baseline is 50"),
        (flags("50", **{"50": 5}), "load setting users is 5"),
        (build_disabled_flags(), "load setting users is disabled"),
        ({**flags(), "data": {"flags.json": "{"}}, "load setting users is gone"),
        ({**flags(), "data": {}}, "load setting users is gone"),
        (None, "ConfigMap/flags is gone"),
    ],
    ids=["same", "same number", "fewer", "other meaning", "disabled", "broken", "emptied", "deleted"],
)
def test_flags_that_set_the_load_are_guarded(live, problem):
    baseline = invariants.take_baseline([flags()], app())
    found = invariants.find_violations(baseline, [live] if live else [], app())
    assert (problem in found[0] and len(found) == 1) if problem else found == []
