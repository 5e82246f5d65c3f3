"""Truncated reports: what is omitted, in which order, and the notice."""

import json

import pytest
from msgspec import structs

from scenario_kit.campaign import TrialResult, Validation
from scenario_kit.model import AlertHistory, Finding, Reference, Severity, Verdict
from scenario_kit.model.runtime.observation import AlertTimeline
from scenario_kit.report import Report
from scenario_kit.report.truncation import LIMIT, truncate_report


def report(trials=12, alerts=12):
    timelines = tuple(
        AlertTimeline(name=f"Alert{i}", entity=Reference.parse(f"Deployment/service-{i}")) for i in range(alerts)
    )
    history = AlertHistory(start=0.0, end=900.0, timelines=timelines)
    results = tuple(
        TrialResult(
            name=f"t{i}", purpose=f"repeat-{i}" if i < 5 else f"other-{i}", describe="d", seed=i,
            outcome="Broken" if i == 7 else "Held", history=history,
        )
        for i in range(trials)
    )  # fmt: skip
    findings = tuple(Finding(code="SK321", severity=Severity.ERROR, message=f"finding {i}") for i in range(300))
    validation = Validation(
        scenario="s", plan="standard", verdict=Verdict.FAIL, headline="h", findings=findings, trials=results
    )
    return Report(validation=validation)


def list_kept(text):
    return {t.purpose for t in Report.from_json(json.loads(text)).validation.trials if t.history is not None}


def test_small_report_is_not_truncated():
    whole = report()
    assert Report.from_json(json.loads(truncate_report(whole, LIMIT))) == whole


def test_least_informative_trials_are_dropped_first():
    whole = report()
    size, seen = len(truncate_report(whole, LIMIT)), []
    for limit in range(size - 1, 4000, -800):
        try:
            text = truncate_report(whole, limit)
        except ValueError:
            break
        assert len(text.encode()) <= limit
        left = Report.from_json(json.loads(text))
        assert left.left_out
        assert left.validation.verdict == Verdict.FAIL
        if list_kept(text) not in seen:
            seen.append(list_kept(text))
    repeats = {f"repeat-{i}" for i in range(5)}
    assert seen == [repeats | {"other-7"}, {"other-7"}, set()]


def test_unreachable_limit_is_an_error():
    with pytest.raises(ValueError, match="cannot truncate a report"):
        truncate_report(structs.replace(report(), created="x" * 5000), 4000)
