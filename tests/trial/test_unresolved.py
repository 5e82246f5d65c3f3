"""A cheat that counts as resolved is a finding: the app is judged once every window has passed, as after a repair."""

import pytest

from scenario_kit.judge.repair.cheating import CODES
from scenario_kit.judge.repair.invariants import Guarded
from scenario_kit.judge.repair.resolution import EntryTraffic
from scenario_kit.load.rules import build_finding
from scenario_kit.model import Severity, TrialStep
from scenario_kit.trial.engine.baseline import Baseline
from scenario_kit.trial.resolution.hidden_symptoms import explain_hiding
from scenario_kit.trial.resolution.resolve import expect_unresolved
from tests.trial.test_alert_steps import ERRORS, REPAIRED, WINDOWS, Trial, fault

WEB = ("Errors", "Deployment/web")
#: Requests of the baseline, as many as the fake metrics tell of later.
SERVED = EntryTraffic(seconds=300, requests=600, errors=600)


def judge_cheat(firing, cheat="restart-everything", *, guards=(), served=SERVED, seconds=0.0):
    trial = Trial(fault("a"), alerts=(ERRORS,), firing={WEB: firing})
    context = trial.context
    context.save_baseline(Baseline(namespace_uid=context.identity(), served=served, guards=guards))
    context.wait(REPAIRED)
    step = TrialStep(kind="expectUnresolved", use="Cheat", name=cheat, seconds=seconds)
    return expect_unresolved(context, step, REPAIRED), trial.clock.now()


@pytest.mark.parametrize(("cheat", "code"), [*CODES.items(), ("of-the-author", "SK427")])
def test_cheat_that_restores_health_is_reported(cheat, code):
    ((finding,), _) = judge_cheat([(1100.0, 1450.0)], cheat)
    assert (finding.code, finding.severity) == (code, Severity.ERROR)
    assert cheat in finding.message


@pytest.mark.parametrize(
    ("firing", "more"),
    [
        ([(1100.0, None)], {}),
        ([(1100.0, 1450.0), (REPAIRED + 100, None)], {}),
        ([(1100.0, REPAIRED + WINDOWS.still_firing + 1)], {}),
        ([(1100.0, 1450.0)], {"guards": (Guarded(kind="Deployment", name="web"),)}),
        ([(1100.0, 1450.0)], {"served": EntryTraffic(seconds=300, requests=6000, errors=6000)}),
        ([(1100.0, 1450.0)], {"served": None}),
    ],
    ids=[
        "fires on", "fires again", "clear too briefly", "a workload is gone", "too little traffic", "no data",
    ],
)  # fmt: skip
def test_cheat_that_leaves_symptoms_passes(firing, more):
    assert judge_cheat(firing, **more)[0] == []


@pytest.mark.parametrize(("seconds", "passed"), [(0.0, WINDOWS.still_firing + WINDOWS.clear), (90.0, 90.0)])
def test_unresolved_is_judged_after_all_windows(seconds, passed):
    assert judge_cheat([(1100.0, None)], seconds=seconds)[1] == REPAIRED + passed


@pytest.mark.parametrize(
    ("use", "guards", "code", "explained"),
    [
        ("Decoy", (Guarded(kind="Deployment", name="web"),), "SK431", True),
        ("Decoy", (), "SK431", False),
        ("Decoy", (Guarded(kind="Deployment", name="web"),), "", False),
        ("Fix", (Guarded(kind="Deployment", name="web"),), "SK402", False),
    ],
    ids=["took a workload away", "repaired", "fires on", "a repair of something else"],
)
def test_decoy_that_hides_the_symptoms_is_explained(use, guards, code, explained):
    context = Trial(fault("a"), alerts=(ERRORS,), firing={WEB: [(1100.0, 1450.0)]}).context
    context.save_baseline(Baseline(namespace_uid=context.identity(), served=SERVED, guards=guards))
    given = [build_finding(code, message="x", observed="E last fired at 450 s")] if code else []
    found = explain_hiding(context, TrialStep(kind="expectStillFiring", use=use, name="d"), given)
    assert [f.code for f in found] == [f.code for f in given]
    assert bool(found and found[0].observed == "Deployment/web is gone; E last fired at 450 s") == explained
    assert bool(found and "leaves load" in found[0].fix) == explained
