"""Measured difficulty, on hand-made histories."""

import msgspec
import pytest

from scenario_kit.campaign.results.difficulty import (
    is_same_thing,
    measure_complexity,
    measure_difficulty,
    measure_loudness,
)
from scenario_kit.campaign.results.result import TrialResult
from scenario_kit.model import AlertHistory, AlertTimeline, Change, Reference, StepStatus
from scenario_kit.model.authored.app import App, Component
from scenario_kit.model.runtime.observation import Interval

APP = App(
    name="shop", version="1", namespace="shop", entry="web",
    components=(
        Component(name="web", workload=Reference("Deployment", "web"), service="web", role="Entry"),
        Component(name="cart", workload=Reference("Deployment", "cart"), service="cart"),
        Component(name="db", workload=Reference("StatefulSet", "db"), service="db", role="Store"),
    ),
)  # fmt: skip


def alert(entity, start, end=None, name="Errors"):
    return AlertTimeline(
        name=name, entity=Reference.parse(entity) if entity else None, firing=(Interval(start=start, end=end),)
    )


def repeat(*timelines, number=1, outcome="Held"):
    hold = StepStatus(index=4, step="hold", outcome="Held", started_at=200.0, finished_at=1000.0)
    return TrialResult(
        name="t", purpose=f"repeat-{number}", describe="", seed=number, outcome=outcome, injected_at=100.0,
        steps=(hold,), history=AlertHistory(start=0.0, end=2000.0, timelines=timelines),
    )  # fmt: skip


@pytest.fixture
def book(fault, runbook_of):
    found = runbook_of(
        fault("a"), solutions={"s": ["a"]}, labels=["ConfigMap/a"],
        edges=[("ConfigMap/a", "Deployment/cart"), ("Deployment/cart", "Deployment/web")],
    )  # fmt: skip
    return msgspec.structs.replace(found, app=APP)


def test_complexity_is_the_cube_root_of_path_steps_and_technologies(book):
    found = measure_complexity(book)
    assert (found.path, found.steps, found.technologies) == (2, 1, 2)
    assert found.value == round(4 ** (1 / 3), 2)
    assert found.band == "Low"


def test_blame_of_first_or_loudest_alert_is_scored(book):
    seen = repeat(alert("Deployment/web", 300.0), alert("Deployment/cart", 200.0, 400.0))
    found = measure_difficulty(book, [seen])
    assert found.first_alert_seconds == 100.0
    assert (found.blame_first, found.blame_loudest, found.cause_rank, found.trivial) == (0.0, 0.0, None, False)


def test_alerts_on_a_part_of_the_cause_s_component_name_the_cause(book):
    truth = msgspec.structs.replace(
        book.ground_truth, root_causes=tuple(
            msgspec.structs.replace(c, entity=Reference("Service", "cart")) for c in book.ground_truth.root_causes
        ),
    )  # fmt: skip
    entities = tuple(msgspec.structs.replace(e, ref=Reference("Service", "cart")) for e in book.faults[0].entities)
    faults = (msgspec.structs.replace(book.faults[0], target=Reference("Service", "cart"), entities=entities),)
    book = msgspec.structs.replace(book, ground_truth=truth, faults=faults)
    first = repeat(alert("Deployment/cart", 200.0), alert("Deployment/web", 300.0))
    second = repeat(alert("Deployment/cart", 300.0), alert("Deployment/web", 300.0), number=2)
    found = measure_difficulty(book, [first, second])
    assert (found.blame_first, found.blame_loudest, found.cause_rank) == (0.75, 0.75, 1.25)
    assert not found.trivial
    assert measure_difficulty(book, [first]).trivial


def test_loudness_counts_alerts_and_firing_time_until_repair():
    seen = repeat(
        alert("Deployment/web", 50.0), alert("Deployment/web", 900.0, name="Late"), alert("Deployment/db", 1500.0)
    )
    assert measure_loudness(seen) == {"Deployment/web": 900.0 + 100.0}


def test_frequent_alerts_off_causal_path_are_named(book):
    noisy = repeat(alert("Deployment/web", 300.0), alert("StatefulSet/db", 300.0))
    assert measure_difficulty(book, [noisy, repeat(alert("Deployment/web", 300.0), number=2)]).off_path == (
        "StatefulSet/db",
    )
    quiet = [repeat(alert("Deployment/web", 300.0), number=n) for n in (2, 3)]
    assert measure_difficulty(book, [noisy, *quiet]).off_path == ()


def test_difficulty_needs_an_incident_and_a_held_repeat(book, fault, runbook_of):
    assert measure_difficulty(book, [repeat(alert("Deployment/web", 300.0), outcome="Broken")]) is None
    assert measure_difficulty(runbook_of(fault("n", role="Distractor"), outcome="NoIncident"), [repeat()]) is None


@pytest.mark.parametrize(
    ("edges", "path", "technologies"),
    [
        ([], 1, 1),
        ([("ConfigMap/a", "Deployment/cart")], 1, 2),
        (
            [("ConfigMap/a", "Deployment/cart"), ("ConfigMap/a", "StatefulSet/db"), ("StatefulSet/db", "Service/web")],
            2,
            4,
        ),
        ([("ConfigMap/a", "Deployment/cart"), ("Deployment/cart", "ConfigMap/a")], 1, 2),
    ],
)
def test_complexity_counts_path_and_technologies(fault, runbook_of, edges, path, technologies):
    found = runbook_of(fault("a"), solutions={"s": ["a"]}, labels=["ConfigMap/a"], edges=edges)
    seen = measure_complexity(msgspec.structs.replace(found, app=APP))
    assert (seen.path, seen.technologies) == (path, technologies)


def build_procedure(procedure, number):
    changes = tuple(Change.from_json({"restart": {"target": "Deployment/web"}}) for _ in range(number))
    return msgspec.structs.replace(procedure, solution=msgspec.structs.replace(procedure.solution, changes=changes))


@pytest.mark.parametrize(
    ("steps", "least", "value", "band"),
    [((3, 2), 2, 2.0, "Medium"), ((1, 4), 1, 1.59, "Low"), ((9, 9), 9, 3.3, "High"), ((0, 0), 1, 1.59, "Low")],
)
def test_shortest_repair_counts(book, steps, least, value, band):
    documented = {"s": steps[0], "other": steps[1]}
    other = msgspec.structs.replace(book.procedure("Solution", "s"), name="other")
    procedures = [
        build_procedure(p, documented[p.name]) if p.use == "Solution" else build_procedure(p, 50)
        for p in (*book.procedures, other)
    ]
    seen = measure_complexity(msgspec.structs.replace(book, procedures=tuple(procedures)))
    assert (seen.steps, seen.value, seen.band) == (least, value, band)


@pytest.mark.parametrize(
    ("start", "end", "seconds"), [(50.0, None, 900.0), (950.0, 960.0, 10.0), (990.0, 1500.0, 10.0), (50.0, 150.0, 50.0)]
)
def test_alert_loudness_is_firing_time_between_injection_and_repair(start, end, seconds):
    assert measure_loudness(repeat(alert("Deployment/web", start, end))) == {"Deployment/web": seconds}
    assert measure_loudness(repeat(alert("", start, end))) == {}
    assert measure_loudness(repeat(alert("Deployment/web", 20.0, 100.0), alert("Deployment/ad", 1001.0))) == {}


def test_shares_and_ranks_are_means_over_the_repeats(book):
    both = repeat(alert("ConfigMap/a", 300.0), alert("Deployment/web", 300.0), alert("Deployment/x", 200.0))
    none = repeat(number=2)
    found = measure_difficulty(book, [both, none])
    assert (found.blame_first, found.blame_loudest, found.cause_rank, found.first_alert_seconds) == (
        0.0,
        0.0,
        2.5,
        100.0,
    )
    sole = repeat(alert("ConfigMap/a", 300.0))
    found = measure_difficulty(book, [sole, sole, sole, sole, none])
    assert (found.blame_first, found.blame_loudest, found.trivial) == (0.8, 0.8, True)
    found = measure_difficulty(book, [sole, sole, sole, none])
    assert (found.blame_first, found.trivial) == (0.75, False)
    assert measure_difficulty(book, [none]).first_alert_seconds is None


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Deployment/web", "Deployment/web", True),
        ("Deployment/web", "Service/web", True),
        ("Service/db", "StatefulSet/db", True),
        ("Service/web", "StatefulSet/db", False),
        ("ConfigMap/web", "Deployment/web", False),
        ("ConfigMap/x", "ConfigMap/y", False),
    ],
)
def test_objects_of_one_component_are_one_thing(one, other, same):
    assert is_same_thing(APP, Reference.parse(one), Reference.parse(other)) is same


@pytest.mark.parametrize(
    ("role", "technologies"), [("Store", 2), ("Queue", 2), ("Flags", 2), ("App", 1), ("Platform", 1)]
)
def test_stores_queues_and_flag_services_are_inferred(fault, runbook_of, role, technologies):
    parts = (
        Component(name="one", workload=Reference("StatefulSet", "one"), role=role), Component(name="two",
        workload=Reference("StatefulSet", "two")),
    )  # fmt: skip
    found = runbook_of(fault("a"), labels=["ConfigMap/a"], edges=[("StatefulSet/one", "StatefulSet/two")])
    app = msgspec.structs.replace(APP, components=parts)
    assert measure_complexity(msgspec.structs.replace(found, app=app)).technologies == technologies + 1
