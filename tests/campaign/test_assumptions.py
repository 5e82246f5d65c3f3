"""Assumptions of the twin: varied over their ranges, and reported if broken repeats depend on them."""

from types import SimpleNamespace

import msgspec
import pytest

from scenario_kit.campaign import QUICK, STANDARD, plan_trials
from scenario_kit.campaign.planning.assumptions import (
    draw_assumptions,
    find_decisive_assumptions,
    read_ranges,
    vary_runbook,
)
from scenario_kit.campaign.planning.plans import repeat
from scenario_kit.catalog import Catalog
from scenario_kit.model.twin import Assumption
from tests.lab.twin import tiny

NAMES = [f"a{i:02d}" for i in range(17)]


def build_app(app, names=NAMES):
    assumption = Assumption(value=2.0, low=1.0, high=3.0, why="nobody has measured it")
    twin = msgspec.structs.replace(tiny.DEFINITION, assumptions=dict.fromkeys(names, assumption))
    return msgspec.structs.replace(app, twin=twin)


@pytest.fixture
def book(fault, runbook_of):
    found = runbook_of(fault("f"), solutions={"s": ["f"]})
    return msgspec.structs.replace(found, app=build_app(found.app))


def test_first_repeat_is_not_varied(book):
    assert draw_assumptions(book.app, 0) == {}
    assert vary_runbook(book, 0) is book


@pytest.mark.parametrize("block", [0, 1, 2])
def test_four_repeats_use_each_bound_twice(book, block):
    for name in NAMES:
        values = [draw_assumptions(book.app, 4 * block + turn)[name] for turn in (1, 2, 3, 4)]
        assert sorted(values) == [1.0, 1.0, 3.0, 3.0]


def test_no_two_assumptions_vary_in_lockstep(book):
    rows = [draw_assumptions(book.app, v) for v in range(1, 25)]
    columns = {name: tuple(r[name] for r in rows) for name in NAMES}
    assert len(set(columns.values())) == len(NAMES)


def test_values_reach_the_twin(book):
    app = Catalog().app("otel-demo", "2.2.0")
    values = draw_assumptions(app, 1)
    changed = vary_runbook(msgspec.structs.replace(book, app=app), 1).app.twin
    assert changed.constants.hop_ms == values["hopMs"]
    assert {name: a.value for name, a in changed.assumptions.items()} == values
    assert {n for n, v in values.items() if v != read_ranges(app)[n].value} >= {"latencyScale", "cpuScale", "hopMs"}


def test_only_repeating_plans_vary_assumptions(book):
    assert [t.variation for t in plan_trials(QUICK, book, 1)] == [0] * len(plan_trials(QUICK, book, 1))
    standard = [t for t in plan_trials(STANDARD, book, 1) if t.purpose.startswith("repeat")]
    assert [t.variation for t in standard] == [0, 1, 2, 3, 4]
    assert repeat(standard[0], 10).variation == 9


def build_result(outcome, **assumed):
    return SimpleNamespace(outcome=outcome, assumed=assumed)


@pytest.mark.parametrize(
    ("repeats", "blamed"),
    [
        (
            [build_result("Held"), build_result("Held", a00=1.0), build_result("Broken", a00=3.0)],
            "a00 = 3 (1 to 3, nobody has measured it)",
        ),
        ([build_result("Held", a00=1.0), build_result("Broken", a00=3.0), build_result("Broken", a00=3.0)], "a00 = 3"),
        ([build_result("Held", a00=3.0), build_result("Broken", a00=3.0)], ""),
        ([build_result("Held", a00=1.0), build_result("Broken", a00=3.0), build_result("Broken", a00=1.0)], ""),
        ([build_result("Broken"), build_result("Held", a00=1.0)], ""),
        ([build_result("Broken", a00=3.0)], ""),
        ([build_result("Held", a00=3.0)], ""),
        ([build_result("Held", a00=1.0), build_result("Infra", a00=3.0), build_result("Broken", a00=3.0)], "a00 = 3"),
        (
            [
                build_result("Held", a00=1.0, a01=1.0, a02=1.0, a03=1.0),
                build_result("Broken", a00=3.0, a01=3.0, a02=3.0, a03=3.0),
            ],
            "and 1 more",
        ),
    ],
)
def test_assumption_is_blamed_if_it_separates_broken_repeats(book, repeats, blamed):
    findings = find_decisive_assumptions(repeats, book.app)
    assert [f.code for f in findings] == (["SK512"] if blamed else [])
    assert not blamed or blamed.replace("and 1 more", "1 more") in findings[0].observed
