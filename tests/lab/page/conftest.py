"""A shop with a broken payment service, as the page sees it."""

from typing import Any

import pytest

from scenario_kit.catalog import Catalog
from scenario_kit.errors import NotFound
from scenario_kit.lab.page import document, health
from scenario_kit.lab.page.document import WorldSummary, WorldTrial
from scenario_kit.lab.page.graph import draw_graph
from scenario_kit.lab.page.health import Pods, ServedTraffic
from scenario_kit.model import AlertHistory, AlertTimeline, App, Interval, Reference, StepStatus
from scenario_kit.ports import LogLine

HOSTILE = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>&lt;b&gt; \x1b[31m"
NOW = 1_000_000.0


@pytest.fixture(scope="session")
def shop() -> App:
    return Catalog().app("otel-demo", "2.2.0")


def build_world(app: App, *, spoilers: bool = True) -> dict[str, Any]:
    pods = {c.workload: Pods(1, 1, 0, "") for c in app.components}
    pods["Deployment/payment"] = Pods(1, 0, 7, "CrashLoopBackOff")
    pods["Deployment/image-provider"] = Pods(2, 1, 0, "ImagePullBackOff")
    traffic = {c.name: ServedTraffic(4.2, 0.0, 38.0) for c in app.components if c.role == "App"}
    traffic |= {"checkout": ServedTraffic(0.8, 0.93, 320.0), "frontend": ServedTraffic(31.0, 0.03, 95.0)}
    traffic["recommendation"] = ServedTraffic(2.0, 0.0, 2310.0)
    onset = NOW - 400
    timelines = (
        AlertTimeline(
            name="HighRequestErrorRate", entity=Reference("Deployment", "checkout"),
            pending=(Interval(start=onset, end=onset + 180),), firing=(Interval(start=onset + 180),),
        ),
        AlertTimeline(
            name="KubePodCrashLooping", entity=Reference("Deployment", "payment"), pending=(Interval(start=onset + 60),)
        ),
        AlertTimeline(
            name="HighRequestLatency", entity=Reference("Deployment", "recommendation"),
            pending=(Interval(start=NOW - 900, end=NOW - 840),),
        ),
    )  # fmt: skip
    history = AlertHistory(start=NOW - 1200, end=NOW, timelines=timelines)
    steps = (
        StepStatus(index=0, step="deploy", outcome="Held", started_at=NOW - 1200, finished_at=NOW - 1110),
        StepStatus(index=1, step="expectQuiet", outcome="Held", started_at=NOW - 1110, finished_at=NOW - 480),
        StepStatus(index=2, step="inject", outcome="Held", started_at=NOW - 480, finished_at=NOW - 465),
        StepStatus(index=3, step="expectAlerts", outcome="Running", started_at=NOW - 465),
    )
    events = [build_event(n, f"Back-off restarting failed container {HOSTILE}") for n in range(12)]
    components = health.assess_components(app, pods, traffic, timelines)
    run = WorldTrial(started_at=NOW - 1200, steps=steps if spoilers else ())
    shown = WorldSummary(namespace="otel-demo", mode="Virtual", now=NOW, trial="payment-fails-g1",
    scenario="payment-fails",
                  app="otel-demo 2.2.0")  # fmt: skip
    return document.document(shown, run, draw_graph(app), components, history, events)


def build_event(number: int, message: str = "told") -> dict[str, Any]:
    return {
        "metadata": {"resourceVersion": str(100 + number), "creationTimestamp": "1970-01-12T13:00:00Z"},
        "type": "Warning" if number % 2 else "Normal",
        "reason": "BackOff" if number % 2 else "Pulled",
        "involvedObject": {"kind": "Pod", "name": "payment-7d9c8b6f5-x2x4z"},
        "message": message,
        "lastTimestamp": f"1970-01-12T13:{number:02d}:00Z",
        "count": 1 + number,
    }


class Lab:
    """``server.Reads`` on a world made here."""

    def __init__(self, app: App) -> None:
        self.document = build_world(app)
        self.gone = False

    def worlds(self) -> list[dict[str, Any]]:
        names = ("namespace", "mode", "now", "trial", "scenario", "app")
        return [] if self.gone else [{name: self.document[name] for name in names}]

    def world(self, namespace: str) -> dict[str, Any]:
        if namespace != self.document["namespace"] or self.gone:
            raise NotFound(f"there is no world in {namespace}")
        return self.document

    def logs(self, namespace: str, component: str) -> list[dict[str, Any]]:
        self.world(namespace)
        texts = [f"{component} cannot reach the card service", HOSTILE, "x" * 300]
        pod = f"{component}-7d9c8b6f5-x2x4z"
        return document.merge_lines(LogLine(pod, component, NOW - 60 + n, text) for n, text in enumerate(texts))


@pytest.fixture
def little(shop: App) -> Lab:
    return Lab(shop)
