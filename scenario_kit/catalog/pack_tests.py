"""Tests of alert packs, in the kit's format or promtool's; both are converted for promtool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from scenario_kit.load.promql.parser import parse_expression, walk
from scenario_kit.load.schema.validation import find_mistakes
from scenario_kit.load.yaml.document import Document, read_document
from scenario_kit.model import AlertRule, Finding, Object
from scenario_kit.model.grid import GRID_DURATION
from scenario_kit.schema import build_authoring_schema

#: Folder of tests, next to the packs.
TESTS: Final = "tests"
#: Sample interval of the kit's cases.
_STEP: Final = GRID_DURATION


def locate_tests(pack: Path) -> Path:
    """Return the path of a pack's tests."""
    return pack.parent / TESTS / pack.name


def is_promtool(document: Any) -> bool:
    """Return whether tests are in promtool's format."""
    return isinstance(document, Mapping)


def read_tests(path: Path) -> tuple[Document, tuple[Finding, ...]]:
    """Read a test file and the findings on its form.

    Raises:
        UsageError: no such file.
        AuthoringError: not valid YAML.
    """
    document = read_document(path)
    schema = build_authoring_schema("PromtoolTests" if is_promtool(document.data) else "PackCases")
    found = [m.finding for m in find_mistakes(document.data, schema, document.positions) if not m.follows]
    return document, (*document.findings, *found)


def list_firing(document: Any) -> set[str]:
    """List the alerts that fire in some test."""
    if not is_promtool(document):
        return {str(case.get("alert")) for case in _keep_mappings(document) if "fires" in case}
    shown = {str(test.get("alertname")) for test in _list_all(document, "alert_rule_test") if test.get("exp_alerts")}
    for test in _list_all(document, "promql_expr_test"):
        if test.get("exp_samples"):
            shown |= _find_alerts(str(test.get("expr", "")))
    return shown


def list_named(document: Any) -> set[str]:
    """List all tested alerts."""
    if not is_promtool(document):
        return {str(case.get("alert")) for case in _keep_mappings(document)}
    return {str(test.get("alertname")) for test in _list_all(document, "alert_rule_test")}


def build_promtool_tests(document: Any, rules: Sequence[AlertRule], rule_file: str) -> list[tuple[str, Object]]:
    """Build a complete promtool file per test, with its name; the rules are read from ``rule_file``."""
    if is_promtool(document):
        own = {key: value for key, value in document.items() if key not in ("tests", "rule_files")}
        return [
            (str(test.get("name") or f"test {number}"), {**own, "rule_files": [rule_file], "tests": [test]})
            for number, test in enumerate(_keep_mappings(document.get("tests")), 1)
        ]
    known = {rule.name: rule for rule in rules}
    return [
        (
            f"{case['alert']}: {case['case']}",
            {"rule_files": [rule_file], "evaluation_interval": _STEP, "tests": [_test(case, known.get(case["alert"]))]},
        )
        for case in _keep_mappings(document)
    ]


def _test(case: Mapping[str, Any], rule: AlertRule | None) -> Object:
    """Convert one of the kit's cases into a promtool test."""
    label = rule.entity.label if rule is not None and rule.entity else ""
    entity = f'{{{label}="{case["fires"]}"}}' if label and "fires" in case else "{}"
    alerts = f'ALERTS{{alertname="{case["alert"]}",alertstate="firing"}}'
    samples = [{"labels": entity, "value": 1}] if "fires" in case else []
    return {
        "name": f"{case['alert']}: {case['case']}",
        "interval": _STEP,
        "input_series": case["series"],
        "promql_expr_test": [
            {"expr": f"count by ({label}) ({alerts})", "eval_time": f"{case['minute']}m", "exp_samples": samples}
        ],
    }


def _list_all(document: Mapping[str, Any], kind: str) -> list[Mapping[str, Any]]:
    return [test for each in _keep_mappings(document.get("tests")) for test in _keep_mappings(each.get(kind))]


def _keep_mappings(parts: Any) -> list[Mapping[str, Any]]:
    return [part for part in parts if isinstance(part, Mapping)] if isinstance(parts, list) else []


def _find_alerts(expr: str) -> set[str]:
    """Return the alerts whose firing state an expression queries."""
    try:
        nodes = [node for node in walk(parse_expression(expr)) if getattr(node, "name", None) == "ALERTS"]
    except ValueError:
        return set()
    found = set()
    for node in nodes:
        matchers = {m.name: m.value for m in node.matchers.matchers}
        if matchers.get("alertstate", "firing") == "firing":
            found.add(matchers.get("alertname", ""))
    return found - {""}
