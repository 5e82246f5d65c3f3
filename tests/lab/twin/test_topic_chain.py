"""Records that a consumer publishes reach the consumers of other topics, and again those of its own."""

from typing import Any

import pytest

from scenario_kit.lab.twin.call_tree.topic_order import order_topics
from scenario_kit.lab.twin.call_tree.tree import TreeBuilder
from scenario_kit.lab.twin.definition_checks import find_mistakes
from scenario_kit.model import App, CallEdge, Component, Reference
from scenario_kit.model.twin import decode
from scenario_kit.render.simulation.request_paths import trace_traffic
from tests.lab.twin.tiny import workload
from tests.lab.twin.twin_cluster import TwinCluster

NAMES = ("scanner", "sorter", "printer", "rabbit", "sink")
ROLES = {"scanner": "Load", "sorter": "Entry", "rabbit": "Queue", "sink": "Platform"}
CALLS = (("scanner", "rabbit"), ("sorter", "rabbit"), ("printer", "rabbit"))


def build_app(topics: list[str], retried: float = 0.0, mode: str = "Async") -> App:
    def consume(topic: str, group: str) -> list[dict[str, str]]:
        return [{"queue": "rabbit", "topic": topic, "group": group, "operation": "work"}]

    publish = {"call": "rabbit/labels", "span": "publish labels", "kind": "PRODUCER"}
    again = {"call": "rabbit/scans", "span": "publish scans", "kind": "PRODUCER", "share": retried}
    traced: dict[str, Any] = {"dialect": "python", "telemetry": {"text": "sink:4317"}}
    work = {"span": "work", "kind": "CONSUMER", "ownMs": 2}
    twin = {
        "collector": {"component": "sink"},
        "load": {
            "component": "scanner",
            "entry": "rabbit/scans",
            "users": {"default": 20},
            "spawnRate": {"default": 100},
            "thinkSeconds": [1, 3],
            "routes": {"scan": {"perIteration": 1.0}},
        },
        "components": {
            "scanner": {"image": "example.org/scanner:*"},
            "printer": {
                "image": "example.org/printer:*", "consumers": consume("labels", "p"), "operations": {"work": work},
                **traced,
            },
            "sorter": {
                "image": "example.org/sorter:*",
                "consumers": consume("scans", "s"),
                "operations": {"work": {**work, "steps": [publish, *([again] if retried else [])]}},
                **traced,
            },
            "rabbit": {
                "image": "example.org/rabbit:*",
                "ports": [{"number": 5672}],
                "operations": {topic: {"topic": topic} for topic in topics},
            },
            "sink": {"image": "example.org/sink:*", "ports": [{"number": 4317}]},
        },
        "queues": [{"component": "rabbit", "port": 5672, "topics": topics}],
        "edges": [
            {"caller": caller, "callee": "rabbit", "protocol": "tcp", "address": {"text": "rabbit:5672"}}
            for caller, _ in CALLS
        ],
    }  # fmt: skip
    return App(
        name="chain", version="1", namespace="chain", entry="sorter",
        components=tuple(
            Component(name=n, workload=Reference("Deployment", n), service=n, role=ROLES.get(n, "App")) for n in NAMES
        ),
        calls=tuple(CallEdge(caller=a, callee=b, mode="Sync" if a == "scanner" else mode) for a, b in CALLS),
        images=tuple(f"example.org/{n}:1" for n in NAMES),
        twin=decode(twin),
    )  # fmt: skip


def run_hour(app: App) -> TwinCluster:
    objects = [each for name in NAMES for each in workload(name, {"sink": 4317, "rabbit": 5672}.get(name, 80))]
    cluster = TwinCluster(app, objects)
    cluster.run(300.0)
    return cluster.run(3600.0)


@pytest.mark.parametrize("topics", [["scans", "labels"], ["labels", "scans"]])
def test_record_published_by_a_consumer_reaches_the_next_one(topics: list[str]) -> None:
    hour = run_hour(build_app(topics))
    sorted_ = hour.calls("sorter", kind="CONSUMER")
    assert sorted_ == pytest.approx(20 * 3600 / 2, rel=0.1)
    assert hour.calls("printer", kind="CONSUMER") == pytest.approx(sorted_, abs=5)


def test_record_that_a_consumer_publishes_again_returns_in_a_later_tick() -> None:
    hour = run_hour(build_app(["scans", "labels"], retried=0.5))
    assert hour.calls("sorter", kind="CONSUMER") == pytest.approx(2 * 20 * 3600 / 2, rel=0.1)
    assert hour.calls("printer", kind="CONSUMER") == pytest.approx(hour.calls("sorter", kind="CONSUMER"), abs=10)


def test_topics_follow_those_of_their_producers() -> None:
    twin = build_app(["labels", "scans"], retried=0.5).twin
    assert twin is not None
    assert order_topics(twin.queues, TreeBuilder(twin).consumers()) == (("rabbit", "scans"), ("rabbit", "labels"))


def test_consumer_of_a_later_broker_has_user_traffic() -> None:
    known = trace_traffic(build_app(["scans", "labels"]))
    assert known is not None
    assert {"sorter", "printer"} <= known.parts


def test_entry_may_be_a_consumer() -> None:
    assert find_mistakes(build_app(["scans", "labels"])) == ()


def test_consumer_that_the_app_does_not_declare_is_reported() -> None:
    found = {mistake.text for mistake in find_mistakes(build_app(["scans", "labels"], mode="Sync"))}
    call = "`calls` of app.yaml has no {caller: sorter, callee: rabbit, mode: Async}"
    known = "by which faults, drafts and lint know consumers"
    assert f"components.sorter.consumers[0]: sorter consumes scans of rabbit, but {call}, {known}" in found
