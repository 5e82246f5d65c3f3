"""YAML in fixes can be pasted: it parses and has no empty field."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from scenario_kit.judge.alerts import control_runs, incident_alerts
from scenario_kit.lint import RULES
from scenario_kit.model import AlertExpectation, AlertHistory, AlertTimeline, Finding, Interval, Reference
from scenario_kit.model.authored.scenario import Expect

_TEMPLATE = re.compile(r"\{\{.*?\}\}|\$\{[^}]*\}")


def list_yaml_snippets(text: str) -> Iterator[str]:
    """Every mapping and every `name: value` in a text."""
    text, start, depth = _TEMPLATE.sub("x", text), 0, 0
    for i, char in enumerate(text):
        if char == "{":
            start, depth = (i, 1) if not depth else (start, depth + 1)
        elif char == "}" and depth:
            depth -= 1
            if not depth and ":" in text[start:i]:
                yield text[start : i + 1]
    yield from (found for found in re.findall(r"`(\w+: [^`]+)`", text) if "…" not in found)


def parts(value: Any) -> Iterator[Any]:
    yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from parts(part)


def is_pastable(text: str) -> bool:
    try:
        values = [yaml.safe_load(each) for each in list_yaml_snippets(text)]
    except yaml.YAMLError:
        return False
    return all(part not in (None, "") for value in values for part in parts(value))


def test_is_pastable_rejects_invalid_yaml() -> None:
    assert not is_pastable("add {name: X, entity: , class: MayFire} to expect.alerts")
    assert not is_pastable("write {a: [b}")
    assert is_pastable("add {name: X, entity: Deployment/cart, class: MayFire} to expect.alerts, or `entity: Pod/a`")


@pytest.mark.parametrize("code", sorted(RULES))
def test_fix_of_a_rule(code: str) -> None:
    assert is_pastable(RULES[code].fix)


def test_good_example_of_a_rule_is_yaml() -> None:
    wrong = [code for code, rule in RULES.items() if rule.good.startswith("{") and not is_pastable(rule.good)]
    assert wrong == []


def build_history(entity: str) -> AlertHistory:
    fired = AlertTimeline(
        name="NoData", entity=Reference.parse(entity) if entity else None, firing=(Interval(start=1200.0),)
    )
    return AlertHistory(start=0.0, end=2000.0, timelines=(fired,))


def findings(entity: str) -> Iterator[Finding]:
    """List the findings about an alert on this entity, of every function that proposes YAML."""
    expect = Expect(
        alerts=(AlertExpectation(name="NoData", entity=Reference("Deployment", "web"), within_seconds=480),)
    )
    yield from incident_alerts.check_forbidden(build_history(entity), Expect(), 1000.0, 2000.0)
    yield from incident_alerts.check_forbidden(build_history(entity), Expect(), 1000.0, 2000.0, closed=True)
    yield from control_runs.check_quiet(build_history(entity), Expect(), 1000.0, 2000.0)
    yield from incident_alerts.check_fired(build_history(entity), expect, 1000.0, {expect.alerts[0]: 480.0})


@pytest.mark.parametrize("entity", ["", "Deployment/cart", "Node/worker-1"])
def test_fix_of_a_run(entity: str) -> None:
    for finding in findings(entity):
        assert is_pastable(finding.fix), finding.fix
        assert "entity: ," not in finding.fix
