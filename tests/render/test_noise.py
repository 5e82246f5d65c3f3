"""The plan of background noise: a function of the seed, on a grid, never overlapping itself."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from scenario_kit.catalog import Catalog
from scenario_kit.errors import AuthoringError
from scenario_kit.model.authored.noise import Noise, NoiseSource
from scenario_kit.render import render_app, resolve_options
from scenario_kit.render.scenarios.noise import GRID, Event, build_sources, compute_occurrence, find_latest, list_events

CATALOG = Catalog()
APP = CATALOG.app("otel-demo", "2.2.0")
OBJECTS = render_app(APP, resolve_options(APP, {}, "steady"), 50, "shop", templates=CATALOG.templates(APP.name))


def build_source(**noise: object) -> NoiseSource:
    document = {"name": "n", "everySeconds": 600, **noise}
    (source,) = build_sources([Noise.from_json(document)], APP, OBJECTS, "shop", 50)
    return source


RESTART = build_source(restart={"target": "Deployment/ad"})
SCALE = build_source(scale={"target": "Deployment/ad", "addReplicas": 3, "forSeconds": 190})
LOAD = build_source(load={"percent": 40, "forSeconds": 120})


def describe_events(found: list[Event]) -> list[tuple[float, str]]:
    return [(e.at, str(e.change.to_json())) for e in found]


def test_equal_seeds_give_equal_noise_from_any_start() -> None:
    first, again = (list_events([SCALE, LOAD, RESTART], 7, start, start + 6000) for start in (1_000.0, 50_005.0))

    assert describe_events(first) == [(at - 49_005, change) for at, change in describe_events(again)]
    assert describe_events(first) != describe_events(list_events([SCALE, LOAD, RESTART], 8, 1_000.0, 7_000.0))


@pytest.mark.parametrize("source", [RESTART, SCALE, LOAD], ids=["restart", "scale", "load"])
@pytest.mark.parametrize("seed", range(5))
def test_noise_occurs_once_per_period_without_overlap(source: NoiseSource, seed: int) -> None:
    found = list_events([source], seed, 0.0, 60_000.0)

    assert 99 <= len(found) <= 100
    assert {e.at % GRID for e in found} == {0.0}
    assert all(abs(e.at - (n + 0.5) * 600) <= 180 + GRID for n, e in enumerate(found))
    assert all((before.until or before.at) < after.at for before, after in pairwise(found))


def test_noise_duration_is_whole_ticks() -> None:
    assert {e.until - e.at for e in list_events([SCALE], 1, 0.0, 6000.0) if e.until} == {195.0}
    assert {e.until for e in list_events([RESTART], 1, 0.0, 6000.0)} == {None}


def test_sizes_are_drawn() -> None:
    replicas = [
        e.change.operation.replicas
        for e in list_events([SCALE], 1, 0.0, 60_000.0)
        if e.change.operation.keyword == "scale"
    ]
    users = [e.users for e in list_events([LOAD], 1, 0.0, 60_000.0)]

    assert set(replicas) == {2, 3, 4}
    assert set(users) == {60, 62, 64, 66, 68, 70}


def test_load_swing_sets_the_flag_that_controls_load() -> None:
    app = CATALOG.app("otel-demo", "3.0.0")
    objects = render_app(app, resolve_options(app, {}, "steady"), 50, "shop", templates=CATALOG.templates(app.name))
    load = Noise.from_json({"name": "n", "everySeconds": 600, "load": {"percent": 40}})
    (source,) = build_sources([load], app, objects, "shop", 50)

    assert source.changes[0].to_json() == {"setFlag": {"flag": "loadGeneratorVUs", "variant": "60", "value": 60.0}}
    after_ = source.changes[0].operation.simulate(objects, app, "shop")
    (flags,) = (o["data"]["demo.flagd.json"] for o in after_ if o["metadata"]["name"] == "flagd-config")
    users = json.loads(flags)["flags"]["loadGeneratorVUs"]
    assert (users["defaultVariant"], users["variants"]["60"]) == ("60", 60)


def test_load_swing_changes_at_least_one_user() -> None:
    (source,) = build_sources(
        [Noise.from_json({"name": "n", "everySeconds": 600, "load": {"percent": 5}})], APP, OBJECTS, "shop", 2
    )

    assert source.users == (3,)


def test_load_swing_patches_load_generator() -> None:
    patch = LOAD.changes[0].operation
    assert patch.patches

    assert patch.target == "Deployment/load-generator"
    assert "{'name': 'LOCUST_USERS', 'value': '60'}" in str(patch.patch)


def test_find_latest_returns_the_last_started_event() -> None:
    found = list_events([RESTART], 3, 100.0, 100.0 + 6_000)
    assert find_latest(RESTART, 3, 100.0, found[0].at - 1) is None
    for number, event in enumerate(found):
        assert find_latest(RESTART, 3, 100.0, event.at) == event == compute_occurrence(RESTART, 3, 100.0, number)
        assert find_latest(RESTART, 3, 100.0, event.at + 1) == event


@pytest.mark.parametrize(
    ("noise", "text"),
    [
        ({"restart": {"target": "Deployment/adx"}}, "'Deployment/adx' is not among the app's objects"),
        ({"restart": {"target": "Service/ad"}}, "'Service/ad' must be one of Deployment, StatefulSet, DaemonSet"),
        ({"scale": {"target": "DaemonSet/ad"}}, "'DaemonSet/ad' must be one of Deployment, StatefulSet"),
    ],
)
def test_impossible_noise_is_refused(noise: dict[str, object], text: str) -> None:
    with pytest.raises(AuthoringError) as caught:
        build_source(**noise)

    (finding,) = caught.value.findings
    assert finding.code == "SK136"
    assert text in finding.message


def test_app_without_load_control_rejects_swings() -> None:
    silent = APP.from_json({**APP.to_json(), "load": None})

    with pytest.raises(AuthoringError, match="does not declare the user setting of its load generator"):
        build_sources(
            [Noise.from_json({"name": "n", "everySeconds": 600, "load": {"percent": 10}})], silent, OBJECTS, "shop", 50
        )
