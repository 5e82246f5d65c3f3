"""The trials of a soak, and the defects it reports."""

from collections import Counter
from itertools import islice

from scenario_kit.catalog import Catalog
from tools.crash.subjects import CHANGES
from tools.resilience.soak_plan import (
    OPERATIONS,
    SCENARIOS,
    MemorySample,
    SoakResult,
    SoakTrial,
    draw_pauses,
    draw_trials,
    find_growth,
    format_memory,
    list_defects,
)

MB = 10**6


def sample(trials, operator, server, process=1):
    return MemorySample(trials=trials, operator=process, parts={"operator": operator * MB, "lab-server": server * MB})


def test_soak_draws_kinds_evenly():
    trials = draw_trials(200, 1)
    assert [t.number for t in trials] == list(range(1, 201))
    operations = Counter(t.operation for t in trials if t.operation)
    scenarios = Counter(t.scenario for t in trials if t.scenario)
    assert set(operations) == set(OPERATIONS)
    assert max(operations.values()) - min(operations.values()) <= 1
    assert set(scenarios) == set(SCENARIOS)
    assert set(scenarios.values()) == {10}
    assert draw_trials(20, 1) == trials[:20] != draw_trials(20, 2)


def test_soak_plan_uses_known_scenarios_and_no_node_changes():
    catalog = Catalog()
    assert set(SCENARIOS) <= {path.parent.name for path in catalog.scenarios()}
    assert set(CHANGES) - set(OPERATIONS) == {"cordon", "drain", "taint", "uncordon", "untaint"}


def test_kills_are_drawn_by_the_seed():
    pauses = list(islice(draw_pauses(1), 50))
    assert pauses == list(islice(draw_pauses(1), 50)) != list(islice(draw_pauses(2), 50))
    assert 4 <= min(pauses) < max(pauses) <= 40


def test_growing_memory_is_a_defect_and_warm_up_is_not():
    warm = [sample(n, 150, 300 if n < 3 else 500) for n in range(16)]
    assert list_defects([], warm, []) == []
    leaky = [sample(n, 150, 300 + 20 * n) for n in range(16)]
    assert list_defects([], leaky, []) == ["lab-server holds 570 MB, and held 410 MB before the middle"]


def test_operator_growth_uses_last_process_only():
    samples = [sample(n, 400, 300, process=1) for n in range(8)] + [
        sample(n, 100 + n, 300, process=2) for n in range(8)
    ]
    assert find_growth(samples)["operator"] == (102.5 * MB, 106.5 * MB)


def test_unheld_trials_and_leftovers_are_defects():
    trial = SoakTrial(number=3, operation="run")
    results = [
        SoakResult(trial=trial, outcome="Held"),
        SoakResult(trial=trial, outcome="Infra", message="slow"),
        SoakResult(trial=trial, outcome="Held", left=("World/a",)),
    ]
    assert list_defects(results, [], ["Trial/a"]) == [
        "3: run: Infra: slow", "3: run: left behind: World/a", "left behind: Trial/a",
    ]  # fmt: skip


def test_table_has_five_moments():
    lines = format_memory([sample(10 * n, 100, 300 + n) for n in range(9)]).splitlines()
    assert lines[0].split() == ["MB", "after", "trials", "0", "20", "40", "60", "80"]
    assert lines[2].split() == ["lab-server", "300", "302", "304", "306", "308"]
    assert format_memory([]) == "no samples"
