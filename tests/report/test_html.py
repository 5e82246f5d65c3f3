"""The HTML page: where things lie, that it is whole, and that nothing of a scenario becomes markup."""

import re
from html.parser import HTMLParser

import msgspec
import pytest

from scenario_kit.campaign import TrialResult, Validation
from scenario_kit.campaign.results.result import PassageSummary, Statistics
from scenario_kit.model import AlertHistory, Finding, Reference, Severity, StepStatus, Verdict
from scenario_kit.model.authored.scenario import AlertExpectation, Expect, GroundTruth, PropagationEdge, RootCause
from scenario_kit.model.results.incident import BrokenTarget, Incident, NamedProcedure, PromisedAlert
from scenario_kit.model.runtime.observation import AlertTimeline, Interval
from scenario_kit.report import graph as propagation
from scenario_kit.report import html, timeline
from scenario_kit.report.document import Report

EXPECT = Expect(alerts=(AlertExpectation(name="Errors", entity=Reference("Deployment", "web")),))
TRUTH = GroundTruth(
    root_causes=(RootCause(fault="f", entity=Reference("Service", "db")),),
    propagation=(
        PropagationEdge(
            from_=Reference("Service", "db"),
            to=Reference("Deployment", "api"),
            because="it asks <b>the database</b>",
        ),
        PropagationEdge(from_=Reference("Deployment", "api"), to=Reference("Deployment", "web")),
        PropagationEdge(from_=Reference("Service", "db"), to=Reference("Deployment", "web")),
    ),
)


def build_trial(purpose="repeat-1", injected=1000.0, start=900.0, onset=60.0, outcome="Held"):
    steps = [
        StepStatus(index=0, step="expectQuiet", outcome="Held", started_at=start, finished_at=injected),
        StepStatus(index=1, step="hold", outcome="Held", started_at=injected, finished_at=injected + 300),
        StepStatus(index=2, step="expectCleared it", outcome="Held", started_at=injected + 300, finished_at=1800),
    ]
    timelines = (
        AlertTimeline(
            name="Errors",
            entity=Reference("Deployment", "web"),
            pending=(Interval(start=injected + 20, end=injected + onset),),
            firing=(Interval(start=injected + onset, end=injected + 400),),
        ),
        AlertTimeline(name="Starting", pending=(Interval(start=start, end=start + 10),)),
        AlertTimeline(
            name="Other", entity=Reference("Deployment", "api"), firing=(Interval(start=injected + 90, end=None),)
        ),
    )
    return TrialResult(
        name="t", purpose=purpose, describe="it <i>shows</i>", seed=1, outcome=outcome, started_at=start,
        injected_at=injected, steps=tuple(steps), history=AlertHistory(start=start, end=1800.0, timelines=timelines),
    )  # fmt: skip


@pytest.fixture
def report():
    finding = Finding(code="SK322", severity=Severity.ERROR, message="<script>alert(1)</script>", observed="a & b")
    validation = Validation(
        scenario="web-errors", plan="standard", verdict=Verdict.FAIL, headline="x", findings=(finding,),
        trials=(build_trial(), build_trial("repeat-2", injected=1030.0), build_trial("control")), n=2, failures=1,
        expect=EXPECT, ground_truth=TRUTH, digest="abc",
    )  # fmt: skip
    return Report(validation=validation)


class Whole(HTMLParser):
    """Every element that is opened is closed, and nothing loads or runs anything."""

    VOID = ("meta", "rect", "line", "path", "br")

    def __init__(self):
        super().__init__()
        self.open, self.seen, self.ids, self.links = [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        given = dict(attrs)
        assert not [k for k in given if k.startswith("on") or k in ("src", "srcdoc")]
        self.ids += [given["id"]] if "id" in given else []
        self.links += [given["href"]] if "href" in given else []
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag


def test_page_is_complete_and_escapes_markup(report):
    text = html.render(report)
    page = Whole()
    page.feed(text)
    assert page.open == []
    assert "script" not in page.seen
    assert {"b", "i"} & set(page.seen) == set()
    assert "&lt;script&gt;" in text
    assert not re.search(r"(https?:)?//[a-z]", text), "nothing is loaded from anywhere"
    assert all(link.removeprefix("#") in page.ids for link in page.links)


def test_html_contains_report_values(report):
    text = html.render(report)
    for part in ("FAIL", "SK322", "web-errors", "control", "Deployment/web", "alerts after 60 s"):
        assert part in text


@pytest.mark.parametrize(("traces", "message"), [(("errors 0.0% → 9.1%",), "errors 0.0% → 9.1%"), ((), "as before")])
def test_graph_shows_traffic_changes_of_silent_components(report, traces, message):
    row = PassageSummary(entity="Deployment/gate", n=2, requests=900, traces=traces)
    edges = (
        PropagationEdge(from_=Reference("Deployment", "db"), to=Reference("Deployment", "gate")),
        PropagationEdge(from_=Reference("Deployment", "gate"), to=Reference("Deployment", "web")),
    )
    changed = msgspec.structs.replace(
        report.validation,
        statistics=Statistics(n=2, broken=0, passages=(row,)),
        ground_truth=msgspec.structs.replace(TRUTH, propagation=edges),
    )
    text = html.render(msgspec.structs.replace(report, validation=changed))
    assert message in text
    assert "alerts after 60 s" in text


def test_report_without_trials_renders():
    validation = Validation(scenario="s", plan="quick", verdict=Verdict.FAIL, headline="lint")
    assert "No repeat recorded alerts" in html.render(Report(validation=validation))


def test_repeats_are_aligned_at_injection():
    chart = timeline.build_chart([build_trial(), build_trial("repeat-2", injected=1030.0, start=930.0)], EXPECT)
    errors = next(r for r in chart.rows if r.name == "Errors")
    firing = [b for b in errors.bars if b.state == "firing"]
    assert len({b.x for b in firing}) == 1
    assert firing[1].y - firing[0].y == timeline.LANE
    assert chart.injected < firing[0].x < chart.removed
    assert "repeat-1: Errors on Deployment/web firing from +1:00 to +6:40" in {b.text for b in firing}


def test_must_fire_rows_come_first_without_pending_alerts():
    chart = timeline.build_chart([build_trial()], EXPECT)
    assert [(r.name, r.declared) for r in chart.rows] == [("Errors", "MustFire"), ("Other", "undeclared")]


def test_bars_stay_within_the_chart():
    chart = timeline.build_chart([build_trial(), build_trial("repeat-2", injected=1400.0)], EXPECT)
    for row in chart.rows:
        assert row.y + row.height < chart.height
        for bar in row.bars:
            assert bar.x >= timeline.NAMES
            assert bar.x + bar.width <= chart.width


def test_missing_history_gives_no_chart():
    assert timeline.build_chart([msgspec.structs.replace(build_trial(), history=None)], EXPECT) is None


def test_graph_is_layered_by_the_longest_way():
    drawn = propagation.draw_graph(TRUTH, {"Deployment/web": "alerts after 60 s"})
    x = {b.name: b.x for b in drawn.boxes}
    assert x["Service/db"] < x["Deployment/api"] < x["Deployment/web"]
    assert [b.name for b in drawn.boxes if b.cause] == ["Service/db"]
    assert len(drawn.arrows) == 3
    assert propagation.draw_graph(GroundTruth(), {}) is None


def test_circle_ends():
    edges = (
        PropagationEdge(from_=Reference("Deployment", "a"), to=Reference("Deployment", "b")),
        PropagationEdge(from_=Reference("Deployment", "b"), to=Reference("Deployment", "a")),
    )
    assert len(propagation.draw_graph(GroundTruth(propagation=edges), {}).boxes) == 2


def test_missing_expected_alert_is_drawn_until_deadline():
    silent = AlertExpectation(name="Silent", entity=Reference("Deployment", "web"), within_seconds=300)
    steps = (StepStatus(index=0, step="expectAlerts", outcome="Broken", started_at=0.0, finished_at=900.0),)
    trial = msgspec.structs.replace(build_trial(), steps=steps)
    chart = timeline.build_chart([trial], msgspec.structs.replace(EXPECT, alerts=(*EXPECT.alerts, silent)))
    row = next(r for r in chart.rows if r.name == "Silent")
    (bar,) = row.bars
    assert (bar.state, bar.x, bar.text) == (
        "missing",
        chart.injected,
        "repeat-1: Silent expected by +5:00, never fired",
    )
    assert not any(b.state == "missing" for r in chart.rows for b in r.bars if r.name == "Errors")
    control = msgspec.structs.replace(trial, injected_at=None)
    assert timeline.build_chart([control], msgspec.structs.replace(EXPECT, alerts=(silent,))).rows[0].name != "Silent"


def test_page_opens_with_the_incident(report):
    incident = Incident(
        title="Carts fail", brief="Customers cannot buy.", app="otel-demo 2.2.0", causes=("Deployment/cart",),
        faults=(BrokenTarget(name="f", type="t", target="Deployment/cart", parameters={"replicas": 0}),),
        alerts=(PromisedAlert(name="Errors", entity="Deployment/web", within_seconds=300),),
        solutions=(NamedProcedure(name="scale", description="Scale it up"),),
    )  # fmt: skip
    changed = msgspec.structs.replace(report.validation, incident=incident)
    text = html.render(msgspec.structs.replace(report, validation=changed))
    for part in (
        "Carts fail",
        "Customers cannot buy.",
        "otel-demo 2.2.0",
        "replicas: 0",
        "Errors on Deployment/web within 300 s",
        "scale: Scale it up",
    ):
        assert part in text
    assert text.index("Carts fail") < text.index('id="findings"')
