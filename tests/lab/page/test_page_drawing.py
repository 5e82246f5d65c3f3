"""Layout of the page, and its data."""

import itertools
import re

import pytest

from scenario_kit.catalog import Catalog
from scenario_kit.lab.page import document, graph
from scenario_kit.lab.page.document import WorldTrial
from scenario_kit.model import AlertHistory, AlertTimeline, App, CallEdge, Component, Interval, Reference, StepStatus
from scenario_kit.ports import LogLine

from .conftest import HOSTILE, NOW, build_event, build_world


def build_app(calls: str, **roles: str) -> App:
    """Build an app from ``a>b c~d``: synchronous and asynchronous calls."""
    edges = [re.split("([>~])", call) for call in calls.split()]
    names = list(dict.fromkeys(n for a, _, b in edges for n in (a, b))) + [n for n in roles if n == "alone"]
    return App(
        name="x", version="1", namespace="x", entry="a",
        components=tuple(Component(name=n, workload=Reference("Deployment", n), role=roles.get(n,
        "App")) for n in names),
        calls=tuple(CallEdge(caller=a, callee=b, mode="Async" if how == "~" else "Sync") for a, how, b in edges),
    )  # fmt: skip


def columns(app: App) -> list[str]:
    found: dict[float, list[str]] = {}
    for place in graph.draw_graph(app).places:
        found.setdefault(place.x, []).append(place.name)
    return ["".join(sorted(found[x])) for x in sorted(found)]


@pytest.mark.parametrize(
    ("app", "expected"),
    [
        (build_app("a>b b>c"), ["a", "b", "c"]),
        (build_app("a>b a>c b>c"), ["a", "b", "c"]),
        (build_app("a>b b>a"), ["a", "b"]),
        (build_app("a>b b>c c>b c>d"), ["a", "b", "c", "d"]),
        (build_app("a>a a>b"), ["a", "b"]),
        (build_app("l>a a>l a>b", l="Load"), ["l", "a", "b"]),
        (build_app("a>k w~k", k="Queue"), ["a", "k", "w"]),
        (build_app("a>s w~s"), ["aw", "s"]),
    ],
)
def test_callers_are_left_of_their_callees(app: App, expected: list[str]) -> None:
    assert columns(app) == expected


@pytest.mark.parametrize("name", Catalog().apps())
def test_boxes_do_not_overlap_and_fit_the_page(name: str) -> None:
    catalog = Catalog()
    for version in catalog.versions(name):
        app = catalog.app(name, version)
        drawn = graph.draw_graph(app)
        assert {p.name for p in drawn.places} == {c.name for c in app.components}
        for one, other in itertools.combinations(drawn.places, 2):
            assert abs(one.x - other.x) >= graph.BOX_WIDTH or abs(one.y - other.y) >= graph.BOX_HEIGHT
        for place in drawn.places:
            assert 0 <= place.x <= drawn.width - graph.BOX_WIDTH
            assert 0 <= place.y <= drawn.height - graph.BOX_HEIGHT
        pairs = {(a.caller, a.callee) for a in drawn.arrows}
        assert pairs == {(e.caller, e.callee) for e in app.calls if e.caller != e.callee}
        assert graph.draw_graph(app) == drawn


def test_app_without_components_is_an_empty_drawing() -> None:
    empty = App(name="x", version="1", namespace="x", entry="a", components=())
    assert graph.draw_graph(empty).places == ()


def test_page_document_counts_firing_and_failing(shop: App) -> None:
    found = build_world(shop)
    assert (found["step"], found["injectedAt"], found["outcome"]) == ("expectAlerts", NOW - 480, "")
    assert found["counts"]["bad"] == 2
    assert [(a["name"], a["state"]) for a in found["alerts"]] == [
        ("HighRequestErrorRate", "Firing"),
        ("KubePodCrashLooping", "Pending"),
    ]
    assert [row["name"] for row in found["chart"]["rows"]] == ["HighRequestErrorRate", "KubePodCrashLooping"]
    assert found["chart"]["faulty"]
    assert found["chart"]["rows"][0]["bars"][0]["text"].startswith("HighRequestErrorRate")


def test_page_hides_steps_and_injection_without_spoilers(shop: App) -> None:
    found = build_world(shop, spoilers=False)
    assert (found["step"], found["injectedAt"], found["chart"]["bands"]) == ("", None, [])
    assert not found["chart"]["faulty"]


def test_before_the_injection_time_counts_from_the_beginning() -> None:
    run = WorldTrial(
        started_at=1000.0, steps=(StepStatus(index=0, step="deploy", outcome="Running", started_at=1000.0),)
    )
    pending = AlertTimeline(name="A", pending=(Interval(start=1060.0),))
    over = AlertTimeline(name="B", pending=(Interval(start=1000.0, end=1060.0),))
    found = document.build_chart(run, AlertHistory(start=1000.0, end=1120.0, timelines=(pending, over)))
    assert found is not None
    assert found["ticks"][0]["text"] == "+0:00"
    assert [row["name"] for row in found["rows"]] == ["A"]


def test_events_are_in_write_order() -> None:
    found = document.select_latest([build_event(n) for n in (3, 200, 7)])
    assert [e["count"] for e in found] == [201, 8, 4]
    assert found[0]["object"] == "Pod/payment-7d9c8b6f5-x2x4z"
    assert len(document.select_latest(build_event(n) for n in range(300))) == document.EVENTS


@pytest.mark.parametrize(
    ("event", "at"),
    [
        ({"eventTime": "2026-01-01T00:00:00.5Z", "lastTimestamp": None}, "2026-01-01T00:00:00.5Z"),
        ({"series": {"count": 4}}, ""),
        ({}, ""),
    ],
)
def test_incomplete_event_is_shown(event: dict, at: str) -> None:
    found = document.select_latest([{"metadata": {}, **event}])[0]
    assert found["at"] == at
    assert found["count"] == (event.get("series") or {}).get("count", 1)


def test_log_lines_are_limited_to_the_latest() -> None:
    found = document.merge_lines(LogLine("p", "c", float(-n), HOSTILE + "x" * 9000) for n in range(500))
    assert len(found) == document.LINES
    assert found[-1]["at"] == 0.0
    assert {len(line["text"]) for line in found} == {2000}
