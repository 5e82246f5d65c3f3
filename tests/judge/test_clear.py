"""When an incident is over, to the second and to the request."""

import pytest

from scenario_kit.judge.repair import resolution
from scenario_kit.judge.repair.resolution import EntryTraffic, Resolution
from scenario_kit.model import AlertExpectation, AlertHistory, AlertTimeline, Interval, Reference
from scenario_kit.model.authored.scenario import BackgroundAlert, Expect

WEB = AlertExpectation(name="Errors", entity=Reference("Deployment", "web"))
AD = AlertExpectation(name="Errors", entity=Reference("Deployment", "ad"))
BOTH = Expect(alerts=(WEB, AD))


def alert(name, entity, *firing):
    return AlertTimeline(
        name=name,
        entity=Reference.parse(entity) if entity else None,
        firing=tuple(Interval(start=a, end=b) for a, b in firing),
    )


def history(*timelines, end=2000.0, gaps=()):
    return AlertHistory(
        start=100.0, end=end, timelines=timelines, gaps=tuple(Interval(start=a, end=b) for a, b in gaps)
    )


@pytest.mark.parametrize(
    ("web", "ad", "since"),
    [
        ([(1000.0, 1500.0)], [(1000.0, 1400.0)], 1500.0),
        ([(1000.0, 1400.0)], [(1000.0, 1500.0)], 1500.0),
        ([(900.0, 1000.0), (1100.0, 1200.0)], [], 1200.0),
        ([(1000.0, 1500.0)], [(1000.0, None)], None),
        ([(1000.0, None)], [(1000.0, 1500.0)], None),
        ([], [], 100.0),
    ],
)
def test_clear_time_is_the_end_of_the_last_expected_alert(web, ad, since):
    seen = history(alert("Errors", "Deployment/web", *web), alert("Errors", "Deployment/ad", *ad))
    assert resolution.find_clear_time(seen, BOTH) == since


def test_undeclared_alerts_do_not_count_as_expected():
    seen = history(alert("Errors", "Deployment/web", (1000.0, 1500.0)), alert("Other", "", (1000.0, None)))
    assert resolution.find_clear_time(seen, BOTH) == 1500.0


BLIND = Resolution(answer="Unknown", reasons=("there is a gap in the data inside the clear window",))
FIRES = Resolution(answer="False", reasons=("Errors on Deployment/web fires",))


@pytest.mark.parametrize(
    ("firing", "gaps", "known", "found"),
    [
        ([(1000.0, 1700.0)], [], [], Resolution(answer="True")),
        ([(1000.0, 1701.0)], [], [], Resolution(answer="False", reasons=("clear for 299 s of 300 s",))),
        ([(1000.0, None)], [], ["Errors on Deployment/web"], FIRES),
        (
            [(1000.0, None)],
            [],
            [],
            Resolution(
                answer="False",
                reasons=("Errors on Deployment/web fires", "Errors on Deployment/web fires and did not before"),
            ),
        ),
        ([], [(1600.0, 1700.0)], [], Resolution(answer="True")),
        ([], [(1600.0, 1701.0)], [], BLIND),
        ([], [(1600.0, None)], [], BLIND),
    ],
)  # fmt: skip
def test_promised_alerts_are_clear_for_the_whole_window(firing, gaps, known, found):
    seen = history(alert("Errors", "Deployment/web", *firing), gaps=gaps)
    assert resolution.judge_alerts(seen, Expect(alerts=(WEB,)), known, 300.0) == found


@pytest.mark.parametrize(("known", "answer"), [(["Other"], "True"), (["Different"], "False"), ([], "False")])
def test_new_alerts_prevent_resolution(known, answer):
    seen = history(alert("Other", "", (1900.0, None)), alert("Gone", "", (1900.0, 1950.0)))
    found = resolution.judge_alerts(seen, BOTH, known, 300.0)
    assert found.answer == answer
    assert found.reasons == (() if answer == "True" else ("Other fires and did not before",))


def test_may_fire_alert_needs_no_quiet_window():
    may = AlertExpectation(name="Errors", entity=Reference("Deployment", "web"), alert_class="MayFire")
    seen = history(alert("Errors", "Deployment/web", (1000.0, 1990.0)))
    assert resolution.judge_alerts(seen, Expect(alerts=(may,)), [], 300.0).answer == "True"


LATENCY = ("Latency", "Deployment/ad")


@pytest.mark.parametrize(
    ("firing", "expect", "left"),
    [
        ([(1100.0, None)], BOTH, True),
        ([(1500.0, None)], BOTH, True),
        ([(1501.0, None)], BOTH, False),
        ([(1000.0, None)], BOTH, False),
        ([(900.0, None)], BOTH, False),
        ([(1100.0, 1999.0)], BOTH, False),
        ([(1100.0, 2000.0)], BOTH, False),
        ([(1100.0, 1200.0), (1900.0, None)], BOTH, True),
        ([(1100.0, None)], Expect(alerts=(AlertExpectation(name="Latency"),)), False),
        ([(1100.0, None)], Expect(alerts=(AlertExpectation(name="Latency", alert_class="MayFire"),)), True),
        ([(1100.0, None)], Expect(background=(BackgroundAlert(name="Latency", reason="x"),)), True),
        ([(500.0, 600.0), (1100.0, None)], Expect(background=(BackgroundAlert(name="Latency", reason="x"),)), False),
    ],
    ids=[
        "raised by the fault", "raised with the repair", "raised after it", "with the injection", "before it", "over",
        "over just now", "came back", "promised", "may fire", "called chronic", "chronic",
    ],
)  # fmt: skip
def test_lingering_alerts_are_found_after_repair(firing, expect, left):
    timeline = alert(*LATENCY, *firing)
    found = resolution.find_lingering(history(timeline), expect, 1000.0, 1500.0)
    assert found == ([timeline] if left else [])


def test_only_lingering_alerts_are_listed():
    left, gone, own = (
        alert("A", "", (1100.0, None)),
        alert("B", "", (1100.0, 1200.0)),
        alert("C", "Pod/x", (1100.0, None)),
    )
    beside = AlertExpectation(name="D", entity=Reference("Pod", "x"), alert_class="MayFire", after="f")
    assert resolution.find_lingering(history(left, gone, own), BOTH, 1000.0, 1500.0, [beside]) == [left]


@pytest.mark.parametrize(
    ("web", "ad", "seconds"),
    [
        ([(1100.0, None)], [(1300.0, None)], 300.0),
        ([(1300.0, None)], [(1100.0, None)], 300.0),
        ([(900.0, None)], [], 0.0),
        ([(1100.0, None)], [(1500.0, None)], 100.0),
        ([(1100.0, None)], [(1600.0, None)], 100.0),
        ([], [], 0.0),
        ([(900.0, 950.0), (1200.0, None)], [], 200.0),
    ],
)
def test_development_time_is_the_last_expected_onset(web, ad, seconds):
    seen = history(alert("Errors", "Deployment/web", *web), alert("Errors", "Deployment/ad", *ad))
    assert resolution.measure_development(seen, BOTH, 1000.0, 1500.0) == seconds


@pytest.mark.parametrize(
    ("took", "raised", "seconds"),
    [
        (400.0, 1.0, 500.0),
        (400.0, 2.0, 1500.0),
        (2880.0, 1.0, 3600.0),
        (4000.0, 1.0, 3600.0),
        (2880.0, 1.5, 7200.0),
        (4000.0, 4.0, 7200.0),
        (0.0, 4.0, 0.0),
    ],
)
def test_recurrence_wait_scales_with_development_time(took, raised, seconds):
    seen = history(alert("Errors", "Deployment/web", (1000.0 + took, None)))
    assert resolution.compute_recurrence_wait(seen, BOTH, 1000.0, 9000.0, raised) == seconds


@pytest.mark.parametrize(
    ("firing", "at"),
    [([(1000.0, 1200.0)], None), ([(1000.0, 1200.0), (1700.0, 1750.0)], 1700.0), ([(1000.0, None)], 1500.0)],
)
def test_returned_expected_alerts_are_found(firing, at):
    promised, other = alert("Errors", "Deployment/ad", *firing), alert("Other", "", (1800.0, None))
    found = resolution.find_returned(history(other, promised), BOTH, 1500.0)
    assert found == ([] if at is None else [(promised, at)])


def build_traffic(requests, errors=0.0, seconds=100.0):
    return EntryTraffic(seconds=seconds, requests=requests, errors=errors)


def test_rate_needs_data():
    assert build_traffic(500.0).rate == 5.0
    assert build_traffic(None).rate is None


@pytest.mark.parametrize(
    ("baseline", "now", "answer", "reason"),
    [
        (build_traffic(1000.0), build_traffic(800.0), "True", ""),
        (
            build_traffic(1000.0),
            build_traffic(799.0),
            "False",
            "the entry serves 8.0 requests/s, less than 80% of 10.0",
        ),
        (build_traffic(1000.0), build_traffic(1600.0, seconds=200.0), "True", ""),
        (
            build_traffic(1000.0),
            build_traffic(1500.0, seconds=200.0),
            "False",
            "the entry serves 7.5 requests/s, less than 80% of 10.0",
        ),
        (build_traffic(200.0), build_traffic(200.0), "True", ""),
        (build_traffic(200.0), build_traffic(199.0), "Unknown", "199 requests are too few to judge (200 are needed)"),
        (build_traffic(None), build_traffic(1000.0), "Unknown", "no request data from the entry"),
        (build_traffic(1000.0, None), build_traffic(1000.0), "Unknown", "no request data from the entry"),
        (build_traffic(1000.0), build_traffic(None), "Unknown", "no request data from the entry"),
        (build_traffic(1000.0), build_traffic(1000.0, None), "Unknown", "no request data from the entry"),
        (build_traffic(998.0), build_traffic(1000.0, 4.0), "True", ""),
        (
            build_traffic(998.0),
            build_traffic(1000.0, 5.0),
            "False",
            "5 of 1000 requests fail, the baseline had 0 of 998",
        ),
        (build_traffic(998.0, 9.0), build_traffic(1000.0, 18.0), "True", ""),
        (
            build_traffic(998.0, 9.0),
            build_traffic(1000.0, 19.0),
            "False",
            "19 of 1000 requests fail, the baseline had 9 of 998",
        ),
        (
            build_traffic(1000.0),
            build_traffic(1000.0, 1200.0),
            "False",
            "1200 of 1000 requests fail, the baseline had 0 of 1000",
        ),
    ],
)
def test_traffic_is_judged_at_its_bounds(baseline, now, answer, reason):
    assert resolution.judge_traffic(baseline, now) == Resolution(answer=answer, reasons=(reason,) if reason else ())


def test_combining_no_resolutions_is_resolved():
    assert resolution.combine([]) == Resolution(answer="True")


def test_reasons_of_resolved_parts_are_omitted():
    parts = [Resolution(answer="True", reasons=("fine",)), Resolution(answer="Unknown", reasons=("a", "b"))]
    assert resolution.combine(parts) == Resolution(answer="Unknown", reasons=("a", "b"))
