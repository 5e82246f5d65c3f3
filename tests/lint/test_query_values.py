"""Query checks whose answer no series decides, and honest ones beside them."""

from __future__ import annotations

from pathlib import Path

import pytest

from scenario_kit.lint.rules.alerts.query_values.verdict import explain_constant_query
from scenario_kit.model.authored.check import QueryCheck
from tests.lint.test_claims import build_scaling_fault, list_messages
from tests.lint.test_constant_checks import query
from tests.lint.test_truth_rules import scenario

CALLS = 'sum(rate(traces_span_metrics_calls_total{service_name="cart"}[1m]))'
ERRORS = 'sum(rate(traces_span_metrics_calls_total{service_name="cart", status_code="STATUS_CODE_ERROR"}[1m]))'
BUCKETS = "sum by (le) (rate(traces_span_metrics_duration_milliseconds_bucket[1m]))"
READY = 'kube_pod_status_ready{condition="true"}'
LIES = [
    ("count(up) >= 0", "AtLeast", 0),
    ("count(up)", "AtLeast", 0),
    (f"{CALLS} or on() vector(1)", "AtLeast", 0),
    (f"({CALLS} > 5) or on() vector(6)", "AtLeast", 5),
    ('absent(kube_pod_info{pod="a",pod="b"})', "Equal", 1),
    (f"{CALLS} >= bool 0", "Equal", 1),
    ("x unless x", "Equal", 1, "True"),
    (f"clamp_min({CALLS}, 1) > 0", "GreaterThan", 0),
    ("time() + 0 * kube_pod_info > 0", "GreaterThan", 0),
    (f"scalar({CALLS})", "AtLeast", 0),
    (f"vector(scalar({CALLS})) >= 0", "AtLeast", 0),
    ("sgn(x)^2 >= 0", "AtLeast", 0),
    ("sgn(x)^2", "AtMost", 1),
    ("abs(x) >= 0", "AtLeast", 0),
    ("x == x", "AtLeast", -1000000000),
    ("x == bool x", "Equal", 1),
    ("changes(kube_pod_info[5m]) >= 0", "AtLeast", 0),
    ("timestamp(kube_pod_info)", "GreaterThan", 1000),
    ("hour(timestamp(kube_pod_info)) < 24", "LessThan", 24),
    ("hour(timestamp(x))", "LessThan", 24),
    ('kube_pod_info or label_replace(vector(1),"a","b","","")', "AtLeast", 1),
    ("rate(traces_span_metrics_calls_total[1m]) or vector(1)", "AtLeast", 1),
    ('count_values("v", kube_pod_info)', "AtLeast", 0),
    ('count_values("v", kube_pod_info) >= 1', "AtLeast", 1, "True"),
    (f"{CALLS} * 0 == 0", "Equal", 0),
    (f"{CALLS}", "AtLeast", 0),
    (f"histogram_quantile(0.99, {BUCKETS})", "AtLeast", 0),
    (f"histogram_quantile(0.99, {BUCKETS}) >= 0", "AtLeast", 0),
    ("x + 1 > x", "GreaterThan", -1000000),
    ("x - x", "Equal", 0),
    ("(x+1)-x", "Equal", 1),
    ("(x > bool 5) + (x <= bool 5)", "Equal", 1),
    ("count(x) or absent(x)", "AtLeast", 1),
    ("count(x) or vector(1)", "AtLeast", 1),
    (f"{ERRORS} / {CALLS} <= 1", "AtMost", 1),
    (f"{ERRORS}/{CALLS}", "AtMost", 1),
    (f"{ERRORS}/{CALLS} <= bool 1", "Equal", 1),
    (f"{CALLS} >= {ERRORS}", "AtLeast", 0),
    (f"{CALLS} - {ERRORS}", "AtLeast", 0),
    (f"{READY}", "AtMost", 1),
    ('kube_pod_status_phase{phase="Running"}', "AtMost", 1),
    ("max(kube_pod_status_ready)", "LessThan", 2),
    ("x*x", "AtLeast", 0),
    ("x^2", "AtLeast", 0),
    ("(x-3)^2 >= 0", "AtLeast", 0),
    ("abs(x) + 1", "GreaterThan", 0),
    ("exp(x)", "AtLeast", 0),
    ("stddev(x)", "AtLeast", 0),
    ("x > 5 < 3", "Equal", 1, "True"),
    ("topk(0, x)", "Equal", 1, "True"),
    ("absent(x unless x)", "Equal", 1),
    ("count(x unless x) or vector(0)", "Equal", 0),
    ("x and x unless x", "Equal", 1, "True"),
    ("sin(x)", "AtMost", 1),
    ("sum(kube_pod_info)", "AtLeast", 0),
    ("min_over_time(kube_pod_status_ready[5m])", "AtLeast", 0),
    ("max_over_time((count(x) or vector(0))[5m:15s])", "AtLeast", 0),
    ("day_of_week(timestamp(x))", "AtMost", 6),
    ("month(timestamp(x))", "AtLeast", 1),
    ("year(timestamp(x))", "GreaterThan", 2000),
    ("days_in_month(timestamp(x))", "AtLeast", 28),
    ("minute(timestamp(x))", "LessThan", 60),
    ("-abs(x)", "AtMost", 0),
    ("-(x^2)", "AtMost", 0),
    ("clamp(x, 0, 1)", "AtMost", 1),
    ("clamp(x,2,3)", "AtLeast", 2),
    ("clamp_max(x, -1)", "LessThan", 0),
    ("x % 5", "LessThan", 6),
    ("abs(x) % 5", "AtLeast", 0),
    ("count(x) > bool -1", "Equal", 1),
    ("count(x) >= bool 0", "GreaterThan", 0),
    ("count(x) >= bool 1", "Equal", 1, "True"),
    ("group(x)", "Equal", 1, "True"),
    ("sum(x) == bool sum(x)", "Equal", 1),
    ("sum(x)/sum(x)", "Equal", 1),
    ("vector(1) or on() x", "Equal", 1),
    ("vector(1) and on() x", "Equal", 1, "True"),
    ("vector(0) unless on() x", "Equal", 0, "True"),
    ("resets(kube_pod_info[5m])", "AtLeast", 0),
    ("x >= -Inf", "GreaterThan", -1000000000),
    ("x > bool -Inf", "Equal", 1),
    ("stdvar_over_time(x[5m])", "AtLeast", 0),
    ("present_over_time(x[5m])", "Equal", 1, "True"),
    ("sqrt(abs(x))", "AtLeast", 0),
    ("ceil(abs(x))", "AtLeast", 0),
    ("ceil(kube_pod_status_ready)", "AtMost", 1),
    ("max(x) >= min(x)", "AtLeast", -1000000000),
    ("max(x) - min(x)", "AtLeast", 0),
    ("sum(x) unless sum(x)", "Equal", 1, "True"),
    ("avg(kube_pod_status_ready)", "AtMost", 1),
    ('count(kube_pod_info{pod=~"a.*"}) <= count(kube_pod_info)', "AtLeast", 1, "True"),
    ('count(kube_pod_info{pod=~"a.*"}) / count(kube_pod_info)', "AtMost", 1),
    ("sum(x * 0)", "Equal", 0),
    ("sum(x - x)", "Equal", 0),
    ("kube_pod_info == 1", "Equal", 1, "True"),
    ("pi() + 0*x", "GreaterThan", 3),
    ("histogram_fraction(0, 100, x)", "AtMost", 1),
    ("quantile(0.5, kube_pod_status_ready)", "AtMost", 1),
    ("max(kube_pod_created)", "GreaterThan", 0),
    ("time() - timestamp(kube_pod_info)", "GreaterThan", -10000000000),
    ("time() - kube_pod_created", "AtLeast", 0),
    ("time() - timestamp(kube_pod_info)", "AtLeast", 0),
    ("kube_deployment_status_replicas_available <= kube_deployment_status_replicas_available", "AtLeast", 0),
    ("sum(rate(x_total[1m])) <= sum(rate(x_total[1m])) + 1", "AtLeast", 0),
    ('label_replace(kube_pod_info, "a", "$1", "pod", "(.*)")', "AtLeast", 0),
    ("floor(rate(x_total[1m]))", "AtLeast", 0),
    ("round(rate(x_total[1m]))", "AtLeast", 0),
    ("0 <= rate(x_total[1m])", "AtLeast", 0),
    ("kube_pod_info > bool 0", "Equal", 1, "True"),
    ("atan(x)", "LessThan", 2),
    ("x atan2 y", "LessThan", 4),
    ("tanh(x)", "AtMost", 1),
    ("limitk(0, x)", "Equal", 1, "True"),
    ("(x > 3) and (x < 2)", "Equal", 0, "True"),
    ("(x == 3) and (x == 4)", "Equal", 0, "True"),
    ("absent((x > 3) and (x < 2))", "Equal", 1),
    ("last_over_time(kube_pod_status_ready[5m])", "AtMost", 1),
    ("deriv(x[5m]) * 0", "Equal", 0),
    ("absent_over_time(x[5m]) >= 0", "AtLeast", 0),
    ("absent(vector(1))", "Equal", 1, "True"),
    ("sum(absent(x)) or sum(x > bool -Inf)", "AtLeast", 1),
    ("max(x > bool 0) or max(x <= bool 0)", "AtMost", 1),
    ("avg_over_time((x > bool 5)[5m:])", "AtMost", 1),
    ("sgn(rate(x_total[1m]))", "AtLeast", 0),
]
HONEST = [
    (f"{CALLS}", "AtLeast", 1),
    (f"{CALLS}", "LessThan", 1),
    (f"{CALLS} or vector(0)", "Equal", 0),
    (f"{ERRORS} or vector(0)", "AtMost", 0),
    (f"{ERRORS} / {CALLS}", "GreaterThan", 0),
    (f"{ERRORS}/{CALLS}", "AtLeast", 1),
    (f"({ERRORS} or vector(0)) / {CALLS}", "LessThan", 1),
    (f"{CALLS} - {ERRORS}", "Equal", 0),
    (f"{CALLS} - {ERRORS}", "GreaterThan", 0),
    ('kube_deployment_status_replicas_available{deployment="cart"}', "AtMost", 0),
    ('kube_deployment_status_replicas_available{deployment="cart"}', "Equal", 0),
    ('kube_deployment_status_replicas_available{deployment="cart"}', "AtLeast", 1),
    (f"sum({READY})", "AtLeast", 1),
    (f"sum({READY})", "LessThan", 3),
    ('count(kube_pod_info{pod=~"cart-.+"})', "AtLeast", 2),
    ('count(kube_pod_info{pod=~"cart-.+"}) or vector(0)', "Equal", 0),
    ('absent(kube_pod_info{pod=~"cart-.+"})', "Equal", 1),
    ("absent(x)", "Equal", 1, "False"),
    ('increase(kube_pod_container_status_restarts_total{container="cart"}[10m])', "GreaterThan", 0),
    ('increase(kube_pod_container_status_restarts_total{container="cart"}[10m])', "AtLeast", 1),
    ('sum(increase(kube_pod_container_status_restarts_total{container="cart"}[10m])) > 2', "GreaterThan", 2),
    (f"histogram_quantile(0.99, {BUCKETS})", "GreaterThan", 500),
    (f"histogram_quantile(0.95, {BUCKETS})", "LessThan", 100),
    (f"histogram_quantile(0.99, {BUCKETS}) > 500", "GreaterThan", 0),
    ('kube_pod_status_phase{phase="Pending"}', "Equal", 1),
    ('kube_pod_status_phase{phase="Pending"}', "GreaterThan", 0),
    ('max(kube_pod_container_status_waiting_reason{reason="CrashLoopBackOff"})', "Equal", 1),
    ('max(kube_pod_container_status_waiting_reason{reason="CrashLoopBackOff"})', "AtLeast", 1),
    ('kube_pod_container_status_waiting_reason{reason="ImagePullBackOff"}', "GreaterThan", 0),
    ("kube_deployment_spec_replicas - kube_deployment_status_replicas_available", "GreaterThan", 0),
    ("kube_deployment_status_replicas_available < kube_deployment_spec_replicas", "AtLeast", 0),
    (
        "sum(kube_deployment_status_replicas_available) < bool sum(kube_deployment_spec_replicas)",
        "Equal",
        1,
    ),
    ("time() - kube_pod_created > 300", "GreaterThan", 300),
    ("time() - timestamp(kube_pod_info)", "GreaterThan", 60),
    ("max(kubelet_volume_stats_used_bytes/kubelet_volume_stats_capacity_bytes)", "GreaterThan", 0),
    ("max(kubelet_volume_stats_used_bytes/kubelet_volume_stats_capacity_bytes)", "AtLeast", 1),
    ("deriv(container_memory_working_set_bytes[5m])", "GreaterThan", 0),
    ("delta(kube_deployment_status_replicas[5m])", "LessThan", 0),
    ("predict_linear(kubelet_volume_stats_available_bytes[10m], 3600)", "LessThan", 0),
    ("changes(kube_pod_status_ready[5m])", "GreaterThan", 2),
    ("resets(process_uptime_seconds[10m])", "AtLeast", 1),
    (f"min_over_time({READY}[5m])", "Equal", 0),
    ('max_over_time(kube_pod_status_ready{condition="false"}[5m])', "Equal", 1),
    ("sum(rate(x_total[1m])) / sum(rate(x_total[1m] offset 5m))", "LessThan", 1),
    ("rate(x_total[1m]) > 2 * rate(x_total[1m] offset 10m)", "GreaterThan", 0),
    ("rate(x_total[1m]) / rate(x_total[1m] offset 10m)", "GreaterThan", 2),
    (f"avg({READY})", "LessThan", 1),
    (f"avg({READY})", "Equal", 1),
    ("topk(1, rate(x_total[1m]))", "GreaterThan", 5),
    ("count(rate(x_total[1m]) > 0)", "AtLeast", 3),
    ("count(rate(x_total[1m]) > 0) or vector(0)", "LessThan", 2),
    ("sum(x > bool 5)", "AtLeast", 2),
    ("count by (node) (kube_pod_info)", "GreaterThan", 10),
    ("max by (pod) (rate(container_cpu_usage_seconds_total[1m]))", "AtLeast", 1),
    (
        "sum by (service_name) (rate(x_total[1m])) > 5 and sum by (service_name) (rate(y_total[1m])) < 1",
        "GreaterThan",
        5,
    ),
    ("rate(x_total[1m]) > 0 unless on(pod) kube_pod_info", "GreaterThan", 0),
    (f"kube_pod_info unless on(pod) {READY}", "Equal", 1),
    (f"count(kube_pod_info unless on(pod) {READY} == 1)", "AtLeast", 1),
    ("abs(x - y)", "GreaterThan", 5),
    ("abs(delta(x[5m]))", "LessThan", 1),
    ("x > 5 and x < 10", "GreaterThan", 5),
    ("x > 5 or y > 5", "GreaterThan", 5),
    ("stddev(rate(x_total[1m]))", "GreaterThan", 1),
    ("quantile(0.9, rate(x_total[1m]))", "LessThan", 1),
    ("clamp_max(x, 1)", "Equal", 1),
    ("clamp_min(x, 1)", "GreaterThan", 1),
    ("sgn(x)", "Equal", 1),
    ("sgn(delta(x[5m]))", "LessThan", 0),
    ("round(x)", "Equal", 3),
    ("hour(timestamp(kube_pod_info)) ", "GreaterThan", 6),
    ("day_of_week(vector(time())) + 0 * x", "LessThan", 6),
    ("count(count by (node) (kube_pod_info))", "Equal", 1),
    ("count(count by (node) (kube_pod_info))", "LessThan", 2),
    ('kube_node_status_condition{condition="Ready",status="true"}', "Equal", 0),
    ('sum(kube_node_status_condition{condition="Ready",status="true"})', "LessThan", 4),
    ("kube_node_spec_unschedulable", "Equal", 1),
    ('count(kube_node_spec_taint{key="a"})', "AtLeast", 1),
    ('count(kube_node_spec_taint{key="a"})', "GreaterThan", 0),
    ("scalar(sum(x)) * 2", "GreaterThan", 3),
    ("sum(x) / scalar(sum(y))", "GreaterThan", 1),
    ("max(x) - min(x)", "GreaterThan", 0),
    ("max(x) / min(x)", "GreaterThan", 2),
    ("max_over_time(x[5m]) - min_over_time(x[5m])", "GreaterThan", 3),
    ("x - min_over_time(x[5m])", "GreaterThan", 1),
    ("x / max_over_time(x[10m])", "LessThan", 1),
    ("(x > bool 5) * (y > bool 3)", "Equal", 1),
    ("(x > 5) * 0 + 1", "Equal", 1),
    ("(sum(x) > 5) or (sum(x) < 1)", "GreaterThan", 5),
    ("sum(x) > 10 or sum(x) < -10", "AtLeast", 10),
    ('label_replace(x, "a", "b", "c", ".*") > 1', "GreaterThan", 1),
    ('kube_resourcequota{type="used"} / ignoring(type) kube_resourcequota{type="hard"}', "AtLeast", 1),
    ('kube_resourcequota{type="used"} >= ignoring(type) kube_resourcequota{type="hard"}', "AtLeast", 0),
    ("count(x >= 1) == bool 3", "Equal", 1),
    ("sum(x) or sum(y)", "GreaterThan", 3),
    ("x != 0", "AtLeast", 1),
    ("x != bool 0", "Equal", 1),
    ("kube_deployment_metadata_generation != kube_deployment_status_observed_generation", "AtLeast", 1),
    ("count(x) < 3", "AtLeast", 1),
    ("count(x) < bool 3", "Equal", 1),
    ("(count(x) or vector(0)) < 3", "AtLeast", 0),
    ("min(x)", "AtLeast", 1),
    ("sum(redis_db_keys) or vector(0)", "LessThan", 10),
    ("-x", "LessThan", -5),
    ("1 - E", "GreaterThan", 0),
    (f"1 - {ERRORS}/{CALLS}", "LessThan", 1),
    (f"1 - ({ERRORS} or vector(0)) / {CALLS}", "GreaterThan", 0),
    (f"100 * {ERRORS} / {CALLS}", "GreaterThan", 5),
    ("time() % 2 + 0*x", "Equal", 1),
    ("ln(x)", "GreaterThan", 2),
    ("sqrt(x)", "GreaterThan", 4),
    ("x ^ 2", "GreaterThan", 4),
    ("irate(x_total[1m])", "LessThan", 1),
    ("sum(irate(x_total[1m])) or vector(0)", "LessThan", 1),
    ("count_over_time(x[5m])", "LessThan", 10),
    ("count_over_time(x[5m])", "AtLeast", 10),
    ("present_over_time(x[5m])", "Equal", 1),
    ("absent_over_time(x[5m])", "Equal", 1),
    ('count_values("v", x)', "GreaterThan", 2),
    ("group(x)", "Equal", 1),
    ("histogram_quantile(0.5, B) < 10", "LessThan", 10),
    ("sum(rate(x_total[1m])) < bool 0.5 * sum(rate(x_total[1m] offset 5m))", "Equal", 1),
    ('sum(rate(x_total{a="1"}[1m])) > bool 0.5 * sum(rate(x_total[1m]))', "Equal", 1),
    ('sum(rate(x_total{a="1"}[1m])) >= bool sum(rate(x_total[1m]))', "Equal", 1),
    ('sum(rate(x_total{a="1"}[1m])) == bool sum(rate(x_total[1m]))', "Equal", 1),
    (f"count(kube_pod_info) == count({READY} == 1)", "AtLeast", 1),
    ("sum(increase(kube_pod_container_status_restarts_total[10m])) > 3", "GreaterThan", 3),
    ("up == 0", "Equal", 0),
    ("count(up == 0)", "AtLeast", 1),
    (f"{READY} == 0", "Equal", 0),
    (f"{READY} == bool 0", "Equal", 1),
    (f"sum({READY} == bool 0)", "AtLeast", 1),
    (f"count({READY} == 0)", "GreaterThan", 0),
    ("timestamp(x) - time() < -60", "LessThan", -60),
    ("kube_job_status_failed", "GreaterThan", 0),
    ("(kube_pod_created > time() - 120)", "GreaterThan", 10),
    ("count(kube_pod_created > time() - 120)", "AtLeast", 1),
    ("count(time() - kube_pod_created < 120)", "AtLeast", 1),
]


def ask(expr: str, how: str, value: int, empty: str = "Unknown") -> str:
    return explain_constant_query(QueryCheck(expr=expr, is_=how, value=value, empty=empty))


@pytest.mark.parametrize("check", LIES, ids=lambda check: check[0])
def test_answer_that_no_series_decides_is_explained(check: tuple[str, str, int]) -> None:
    assert ask(*check)


@pytest.mark.parametrize("check", HONEST, ids=lambda check: check[0])
def test_honest_check_is_not_reported(check: tuple[str, str, int]) -> None:
    assert not ask(*check)


@pytest.mark.parametrize(
    ("check", "reported"),
    [
        pytest.param(query("absent(cart_orders_lost_total)", "Equal"), 1, id="absent, and nothing exports it"),
        pytest.param(
            query("sum(cart_orders_lost_total) or vector(0)", "Equal", 0), 1, id="none of what nothing exports"
        ),
        pytest.param(query('absent(kube_pod_info{team="a"})', "Equal"), 1, id="a label that the series has not"),
        pytest.param(query("cart_orders_lost_total"), 0, id="fails by itself"),
        pytest.param(query('kube_deployment_status_replicas_available{deployment="cart"}'), 1, id="as many as ever"),
        pytest.param(query('kube_deployment_status_replicas_available{deployment="cart"}', "AtMost", 0), 0, id="fewer"),
        pytest.param(
            query("sum(kube_deployment_status_replicas_unavailable) or vector(0)", "Equal", 0), 1, id="no gap"
        ),
        pytest.param(query("sum(kube_deployment_status_replicas_unavailable)"), 0, id="a gap"),
        pytest.param(
            query('kube_deployment_spec_replicas{deployment="cart"}', "AtLeast", 2), 0, id="more than there are"
        ),
    ],
)
def test_series_of_the_healthy_app_decide(check: dict[str, object], reported: int, tmp_path: Path) -> None:
    path = scenario(lambda spec: spec["expect"].update(checks=[check]), tmp_path)
    assert len(list_messages(path, "SK141")) == reported


@pytest.mark.parametrize(("needs", "reported"), [([], 1), (["real-data-plane"], 0)])
def test_fault_for_a_real_cluster_may_ask_for_other_series(needs: list[str], reported: int, tmp_path: Path) -> None:
    fault = {**build_scaling_fault(effect=[query("absent(node_load1)", "Equal")]), "requires": needs}
    path = scenario(lambda spec: None, tmp_path, fault)
    assert len(list_messages(path.parent / "faults" / "own" / "fault.yaml", "SK141")) == reported


RATE = 'rate(traces_span_metrics_calls_total{service_name="cart"}[2m])'
RELATED = [
    (f"sum({RATE} > bool 0) / count({RATE})", "AtMost", 1),
    (f"1 - sum({RATE} > bool 0) / count({RATE})", "AtLeast", 0),
    (f"sum({RATE} > bool 0) - count({RATE})", "AtMost", 0),
    (f"sum by (pod) ({READY}) / count by (pod) ({READY})", "AtMost", 1),
    (f"sum({RATE}) >= max({RATE})", "AtLeast", 0),
    (f"max({RATE}) / sum({RATE})", "AtMost", 1),
    (f"{RATE} / on () group_left () sum({RATE})", "AtMost", 1),
    ("time() - timestamp(x)", "LessThan", 600),
    ("time() - max(timestamp(x))", "AtMost", 300),
    ("timestamp(x) > time() - 600", "GreaterThan", 0),
    ("time() > timestamp(x) - 60", "GreaterThan", 0),
    ("time() - kube_pod_created", "GreaterThan", -1),
    ("histogram_quantile(0.95, x) >= histogram_quantile(0.5, x)", "AtLeast", -1000),
    ("x % 5", "LessThan", 5),
    ("time() % 60", "LessThan", 60),
    ("increase(x[5m]) - rate(x[5m]) * 300", "Equal", 0),
    ("sum(increase(x[5m])) / 300 - sum(rate(x[5m]))", "AtMost", 0),
    ("ceil(x) >= x", "AtLeast", -1000000000),
    ("changes(kube_pod_info[1h])", "AtMost", 0),
    (
        'kube_deployment_status_replicas{deployment="a"} - kube_deployment_status_replicas_available{deployment="a"}',
        "AtLeast",
        0,
    ),
]


@pytest.mark.parametrize(("expr", "operator", "value"), RELATED, ids=[each[0] for each in RELATED])
def test_related_values_decide_the_answer(expr: str, operator: str, value: int) -> None:
    assert ask(expr, operator, value)


UNRELATED = [
    (f"sum({RATE} > bool 0) / count({RATE})", "LessThan", 1),
    (f"sum({RATE} > bool 0) / count(rate(x[2m]))", "AtMost", 1),
    (f"sum({RATE}) - count({RATE})", "AtMost", 0),
    (f"{RATE} / on (pod) group_left () sum({RATE})", "AtMost", 1),
    ("time() - timestamp(x)", "GreaterThan", 60),
    ("time() - timestamp(x offset 1h)", "LessThan", 600),
    ("time() - kube_pod_created", "GreaterThan", 300),
    ("probe_ssl_expiration_timestamp_seconds - time()", "GreaterThan", 0),
    ("histogram_quantile(0.95, x) > 2 * histogram_quantile(0.5, x)", "GreaterThan", 0),
    ("increase(x[5m]) - rate(x[2m]) * 300", "Equal", 0),
    ("changes(kube_pod_container_status_restarts_total[1h])", "AtMost", 0),
    (
        'kube_deployment_status_replicas{deployment="a"} - kube_deployment_status_replicas_available{deployment="a"}',
        "GreaterThan",
        0,
    ),
    (
        'kube_deployment_status_replicas{deployment="a"} - kube_deployment_status_replicas_available{deployment="b"}',
        "AtLeast",
        0,
    ),
]


@pytest.mark.parametrize(("expr", "operator", "value"), UNRELATED, ids=[f"{e} {o}" for e, o, _ in UNRELATED])
def test_other_values_may_differ(expr: str, operator: str, value: int) -> None:
    assert not ask(expr, operator, value)
