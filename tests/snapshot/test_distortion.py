"""Faulty telemetry: drawn from the seed, only where it was declared, and refused where it looks like an incident."""

from types import SimpleNamespace

import pytest

from scenario_kit.errors import AuthoringError
from scenario_kit.model import AlertHistory, AlertTimeline, Interval, Reference
from scenario_kit.model.runtime.recording import RecordedLine, RecordedTick
from scenario_kit.model.runtime.trace import Span, Trace
from scenario_kit.ports import Series
from scenario_kit.snapshot.distortion.alerts import check_control
from scenario_kit.snapshot.distortion.apply import Distortion
from scenario_kit.snapshot.distortion.policy import TelemetryPolicy, read_policies

START = 1000.0
COMPONENTS = ("cart", "frontend")


def policy(kind: str, source: str = "cart", **fields: float) -> TelemetryPolicy:
    return TelemetryPolicy(kind=kind, source=source, **fields)


def samples(
    distortion: Distortion, name: str = "container_memory_rss", component: str = "cart", *, stored: bool = False
):
    series = Series({"__name__": name, "container": component}, [(START + 15 * n, 100.0 + n) for n in range(200)])
    (shown,) = (distortion.show_series if stored else distortion.distort_series)([series])
    return shown.points


def tick() -> RecordedTick:
    lines = tuple(RecordedLine("ns", f"{c}-1", c, START + n, f"line {n}") for c in COMPONENTS for n in range(200))
    spans = tuple(
        Span("t", f"{c}{n}", "", c, "GET", "SERVER", START + n, 0.1, False, "", {}, {})
        for c in COMPONENTS
        for n in range(200)
    )
    return RecordedTick(at=START + 300, lines=lines, traces=(Trace("t", spans),))


def distort(*policies: TelemetryPolicy, seed: int = 1) -> RecordedTick:
    distortion = Distortion(policies, seed, START)
    (shown,) = distortion.distort_ticks([tick()], {f"{c}-1": c for c in COMPONENTS})
    return shown


def lines(shown: RecordedTick, component: str) -> list[RecordedLine]:
    return [line for line in shown.lines if line.container == component]


def spans(shown: RecordedTick, component: str) -> list[Span]:
    return [span for trace in shown.traces for span in trace.spans if span.service == component]


def test_gap_is_limited_to_its_declaration():
    gap = policy("gap", after=30, seconds=60)
    times = [at - START for at, _ in samples(Distortion([gap], 1, START))]
    assert set(range(0, 200 * 15, 15)) - set(times) == {30, 45, 60, 75}
    shown = distort(gap)
    assert not [line for line in lines(shown, "cart") if 30 <= line.at - START < 90]
    assert len(lines(shown, "cart")) == len(spans(shown, "cart")) == 140
    assert len(lines(shown, "frontend")) == len(spans(shown, "frontend")) == 200


def test_stuck_exporter_repeats_itself():
    points = samples(Distortion([policy("stuck", after=30, seconds=60)], 1, START))
    assert [value for _, value in points[:8]] == [100, 101, 102, 102, 102, 102, 106, 107]


def test_noise_does_not_change_counters():
    noise = Distortion([policy("noise", share=0.05)], 1, START)
    noisy = [value / (100.0 + n) for n, (_, value) in enumerate(samples(noise))]
    assert all(0.95 <= each <= 1.05 for each in noisy)
    assert len(set(noisy)) > 100
    assert samples(noise, "container_cpu_usage_seconds_total") == samples(Distortion([], 1, START))


def test_late_sample_is_missing_in_time_and_stored_later():
    late = Distortion([policy("late", share=0.2, seconds=40)], 1, START)
    assert 20 <= 200 - len(samples(late)) <= 60
    stored = samples(late, stored=True)
    assert len(stored) == 200
    assert sum(at % 15 != START % 15 for at, _ in stored) == 200 - len(samples(late))
    assert stored == sorted(stored)


def test_duplicates_match_their_share():
    twice = policy("duplicate", share=0.1)
    assert 205 <= len(samples(Distortion([twice], 1, START), stored=True)) <= 240
    assert len(samples(Distortion([twice], 1, START))) == 200, "rules see each once"
    assert 205 <= len(lines(distort(twice), "cart")) <= 240


def test_clock_is_wrong_in_lines_and_spans_only():
    shown = distort(policy("skew", seconds=-90))
    assert {line.at for line in lines(shown, "cart")} == {START + n - 90 for n in range(200)}
    assert {span.start for span in spans(shown, "cart")} == {START + n - 90 for n in range(200)}
    assert samples(Distortion([policy("skew", seconds=-90)], 1, START)) == samples(Distortion([], 1, START))


def test_spans_get_lost():
    shown = distort(policy("lostSpans", share=0.3))
    assert 110 <= len(spans(shown, "cart")) <= 170
    assert len(spans(shown, "frontend")) == 200
    assert spans(shown, "cart") == spans(distort(policy("lostSpans", share=0.3)), "cart")
    assert spans(shown, "cart") != spans(distort(policy("lostSpans", share=0.3), seed=2), "cart")


def firing(*names: str) -> SimpleNamespace:
    timelines = tuple(
        AlertTimeline(name=n, entity=Reference("Deployment", "cart"), firing=(Interval(start=1.0),)) for n in names
    )
    return SimpleNamespace(history=AlertHistory(start=0.0, end=9.0, timelines=timelines))


def test_policies_raising_an_alert_alone_are_refused():
    check_control(firing("Known"), firing("Known"), "faults.yaml")
    with pytest.raises(
        AuthoringError, match=r"faults\.yaml: without any fault, .* raise NoRequestsReceived on Deployment"
    ):
        check_control(firing("Known"), firing("Known", "NoRequestsReceived"), "faults.yaml")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("- {kind: gap, source: cart, after: 1}", "gap requires seconds"),
        ("- {kind: lostSpans, share: 0.1, after: 2}", "lostSpans has no after"),
        ("- {kind: noise, source: carts, share: 0.1}", "there is no component 'carts'"),
        ("- {kind: noise, share: 1.5}", "share is 1.5"),
        ("- {kind: gap, after: -1, seconds: 5}", "after is -1"),
        ("- {kind: stuck, after: 1, seconds: 0}", "seconds is 0"),
        ("- {kind: broken}", "broken"),
        ("- {kind: skew, seconds: 5, colour: red}", "colour"),
        ("- 5", "policy 1"),
        ("- {kind: skew, seconds: 5}\n- {kind: gap}", "policy 2: gap requires after and seconds"),
    ],
)
def test_mistakes_are_reported_with_position(tmp_path, text, problem):
    file = tmp_path / "faults.yaml"
    file.write_text(text)
    with pytest.raises(AuthoringError) as refused:
        read_policies(file, COMPONENTS)
    (finding,) = refused.value.findings
    assert problem in finding.message
    assert finding.position.line == text.count("\n") + 1


def test_file_of_policies_is_read(tmp_path):
    file = tmp_path / "faults.yaml"
    file.write_text('- {kind: duplicate, source: "*", share: 0.02}\n- {kind: skew, source: cart, seconds: -90}\n')
    found = read_policies(file, COMPONENTS)
    assert [p.kind for p in found] == ["duplicate", "skew"]
    assert found[0].concerns("frontend")
    assert not found[1].concerns("frontend")
    assert not any(p.distorts_metrics for p in found)
