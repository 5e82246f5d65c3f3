"""Further trials and verdicts: tables over purposes and outcomes."""

from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenario_kit.campaign.planning.plans import PlannedTrial
from scenario_kit.campaign.planning.retries import is_settled, judge_trials, plan_further_trials
from scenario_kit.campaign.planning.sequential_test import FIVE_THEN_FIVE, ONCE
from scenario_kit.model import Verdict


class Trial(NamedTuple):
    purpose: str
    outcome: str


def trials(outcomes, **others):
    """``HBI`` are repeats that held, broke, or were ended by infrastructure."""
    word = {"H": "Held", "B": "Broken", "I": "Infra"}
    return [Trial(f"repeat-{i + 1}", word[o]) for i, o in enumerate(outcomes)] + [
        Trial(p.replace("_", "-"), word[o]) for p, o in others.items()
    ]


def build_planned_trials(ended):
    return [PlannedTrial(purpose=t.purpose, describe=t.purpose, steps=(), seed=10 + i) for i, t in enumerate(ended)]


@pytest.mark.parametrize(
    ("ended", "next_"),
    [
        (trials("HHHHH", control="H"), []),
        (trials("HHHHB", control="H"), ["repeat-6", "repeat-7", "repeat-8", "repeat-9", "repeat-10"]),
        (trials("HHHBB", control="H"), []),
        (trials("HHHHI", control="H"), ["repeat-6"]),
        (trials("HHHHB" + "HHHHI", control="H"), ["repeat-11"]),
        (trials("HHHHB" + "HHHHH", control="H"), []),
        (trials("HHHHH", control="I"), ["control-again"]),
        (trials("HHHHH", control="I", control_again="I"), []),
        (trials("HHIII", control="H"), ["repeat-6", "repeat-7", "repeat-8"]),
        (trials("HIIII", control="H"), []),
    ],
)
def test_further_trials_follow_from_outcomes(ended, next_):
    assert [p.purpose for p in plan_further_trials(FIVE_THEN_FIVE, build_planned_trials(ended), ended)] == next_


def test_new_repeats_and_retries_have_new_seeds():
    ended = trials("HHHHB", control="I")
    plan = build_planned_trials(ended)
    more = plan_further_trials(FIVE_THEN_FIVE, plan, ended)
    seeds = {p.purpose: p.seed for p in more}
    assert seeds["control-again"] == plan[-1].seed
    repeats = {p.seed for p in (*plan, *more) if p.purpose.startswith("repeat")}
    assert len(repeats) == 10


@pytest.mark.parametrize(
    ("looks", "ended", "verdict"),
    [
        (FIVE_THEN_FIVE, trials("HHHHH", control="H"), "Pass"),
        (FIVE_THEN_FIVE, trials("HHHHB", control="H"), "NotEvaluated"),
        (FIVE_THEN_FIVE, trials("HHHHBHHHHH", control="H"), "Pass"),
        (FIVE_THEN_FIVE, trials("HHHHBHHHHB", control="H"), "Inconclusive"),
        (FIVE_THEN_FIVE, trials("HHHHBHHHBB", control="H"), "Fail"),
        (FIVE_THEN_FIVE, trials("HHHBB", control="H"), "Fail"),
        (FIVE_THEN_FIVE, trials("HHHHH", control="B"), "Fail"),
        (FIVE_THEN_FIVE, trials("HHHHH", control="I"), "NotEvaluated"),
        (FIVE_THEN_FIVE, trials("HHHHH", control="I", control_again="H"), "Pass"),
        (FIVE_THEN_FIVE, trials("IIHHHHH"), "Pass"),
        (FIVE_THEN_FIVE, trials("IIIHHHHH"), "NotEvaluated"),
        (FIVE_THEN_FIVE, trials("IIIHHHBB"), "Fail"),
        (FIVE_THEN_FIVE, [], "NotEvaluated"),
        (ONCE, trials("H", control="H", label="H"), "Pass"),
        (ONCE, trials("I", control="H", label="H"), "NotEvaluated"),
        (ONCE, trials("", control="H"), "Pass"),
    ],
)
def test_verdict_follows_from_looks_and_outcomes(looks, ended, verdict):
    assert judge_trials(looks, ended) == verdict


def test_repeats_stop_when_settled():
    assert is_settled(FIVE_THEN_FIVE, trials("BB"))
    assert not is_settled(FIVE_THEN_FIVE, trials("BHHH"))


@given(st.lists(st.sampled_from("HBI"), max_size=25))
def test_infrastructure_outcomes_do_not_affect_verdict(outcomes):
    """Infrastructure outcomes never change the verdict of the valid repeats."""
    ended = trials("".join(outcomes))
    valid = [t for t in ended if t.outcome != "Infra"]
    if judge_trials(FIVE_THEN_FIVE, ended) == Verdict.FAIL:
        assert judge_trials(FIVE_THEN_FIVE, valid) == Verdict.FAIL
    if judge_trials(FIVE_THEN_FIVE, ended) == Verdict.PASS:
        assert judge_trials(FIVE_THEN_FIVE, valid) == Verdict.PASS


@given(st.lists(st.sampled_from("HHHHHHBI"), min_size=60, max_size=60))
def test_every_campaign_terminates(outcomes):
    """Waves follow each other until nothing is needed, and no more than infrastructure and two looks can ask for."""
    queue = iter(outcomes)
    word = {"H": "Held", "B": "Broken", "I": "Infra"}
    plan = build_planned_trials(trials("HHHHH"))
    ended = []
    wave = list(plan)
    while wave:
        ended += [Trial(p.purpose, word[next(queue)]) for p in wave]
        wave = plan_further_trials(FIVE_THEN_FIVE, plan, ended)
        plan += wave
    assert len(ended) <= 20
    assert len({p.purpose for p in plan}) == len(plan)
    assert is_settled(FIVE_THEN_FIVE, ended) or judge_trials(FIVE_THEN_FIVE, ended) == Verdict.NOT_EVALUATED
