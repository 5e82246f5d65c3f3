"""Incidents with equal symptoms: distinguishing signs, and refusal without any."""

import msgspec
import pytest

from scenario_kit.campaign.results.identifiability import find_neighbours, judge_neighbours, take_fingerprint
from scenario_kit.campaign.results.repeatability import discriminates
from scenario_kit.campaign.results.result import TrialResult
from scenario_kit.model import AlertHistory, AlertTimeline, Reference, StepStatus
from scenario_kit.model.results.evidence import Fingerprint
from scenario_kit.model.runtime.observation import Interval

HOLD = StepStatus(index=4, step="hold", outcome="Held", started_at=200.0, finished_at=1000.0)


def build_fingerprint(*symptoms, app="shop", answer=("Service/cart",), signs=("event BackOff on Deployment/cart",)):
    return Fingerprint(app=app, answer=answer, symptoms=symptoms, signs=signs)


AB, ABC = ("a", "b"), ("a", "b", "c")
MINE = build_fingerprint(AB, AB, AB)


@pytest.mark.parametrize(
    ("other", "margin", "codes"),
    [
        (build_fingerprint(ABC, ABC, ABC), None, []),
        (build_fingerprint(AB, AB, AB), 0.0, ["SK452"]),
        (build_fingerprint(AB, AB, AB, answer=("Service/ad",)), 0.0, ["SK451"]),
        (build_fingerprint(AB, AB, AB, answer=("Service/ad",), signs=("state OOMKilled on Deployment/ad",)), 0.0, []),
        (build_fingerprint(AB, AB, AB, app="hotel"), None, []),
        (build_fingerprint(), None, []),
    ],
    ids=["other symptoms", "same answer", "unidentifiable", "hard pair", "another app", "no repeats"],
)
def test_pairs(other, margin, codes):
    found = find_neighbours(MINE, {"other": other})
    assert [n.margin for n in found] == ([] if margin is None else [margin])
    assert [f.code for f in judge_neighbours(found)] == codes


def test_margin_matches_the_worked_example():
    """Always {a,b} and always {a,b,c}: within 1, across .6667, margin .3333 (docs/evidence.md)."""

    sets = [[frozenset(s) for s in p.symptoms] for p in (MINE, build_fingerprint(ABC, ABC, ABC))]
    assert round(discriminates(*sets), 4) == 0.3333


def test_hard_pair_names_its_distinguishing_symptoms():
    other = build_fingerprint(AB, AB, AB, answer=("Service/ad",), signs=("state OOMKilled on Deployment/ad",))
    (near,) = find_neighbours(MINE, {"other": other})
    assert near.here == ("event BackOff on Deployment/cart",)
    assert near.there == ("state OOMKilled on Deployment/ad",)


def repeat(number, *entities, signs=(), outcome="Held"):
    alerts = tuple(
        AlertTimeline(name="E", entity=Reference("Job", e), firing=(Interval(start=300.0),)) for e in entities
    )
    late = AlertTimeline(name="Late", entity=Reference("Deployment", "x"), firing=(Interval(start=1500.0),))
    return TrialResult(
        name="t", purpose=f"repeat-{number}", describe="", seed=number, outcome=outcome, injected_at=100.0,
        steps=(HOLD,), signs=signs, history=AlertHistory(start=0.0, end=2000.0, timelines=(*alerts, late)),
    )  # fmt: skip


def test_fingerprint_has_alerts_per_repeat_and_common_signs(fault, runbook_of):
    book = runbook_of(fault("f"), solutions={"s": ["f"]})
    repeats = [repeat(1, "a", signs=("x", "y")), repeat(2, "a", "b", signs=("x",)), repeat(3, "a", signs=("x",))]
    found = take_fingerprint(book, [*repeats, repeat(4, "c", outcome="Broken")])
    assert found.symptoms == (("E on Job/a",), ("E on Job/a", "E on Job/b"), ("E on Job/a",))
    assert found.answer == ("ConfigMap/f",)
    assert found.signs == ("field of on ConfigMap/f", "x")


def test_writes_of_hidden_faults_are_no_signs(fault, runbook_of):

    book = runbook_of(msgspec.structs.replace(fault("f"), visibility="Hidden"), solutions={"s": ["f"]})
    assert take_fingerprint(book, [repeat(n, "a") for n in (1, 2, 3)]).signs == ()


def test_two_repeats_are_no_fingerprint(fault, runbook_of):
    book = runbook_of(fault("f"), solutions={"s": ["f"]})
    assert take_fingerprint(book, [repeat(1, "a"), repeat(2, "a")]) is None
