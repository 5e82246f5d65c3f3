"""One scheduling step of a campaign: tables, and invariants for any order of events."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scenario_kit.campaign.planning.plans import STANDARD, Plan, PlannedTrial
from scenario_kit.campaign.planning.retries import judge_trials
from scenario_kit.campaign.planning.scheduler import ObservedTrial, advance
from scenario_kit.campaign.planning.sequential_test import FIVE_THEN_FIVE, ONCE

WORD = {"H": "Held", "B": "Broken", "I": "Infra", "r": ""}
PURPOSES = [*(f"repeat-{n}" for n in range(1, 6)), "control", "label", "cheats"]
PLANNED = [PlannedTrial(purpose=p, describe=p, steps=(), seed=i) for i, p in enumerate(PURPOSES)]


def build_observed_trials(**trials):
    return [ObservedTrial(purpose=p.replace("_", "-"), outcome=WORD[o]) for p, o in trials.items()]


def repeats(outcomes):
    return {f"repeat_{i}": o for i, o in enumerate(outcomes, start=1)}


OTHERS = {"control": "H", "label": "H", "cheats": "H"}


@pytest.mark.parametrize(
    ("looks", "trials", "begin", "over"),
    [
        (FIVE_THEN_FIVE, {}, ["repeat-1", "repeat-2"], False),
        (FIVE_THEN_FIVE, repeats("r"), ["repeat-2"], False),
        (FIVE_THEN_FIVE, repeats("rr"), [], False),
        (FIVE_THEN_FIVE, repeats("Hr"), ["repeat-3"], False),
        (FIVE_THEN_FIVE, repeats("BB"), ["control", "label"], False),
        (FIVE_THEN_FIVE, repeats("HHHHr"), ["control"], False),
        (FIVE_THEN_FIVE, repeats("HHHHH") | OTHERS, [], True),
        (FIVE_THEN_FIVE, repeats("HHHHB") | OTHERS, ["repeat-6", "repeat-7"], False),
        (FIVE_THEN_FIVE, repeats("HHHHBH") | OTHERS, ["repeat-7", "repeat-8"], False),
        (FIVE_THEN_FIVE, repeats("HHHHBHHHHH") | OTHERS, [], True),
        (FIVE_THEN_FIVE, repeats("BB") | OTHERS, [], True),
        (FIVE_THEN_FIVE, repeats("HHHHH") | OTHERS | {"control": "I"}, ["control-again"], False),
        (FIVE_THEN_FIVE, repeats("HHHHH") | OTHERS | {"control": "I", "control_again": "r"}, [], False),
        (FIVE_THEN_FIVE, repeats("HHHHH") | OTHERS | {"control": "I", "control_again": "I"}, [], True),
        (ONCE, repeats("H"), ["control", "label"], False),
        (ONCE, repeats("IH") | OTHERS, [], True),
    ],
)
def test_next_move_follows_from_looks_and_trials(looks, trials, begin, over):
    planned = PLANNED if looks == FIVE_THEN_FIVE else [PLANNED[0], *PLANNED[5:]]
    move = advance(Plan(name="a", looks=looks), planned, build_observed_trials(**trials), parallel=2)
    assert ([p.purpose for p in move.begin], move.over) == (begin, over)


def test_abandoned_trials_are_named_and_running_awaited():
    move = advance(STANDARD, PLANNED, build_observed_trials(**repeats("HHr")), parallel=2, give_up=True)
    assert not move.over
    assert not move.begin
    move = advance(STANDARD, PLANNED, build_observed_trials(**repeats("HHI")), parallel=2, give_up=True)
    assert move.over
    assert [p.purpose for p in move.missing] == ["repeat-4", "repeat-5", "control", "label", "cheats"]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.integers(1, 4), st.lists(st.tuples(st.integers(0, 20), st.sampled_from("HHHHHHHBI")), min_size=80, max_size=80)
)
def test_any_event_order_terminates_settled(parallel, events):
    """Trials end in any order; nothing but what exists is remembered between two steps."""
    trials = {}
    for chance, outcome in events:
        move = advance(STANDARD, PLANNED, trials.values(), parallel=parallel)
        running = [t for t in trials.values() if not t.outcome]
        assert len(running) + len(move.begin) <= parallel
        if move.over:
            break
        assert running or move.begin
        trials |= {p.purpose: ObservedTrial(purpose=p.purpose) for p in move.begin}
        running += [trials[p.purpose] for p in move.begin]
        chosen = running[chance % len(running)]
        trials[chosen.purpose] = ObservedTrial(purpose=chosen.purpose, outcome=WORD[outcome])
    assert move.over
    assert {p.purpose for p in move.every} >= set(trials)
    judge_trials(FIVE_THEN_FIVE, list(trials.values()))
