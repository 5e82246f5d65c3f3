"""Rules about alert packs and the queries of checks."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from scenario_kit.catalog import Catalog, find_data_root
from scenario_kit.lint import lint_file
from scenario_kit.lint.fix import fix_file
from scenario_kit.lint.rules.alerts.promql import (
    list_comparisons,
    list_durations,
    list_matchers,
    list_numbers,
    split_alternatives,
)
from scenario_kit.model import Finding
from tests.lint.test_truth_rules import CATALOG, Spec, scenario
from tests.lint.truth_violations import PACKS, build_local_fault, build_pack_rule

PACK_FILES = sorted((find_data_root() / "catalog" / "alerts").glob("*.yaml"))


def pack(rules: list[dict[str, Any]], folder: Path, tested: bool = True, **more: Any) -> Path:
    """A pack and its tests, in a catalogue of its own."""
    path = folder / "catalog" / "alerts" / "own.yaml"
    (path.parent / "tests").mkdir(parents=True)
    path.write_text(yaml.safe_dump({**more, "groups": [{"name": "own", "rules": rules}]}, sort_keys=False))
    if tested:
        cases = [{"alert": r["alert"], "case": "it fires", "series": [], "minute": 5, "fires": "x"} for r in rules]
        (path.parent / "tests" / "own.yaml").write_text(yaml.safe_dump(cases))
    return path


def lint_pack(path: Path) -> list[Finding]:
    """Lint without SK315: most expressions here use unexported series (`test_unseen_series.py`)."""
    return [f for f in lint_file(path, CATALOG) if f.code != "SK315"]


@pytest.mark.parametrize("path", PACK_FILES, ids=lambda p: p.stem)
def test_our_packs_have_no_findings(path: Path) -> None:
    assert lint_file(path, CATALOG) == []


def test_good_pack(tmp_path: Path) -> None:
    assert lint_file(pack([build_pack_rule()], tmp_path), CATALOG) == []


@pytest.mark.parametrize("code", sorted(PACKS))
def test_pack_violation_gives_its_finding_only(code: str, tmp_path: Path) -> None:
    findings = lint_file(pack(PACKS[code], tmp_path, tested=code != "SK310"), CATALOG)

    assert {f.code for f in findings} == {code}, [f.message for f in findings]
    assert all(f.position and f.position.line > 1 and f.why and f.fix for f in findings)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ('service_name!~"frontend*"', 'service_name!~"frontend.*"'),
        ('service_name=~"cart*|ad"', 'service_name=~"cart.*|ad"'),
        ('service_name=~"cart | ad"', 'service_name=~"cart|ad"'),
        ('service_name=~"(cart*|ad)-x"', 'service_name=~"(cart.*|ad)-x"'),
    ],
)
def test_glob_in_a_matcher_becomes_an_expression(written: str, meant: str, tmp_path: Path) -> None:
    expr = "sum by (service_name) (rate(calls_total{%s}[2m])) > 5"
    path = pack([build_pack_rule(expr=expr % written)], tmp_path)
    result = fix_file(path, CATALOG)

    assert [f.code for f in result.corrected if f.code != "SK315"] == ["SK309"]
    assert yaml.safe_load(result.new)["groups"][0]["rules"][0]["expr"] == expr % meant


@pytest.mark.parametrize("right", ["cart", "cart|ad", "cart.*", ".*", "[a-z]*", "cart(-[a-z]*)?", "a b", "car[t]*"])
def test_regular_expressions_are_no_globs(right: str, tmp_path: Path) -> None:
    expr = f'sum by (service_name) (rate(calls_total{{service_name=~"{right}"}}[2m])) > 5'

    assert lint_pack(pack([build_pack_rule(expr=expr)], tmp_path)) == []


def test_globs_in_queries_of_scenarios_and_faults(tmp_path: Path) -> None:
    glob = {"query": {"expr": 'sum(rate(x{service_name=~"front*"}[1m]))', "is": "Equal", "value": 0}}
    path = scenario(lambda s: None, tmp_path, {**build_local_fault(), "effect": [glob]})
    own = path.parent / "faults" / "own" / "fault.yaml"
    (finding,) = [f for f in lint_pack(own) if f.code == "SK309"]
    assert finding.position is not None
    assert "expr:" in own.read_text().splitlines()[finding.position.line - 1]

    checks = [{**glob, "withinSeconds": 60}]
    path = scenario(lambda s: s["expect"].update(checks=checks), tmp_path / "other")
    assert "SK309" in {f.code for f in lint_pack(path)}


LATENCY = "histogram_quantile(0.95, sum by (le) (rate(duration_milliseconds_bucket[2m]))) > 1500"
RATIO = "sum(rate(failed[5m])) / sum(rate(calls[5m])) > 0.05"


@pytest.mark.parametrize(
    ("expr", "text", "wrong"),
    [
        (LATENCY, "The 95th percentile is above 1500 ms.", ""),
        (LATENCY, "The 95th percentile is above 1.5 s.", ""),
        (LATENCY, "The 99th percentile is above 1500 ms.", "99th"),
        (LATENCY, "Requests take longer than 15 s.", "15 s"),
        (LATENCY, "p95 of {{ $value | humanize }} ms within 2 minutes.", ""),
        (LATENCY, "Slow for 10 minutes.", "10 minutes"),
        (LATENCY, "Slow for 3 minutes.", ""),
        (RATIO, "More than 5 % fail.", ""),
        (RATIO, "More than 5% fail within 5m.", ""),
        (RATIO, "More than 10 % fail.", "10 %"),
        (RATIO, "Answers of the kind 5xx, see RFC-9110.", ""),
        ("sum(lag) > 100", "The lag is above 100.", ""),
        ("sum(lag) > 100", "The lag is above 1000.", "1000"),
    ],
)
def test_numbers_in_texts(expr: str, text: str, wrong: str, tmp_path: Path) -> None:
    findings = lint_pack(
        pack([build_pack_rule(expr=expr, annotations={"summary": "it fails", "description": text})], tmp_path)
    )

    assert [f.observed for f in findings if f.code == "SK311"] == ([wrong] if wrong else [])
    assert {f.code for f in findings} <= {"SK311"}


def test_fix_writes_the_unambiguous_threshold(tmp_path: Path) -> None:
    rule = build_pack_rule(
        expr=RATIO, annotations={"summary": "{{ $value }} fail", "description": "More than 10 % fail."}
    )
    result = fix_file(pack([rule], tmp_path), CATALOG)

    assert {f.code for f in result.left} <= {"SK315"}
    written = yaml.safe_load(result.new)["groups"][0]["rules"][0]["annotations"]
    assert written == {"summary": "{{ $value }} fail", "description": "More than 5 % fail."}


@pytest.mark.parametrize(
    ("expr", "wrong"),
    [
        ('sum(rate(calls_total{status="STATUS_CODE_ERROR"}[2m])) > 0', True),
        ("sum(increase(http_errors_total[2m])) > 0", True),
        ('0 < sum(rate(http_requests_total{code=~"5.."}[2m]))', True),
        ('sum(rate(calls_total{status="ERROR"}[2m])) / sum(rate(calls_total[2m])) > 0.05', False),
        ('sum(rate(calls_total{status!="ERROR"}[2m])) > 0', False),
        ('sum(kube_pod_status_phase{phase="Failed"}) > 0', False),
        ('sum(rate(calls_total{status="ERROR"}[2m])) == 0', False),
    ],
)
def test_thresholds_of_zero(expr: str, wrong: bool, tmp_path: Path) -> None:
    assert ("SK312" in {f.code for f in lint_pack(pack([build_pack_rule(expr=expr)], tmp_path))}) is wrong


def test_zero_threshold_is_allowed_without_background_errors(tmp_path: Path) -> None:
    rule = build_pack_rule(expr="sum(increase(http_errors_total[2m])) > 0")

    assert lint_pack(pack([rule], tmp_path, assumes=["NoBackgroundErrors"])) == []


def test_same_named_alerts_may_differ_by_labels(tmp_path: Path) -> None:
    rules = [build_pack_rule(labels={"severity": "critical", "tier": tier}) for tier in ("edge", "backend")]

    assert lint_pack(pack(rules, tmp_path)) == []


def test_copy_of_a_rule_is_dropped(tmp_path: Path) -> None:
    result = fix_file(pack([build_pack_rule(), copy.deepcopy(build_pack_rule())], tmp_path), CATALOG)

    assert result.left == ()
    assert len(yaml.safe_load(result.new)["groups"][0]["rules"]) == 1


def test_packs_with_equal_alerts_are_reported(tmp_path: Path) -> None:
    path = scenario(lambda s: s["app"].update(alertPacks=["default", "itbench"]), tmp_path)

    assert "SK313" in {f.code for f in lint_pack(path)}


def test_test_of_unknown_alert_is_reported(tmp_path: Path) -> None:
    path = pack([build_pack_rule()], tmp_path)
    cases = path.parent / "tests" / "own.yaml"
    cases.write_text(cases.read_text() + "- {alert: CartFial, case: typo, series: [], minute: 1}\n")

    (finding,) = lint_pack(path)

    assert (finding.code, finding.observed) == ("SK310", "CartFial")
    assert "CartFails" in finding.fix


def query(expr: str) -> Callable[[Spec], Any]:
    check = {"query": {"expr": expr, "is": "AtLeast", "value": 1}, "withinSeconds": 60}
    return lambda spec: spec["expect"].update(checks=[check])


@pytest.mark.parametrize(
    ("expr", "meant"),
    [
        ('x{service_name=~"frontend.*"}', 'x{service_name=~"frontend"}'),
        ('x{pod=~"frontend.*"}', 'x{pod=~"frontend-[a-z0-9]+-[a-z0-9]+"}'),
        ('x{pod=~"frontend-.+", container="frontend"}', 'x{pod=~"frontend-[a-z0-9]+-[a-z0-9]+", container="frontend"}'),
        ('x{deployment!~"ad|frontend.*"}', 'x{deployment!~"ad|frontend"}'),
    ],
)
def test_overly_broad_filter_is_fixed(expr: str, meant: str, tmp_path: Path) -> None:
    path = scenario(query(expr), tmp_path)

    assert [f.code for f in lint_pack(path)] == ["SK118"]
    result = fix_file(path, CATALOG)
    assert result.left == ()
    assert yaml.safe_load(result.new)["spec"]["expect"]["checks"][0]["query"]["expr"] == meant


@pytest.mark.parametrize(
    "expr",
    [
        'x{service_name=~"frontend"}',
        'x{service_name=~"frontend|frontend-proxy"}',
        'x{service_name=~"frontend(-proxy)?|frontend-proxy"}',
        'x{service_name=~"product-.*"}',
        'x{pod=~"cart-.+"}',
        'x{pod=~"frontend-[a-z0-9]+-[a-z0-9]+"}',
        'x{service_name=~".*"}',
        'x{service_name="frontend-web"}',
        'x{other="anything"}',
        'x{service_name!="nobody"}',
    ],
)
def test_precise_filters_are_accepted(expr: str, tmp_path: Path) -> None:
    assert [f.code for f in lint_pack(scenario(query(expr), tmp_path))] == []


@pytest.mark.parametrize(
    ("expr", "meant"),
    [
        ('x{deployment=~"cart-.*"}', 'x{deployment=~"cart"}'),
        ('x{service_name="prodcut-catalog"}', 'x{service_name="product-catalog"}'),
        ('x{service_name=~"cart|recomendation"}', 'x{service_name=~"cart|recommendation"}'),
        ('x{pod=~"cart"}', 'x{pod=~"cart-[a-z0-9]+-[a-z0-9]+"}'),
        ('x{deployment="valkey-crat"}', 'x{deployment="valkey-cart"}'),
    ],
)
def test_filter_without_match_is_fixed(expr: str, meant: str, tmp_path: Path) -> None:
    path = scenario(query(expr), tmp_path)

    assert [f.code for f in lint_pack(path)] == ["SK119"]
    result = fix_file(path, CATALOG)
    assert result.left == ()
    assert yaml.safe_load(result.new)["spec"]["expect"]["checks"][0]["query"]["expr"] == meant


@pytest.mark.parametrize(
    ("check", "codes"),
    [
        ({"log": {"entity": "Deployment/cart", "pattern": ".*"}}, ["SK141", "SK118"]),
        ({"log": {"entity": "Deployment/cart", "pattern": "refused"}}, []),
        ({"endpoints": {"service": "Service/product-catalog", "atMost": 0}}, []),
        ({"object": {"ref": "kube-system/Deployment/coredns", "path": "spec.replicas", "equals": 0}}, []),
    ],
)
def test_checks_of_unknown_objects_are_reported(check: dict[str, Any], codes: list[str], tmp_path: Path) -> None:
    path = scenario(lambda s: s["expect"].update(checks=[{**check, "withinSeconds": 60}]), tmp_path)

    assert [f.code for f in lint_pack(path)] == codes


@pytest.mark.parametrize("service", ["Service/product-catalog", "Service/product-catalogue"])
def test_until_check_of_unknown_service_is_fixed(service: str, tmp_path: Path) -> None:
    until = {"check": {"endpoints": {"service": service, "atLeast": 1}}}
    path = scenario(lambda s: s["solutions"][0]["changes"][0].update(until=until), tmp_path)

    assert [f.code for f in lint_pack(path)] == (["SK119"] if service.endswith("ue") else [])
    assert fix_file(path, CATALOG).left == ()


@pytest.mark.parametrize(
    ("expr", "code"),
    [
        ('sum(x{container="crt"})', "SK119"),
        ('sum(x{pod=~"frontend.*"})', "SK118"),
        ('sum(x{container="{{ container(target).name }}"})', ""),
        ('sum(x{container="added"})', ""),
    ],
)
def test_queries_of_a_fault_type(expr: str, code: str, tmp_path: Path) -> None:
    fault = build_local_fault()
    fault["effect"] = [{"query": {"expr": expr, "is": "Equal", "value": 0}}]
    more = {"spec": {"template": {"spec": {"initContainers": [{"name": "added", "image": "busybox:1.37"}]}}}}
    fault["changes"].append({"patch": {"target": "{{ target }}", "type": "Strategic", "patch": more}})
    path = scenario(lambda s: None, tmp_path, fault)

    codes = {f.code for f in lint_pack(path.parent / "faults" / "own" / "fault.yaml")}

    assert codes & {"SK118", "SK119"} == ({code} if code else set())


def test_parts_of_expressions() -> None:
    assert [m[:3] for m in list_matchers("""a{b="c", d!~'e|f'} == 1""")] == [("b", "=", "c"), ("d", "!~", "e|f")]
    assert {(c.operator, c.number) for c in list_comparisons("0.5 < a and b >= -2")} == {(">", 0.5), (">=", -2.0)}
    assert list_numbers("histogram_quantile(0.95, a) > 15") == {0.95, 15.0}
    assert list_durations("max_over_time(rate(a[2m] offset 1h)[10m:30s])") == {120.0, 600.0, 30.0, 3600.0}
    assert split_alternatives(r"a|b(c|d)|[e|f]|g\|h") == ["a", "b(c|d)", "[e|f]", r"g\|h"]


def test_every_pack_of_the_catalogue_has_tests() -> None:
    for name in Catalog().alert_packs():
        assert (find_data_root() / "catalog" / "alerts" / "tests" / f"{name}.yaml").is_file()
