"""Rule files as people have them: every field is read, or refused at its line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from scenario_kit.catalog import Catalog
from scenario_kit.catalog.alerts import parse_duration, parse_rules
from scenario_kit.lint import lint_file
from scenario_kit.lint.fix import fix_file
from scenario_kit.model import AlertRule
from tests.lint.test_truth_rules import CATALOG
from tests.lint.truth_violations import build_pack_rule

ERRORS = 'sum by (service_name) (rate(traces_span_metrics_calls_total{status_code="STATUS_CODE_ERROR"}[2m]))'
CASE = {"alert": "Few", "case": "it fires", "series": [], "minute": 5, "fires": "any"}


def write_pack(folder: Path, document: Any, tests: Any = None) -> Path:
    path = folder / "catalog" / "alerts" / "own.yaml"
    (path.parent / "tests").mkdir(parents=True)
    path.write_text(document if isinstance(document, str) else yaml.safe_dump(document, sort_keys=False))
    names = {r["alert"] for r in _rules(path) if "alert" in r}
    cases = [{**CASE, "alert": name} for name in sorted(names)] if tests is None else tests
    (path.parent / "tests" / "own.yaml").write_text(yaml.safe_dump(cases))
    return path


def _rules(path: Path) -> list[dict[str, Any]]:
    document = yaml.safe_load(path.read_text())
    groups = document.get("groups") or document.get("spec", {}).get("groups", [])
    return [rule for group in groups for rule in group.get("rules", [])]


def group(*rules: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"groups": [{"name": "own", **more, "rules": list(rules)}]}


def lint_rules(path: Path) -> list[tuple[str, int]]:
    return [(f.code, f.position.line if f.position else 0) for f in lint_file(path, CATALOG)]


def alert(**more: Any) -> dict[str, Any]:
    return {"alert": "Few", "expr": f"{ERRORS} > 5", **more}


def read(path: Path) -> tuple[AlertRule, ...]:
    return Catalog([path.parents[2]]).alert_pack("own")


def test_object_of_the_operator_is_read(tmp_path: Path) -> None:
    head = {"apiVersion": "monitoring.coreos.com/v1", "kind": "PrometheusRule", "metadata": {"name": "x"}}
    path = write_pack(tmp_path, {**head, "spec": group(alert(**{"for": "2m"}))})

    assert lint_rules(path) == []
    assert [(r.name, r.for_seconds) for r in read(path)] == [("Few", 120)]


def test_recording_rules_are_written_out(tmp_path: Path) -> None:
    record = {"record": "own:few", "expr": ERRORS, "labels": {"team": "shop"}}
    path = write_pack(tmp_path, group(record, alert(expr="own:few > 5")))

    assert lint_rules(path) == []
    (rule,) = read(path)
    assert rule.expr == f'(label_replace({ERRORS}, "team", "shop", "", "")) > 5'
    assert rule.range_seconds == 120
    assert [r.get("record") for r in Catalog([tmp_path]).prometheus_rules("own")["groups"][0]["rules"]] == [
        "own:few",
        None,
    ]


def test_intervals_labels_and_keep_firing_for_are_read(tmp_path: Path) -> None:
    path = write_pack(tmp_path, group(alert(keep_firing_for="5m"), interval="30s", labels={"team": "shop"}))

    assert lint_rules(path) == []
    (rule,) = read(path)
    assert (rule.for_seconds, rule.keep_firing_seconds, rule.interval_seconds) == (0, 300, 30)
    assert rule.labels == {"team": "shop"}
    assert rule.response_seconds == 300 + 120 + 15


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (group(alert(), limit=3), [("SK314", 3)]),
        (group(alert(), query_offset="1m"), [("SK314", 3)]),
        (group(alert(), partial_response_strategy="warn"), [("SK314", 3)]),
        (group(alert(), interval="20s"), [("SK314", 3)]),
        (group(alert(), limit=0, query_offset="0s"), []),
        (group({"record": "a:b", "expr": ERRORS, "for": "1m"}, alert(expr="a:b > 5")), [("SK314", 6)]),
        (group({"record": "a:b", "expr": ERRORS, "annotations": {}}, alert(expr="a:b > 5")), [("SK314", 6)]),
        (group(alert(expr="sum(rate(x[5m])) by (a > 1")), [("SK117", 5)]),
        (group({"record": "a:b", "expr": "sum("}, alert()), [("SK117", 5)]),
        (group({"record": "a:b", "expr": ERRORS}, alert(expr='a:b{x="y"} > 5')), [("SK316", 7)]),
        (group({"record": "a:b", "expr": ERRORS}, alert(expr="a:b offset 1m > 5")), [("SK316", 7)]),
        (group(alert(expr=f'{ERRORS} > 5 and kube_pod_info{{namespace="x"}}')), [("SK319", 5)]),
        (group(alert(rate="5m")), [("SK102", 8)]),
        (group(alert(**{"for": "5 minutes"})), [("SK104", 8)]),
        (group(alert(**{"for": 5})), [("SK104", 8)]),
        (group(alert(labels={"severity": 1})), [("SK104", 9)]),
        (group(alert(record="a:b")), [("SK104", 4)]),
        (group({"expr": "up"}), [("SK104", 4)]),
        (group({"alert": "X"}), [("SK103", 4)]),
        ("groups:\n- name: a\n  rulez: []\n", [("SK102", 3)]),
        ("group: []\n", [("SK102", 1)]),
        ("apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRul\nspec: {groups: []}\n", [("SK104", 2)]),
        ("apiVersion: v1\nkind: PrometheusRule\nspec: {groups: []}\n", [("SK105", 1)]),
        ("rule_files: [own.yaml]\ntests: []\n", [("SK104", 2)]),
        ({"groups": [{"name": "a", "rules": [alert()]}, {"name": "a", "rules": []}]}, [("SK314", 2), ("SK314", 2)]),
    ],
)  # fmt: skip
def test_refused_at_its_line(document: Any, expected: list[tuple[str, int]], tmp_path: Path) -> None:
    path = write_pack(tmp_path, document)
    lines = [(code, line) for code, line in lint_rules(path)]
    assert [code for code, _ in lines] == [code for code, _ in expected], lines
    if not isinstance(document, str):  # the dump decides about lines; a refused field is on the one that names it
        return
    assert lines == expected


def test_fix_skips_unsupported_expressions(tmp_path: Path) -> None:
    expr = f'{ERRORS} > 5 unless kube_pod_info{{namespace="x", pod="y"}} and kube_pod_info{{pod="y",namespace=~"x"}}'
    path = write_pack(tmp_path, group(alert(expr=expr), limit=3))
    result = fix_file(path, CATALOG)

    assert sorted(f.code for f in result.corrected) == ["SK314", "SK319", "SK319"]
    (written_group,) = yaml.safe_load(result.new)["groups"]
    assert "limit" not in written_group
    assert written_group["rules"][0]["expr"] == (
        f'{ERRORS} > 5 unless kube_pod_info{{pod="y"}} and kube_pod_info{{pod="y"}}'
    )


@pytest.mark.parametrize(
    ("tests", "expected"),
    [
        ([{**CASE, "alert": "Few"}], []),
        ([{"alert": "Few", "case": "it is silent", "series": [], "minute": 5}], ["SK310"]),
        ([{**CASE, "alert": "Few", "serie": []}], ["SK317"]),
        ([{**CASE, "alert": "Few"}, {**CASE, "alert": "Fewer"}], ["SK310"]),
        ({"rule_files": ["../own.yaml"], "tests": []}, ["SK310"]),
        (
            {"rule_files": ["../own.yaml"], "tests": [{"input_series": [], "alert_rule_test": [
                {"eval_time": "5m", "alertname": "Few", "exp_alerts": [{"exp_labels": {"a": "b"}}]}]}]},
            [],
        ),
        (
            {"rule_files": ["../own.yaml"], "tests": [{"input_series": [], "alert_rule_test": [
                {"eval_time": "5m", "alertname": "Few", "exp_alerts": []}]}]},
            ["SK310"],
        ),
        (
            {"rule_files": ["../own.yaml"], "tests": [{"input_series": [], "promql_expr_test": [
                {"eval_time": "5m", "expr": 'ALERTS{alertname="Few", alertstate="firing"}',
                 "exp_samples": [{"labels": "{}", "value": 1}]}]}]},
            [],
        ),
        (
            {"rule_files": ["../own.yaml"], "tests": [{"input_series": [], "alert_rule_tests": [
                {"eval_time": "5m", "alertname": "Few", "exp_alerts": [{}]}]}]},
            ["SK317", "SK310"],
        ),
        (
            {"rule_files": ["../other.yaml"], "tests": [{"input_series": [], "alert_rule_test": [
                {"eval_time": "5m", "alertname": "Few", "exp_alerts": [{}]}]}]},
            ["SK317"],
        ),
        ("a: [", ["SK317"]),
    ],
)  # fmt: skip
def test_tests_are_read_in_both_formats(tests: Any, expected: list[str], tmp_path: Path) -> None:
    path = write_pack(tmp_path, group(alert()), tests)
    if isinstance(tests, str):
        (path.parent / "tests" / "own.yaml").write_text(tests)
    assert sorted(code for code, _ in lint_rules(path)) == sorted(expected)


def test_without_tests_one_finding_names_every_alert(tmp_path: Path) -> None:
    path = write_pack(tmp_path, group(build_pack_rule(), alert(alert="Fewest")))
    (path.parent / "tests" / "own.yaml").unlink()
    (finding,) = lint_file(path, CATALOG)

    assert finding.code == "SK310"
    assert "'CartFails', 'Fewest'" in finding.message


def test_pack_tests_are_checked_with_their_pack(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from scenario_kit.cli import run

    path = write_pack(tmp_path, group(alert()))
    assert run(["lint", str(path.parent / "tests" / "own.yaml")]) == 0
    assert "1 alert pack checked: no findings" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "seconds"), [("0", 0), ("0s", 0), ("0m", 0), ("90s", 90), ("1h30m", 5400), ("1d", 86400), ("250ms", 0.25)]
)
def test_durations(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "5", "1.5m", "5 m", "-1m", 5, None])
def test_invalid_duration_is_refused(text: Any) -> None:
    with pytest.raises(ValueError, match="is not a duration"):
        parse_duration(text)


def test_unreadable_rule_names_its_cause() -> None:
    from scenario_kit.errors import AuthoringError

    with pytest.raises(AuthoringError, match="labels or an offset"):
        parse_rules("own", Path("own.yaml"), group({"record": "a", "expr": "b"}, alert(expr='a{x="y"}')))
