"""Codes of staged scenarios: faults that wait for others, or for an alert."""

from __future__ import annotations

from scenario_kit.lint.framework.rule import Rule, add
from scenario_kit.model import Severity

add(
    Rule(
        code="SK331",
        title="A fault never started, because the alert it waits for did not fire",
        severity=Severity.ERROR,
        why="a scenario whose second half never happens is a different scenario",
        bad="start: {onAlert: {name: KubePodNotReady}}, while every pod stays ready",
        good="start: {onAlert: {name: HighRequestErrorRate, on: Deployment/frontend}}, which an earlier fault raises",
        fix="wait for an alert that an earlier fault raises, or raise start.onAlert.withinSeconds",
    )
)
