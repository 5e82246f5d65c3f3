"""When a fault of a staged scenario is due."""

import pytest

from scenario_kit.model import AlertHistory, AlertTimeline, Interval, Reference
from scenario_kit.model.authored.scenario import FaultStart, OnAlert
from scenario_kit.trial.injection.staging import Situation, is_due

FIRING = AlertTimeline(name="Errors", entity=Reference("Deployment", "web"), firing=(Interval(start=200.0),))
OVER = AlertTimeline(name="Errors", entity=Reference("Deployment", "web"), firing=(Interval(start=20.0, end=50.0),))


def situation(now=300.0, injected=(), effective=(), expected=("a", "b"), timelines=(FIRING,)):
    return Situation(
        now=now,
        zero=100.0,
        injected=injected,
        effective=effective,
        expected=expected,
        history=lambda: AlertHistory(start=0.0, end=now, timelines=timelines),
    )


ERRORS = FaultStart(on_alert=OnAlert(name="Errors"))
ON_DB = FaultStart(on_alert=OnAlert(name="Errors", entity=Reference("Deployment", "db")))
AFTER_A, ONCE_INJECTED = FaultStart(after_fault="a"), FaultStart(after_fault="a", is_="Injected")


@pytest.mark.parametrize(
    ("start", "known", "answer"),
    [
        (FaultStart(), situation(), True),
        (FaultStart(after_seconds=200), situation(), True),
        (FaultStart(after_seconds=201), situation(), False),
        (AFTER_A, situation(injected=["a"]), False),
        (AFTER_A, situation(injected=["a"], effective=["a"]), True),
        (ONCE_INJECTED, situation(injected=["a"]), True),
        (ONCE_INJECTED, situation(), False),
        (AFTER_A, situation(expected=["b"]), True),
        (ERRORS, situation(), True),
        (ERRORS, situation(timelines=()), False),
        (ERRORS, situation(timelines=(OVER,)), False),
        (ON_DB, situation(), False),
        (ON_DB, situation(expected=["b"]), True),
    ],
    ids=[
        "at once", "time has come", "time to come", "not proven yet", "proven", "injected", "not injected",
        "the other is not part of the program", "fires", "is quiet", "fired before the step", "fires elsewhere",
        "alone, so nothing can raise it",
    ],
)  # fmt: skip
def test_due(start, known, answer):
    assert is_due(start, "b", known) is answer
