"""Codes about how hard a scenario is."""

from __future__ import annotations

from scenario_kit.lint.framework.rule import Rule, add
from scenario_kit.model import Severity

add(
    Rule(
        code="SK511",
        title="The complexity label contradicts the formula",
        severity=Severity.WARNING,
        why="an author's adjective says how hard it was to write, not how hard it is to solve",
        bad="",
        good="",
        fix="",
        unjudged="scenarios carry no such label: complexity follows from the propagation, difficulty is measured",
    )
)
