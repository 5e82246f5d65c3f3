"""Expected checks that no cluster can fail."""

from __future__ import annotations

from collections.abc import Iterator

from tools.defects.edits.expectations import expect_check
from tools.defects.kind import Defect, kind, needs
from tools.defects.subject import Subject

_CALLS_TOTAL = "traces_span_metrics_calls_total"
_CALLS = "sum(rate(traces_span_metrics_calls_total[1m]))"
_ERRORS = 'sum(rate(traces_span_metrics_calls_total{status_code="STATUS_CODE_ERROR"}[1m]))'


def _service(subject: Subject) -> str:
    name: str = needs([o for o in subject.objects if o.startswith("Service/")], "it has no Service")[0]
    return name


@kind("SK141")
def check_of_any_number(subject: Subject) -> Iterator[Defect]:
    """A check compares a rate with a negative number."""
    expr = "sum(rate(traces_span_metrics_calls_total[1m])) > bool -1"
    yield expect_check(subject, {"query": {"expr": expr, "is": "Equal", "value": 1}})


@kind("SK141")
def check_of_no_data(subject: Subject) -> Iterator[Defect]:
    """A check passes with and without data."""
    yield expect_check(
        subject, {"query": {"expr": "count(kube_pod_info)", "is": "AtLeast", "value": 1, "empty": "True"}}
    )


@kind("SK141")
def check_of_a_misspelled_field(subject: Subject) -> Iterator[Defect]:
    """A check expects the absence of a misspelled field."""
    yield expect_check(subject, {"object": {"ref": _service(subject), "path": "spec.selektor", "exists": False}})


@kind("SK141")
def check_of_a_misspelled_status(subject: Subject) -> Iterator[Defect]:
    """A check expects a low value of a misspelled status field."""
    workloads = [o for o in subject.objects if o.startswith("Deployment/")]
    ref = needs(workloads, "it has no Deployment")[0]
    yield expect_check(subject, {"object": {"ref": ref, "path": "status.redyReplicas", "atMost": 0}})


@kind("SK141")
def check_that_holds_anyway(subject: Subject) -> Iterator[Defect]:
    """A check passes in the healthy app."""
    yield expect_check(subject, {"object": {"ref": _service(subject), "path": "spec.ports", "exists": True}})


@kind("SK141")
def check_of_an_unknown_series(subject: Subject) -> Iterator[Defect]:
    """A check expects the absence of a series that no app exports."""
    yield expect_check(subject, {"query": {"expr": "absent(cart_orders_lost_total)", "is": "Equal", "value": 1}})


def _asking(subject: Subject, expr: str, is_: str, value: int, empty: str = "Unknown") -> Defect:
    return expect_check(subject, {"query": {"expr": expr, "is": is_, "value": value, "empty": empty}})


@kind("SK141")
def check_of_a_part_of_the_whole(subject: Subject) -> Iterator[Defect]:
    """A check expects that a share is at most one, or that a part does not exceed the whole."""
    yield _asking(subject, f"{_ERRORS} / {_CALLS}", "AtMost", 1)
    yield _asking(subject, f"{_CALLS} - {_ERRORS}", "AtLeast", 0)
    yield _asking(subject, "max(kube_pod_status_ready) >= min(kube_pod_status_ready)", "AtLeast", 0)


@kind("SK141")
def check_with_a_default_that_holds(subject: Subject) -> Iterator[Defect]:
    """A check has a default value that satisfies it beside every other value, or alone."""
    yield _asking(subject, f"{_CALLS} or on() vector(1)", "AtLeast", 0)
    yield _asking(subject, "rate(traces_span_metrics_calls_total[1m]) or vector(1)", "AtLeast", 1)
    yield _asking(subject, 'kube_pod_info or label_replace(vector(1), "a", "b", "", "")', "AtLeast", 1)


@kind("SK141")
def check_of_the_clock(subject: Subject) -> Iterator[Defect]:
    """A check compares a time of day, or the time since something happened, with what no clock shows."""
    yield _asking(subject, "time() + 0 * kube_pod_info", "GreaterThan", 0)
    yield _asking(subject, "hour(timestamp(kube_pod_info))", "LessThan", 24)
    yield _asking(subject, "time() - timestamp(kube_pod_info)", "AtLeast", 0)


@kind("SK141")
def check_of_any_count(subject: Subject) -> Iterator[Defect]:
    """A check expects a count of series of at least zero."""
    yield _asking(subject, "count(kube_pod_info)", "AtLeast", 0)
    yield _asking(subject, 'count_values("value", kube_pod_info) >= 0', "AtLeast", 0)


@kind("SK141")
def check_of_what_excludes_itself(subject: Subject) -> Iterator[Defect]:
    """A check is true without data, and its conditions exclude each other, so that there never are any."""
    yield _asking(subject, "kube_pod_info unless kube_pod_info", "Equal", 1, "True")
    yield _asking(subject, f"({_CALLS} > 3) and ({_CALLS} < 2)", "Equal", 0, "True")
    yield _asking(subject, 'absent(kube_pod_info{pod="a", pod="b"})', "Equal", 1)


@kind("SK141")
def check_of_all_cases(subject: Subject) -> Iterator[Defect]:
    """A check adds or joins conditions of which one is always met."""
    yield _asking(subject, f"({_CALLS} > bool 5) + ({_CALLS} <= bool 5)", "Equal", 1)
    yield _asking(subject, "count(kube_pod_info) or absent(kube_pod_info)", "AtLeast", 1)
    yield _asking(subject, f"sgn({_CALLS} - 1) ^ 2", "AtLeast", 0)
    yield _asking(subject, f"{_CALLS} + 1 > {_CALLS}", "AtLeast", 0)


@kind("SK141")
def check_of_a_state_with_two_values(subject: Subject) -> Iterator[Defect]:
    """A check expects a value of at most 1 from a series that is either 0 or 1."""
    yield _asking(subject, 'kube_pod_status_ready{condition="true"}', "AtMost", 1)
    yield _asking(subject, 'avg_over_time(kube_pod_status_phase{phase="Running"}[5m])', "AtMost", 1)


@kind("SK141")
def check_of_replicas_as_they_are(subject: Subject) -> Iterator[Defect]:
    """A check expects as many replicas as the healthy app has."""
    needs(not any(o.startswith("HorizontalPodAutoscaler/") for o in subject.objects), "replicas are scaled")
    workloads = [o.partition("/")[2] for o in subject.objects if o.startswith("Deployment/")]
    name = needs(workloads, "it has no Deployment")[0]
    count = int(subject.objects[f"Deployment/{name}"]["spec"].get("replicas", 1))
    series = f'kube_deployment_status_replicas_available{{deployment="{name}"}}'
    yield _asking(subject, series, "AtLeast", count)
    yield _asking(subject, f"sum({series}) or vector(0)", "Equal", count)


@kind("SK141")
def check_of_any_value(subject: Subject) -> Iterator[Defect]:
    """A check of an object is satisfied by every value that the field can have."""
    ref = needs([o for o in subject.objects if o.startswith("Deployment/")], "it has no Deployment")[0]
    conditions = {"path": 'status.conditions[?(@.type=="Available")].status', "matches": "True|False|Unknown"}
    for asked in (
        {"path": "status['availableReplicas']", "atLeast": 0},
        {"path": "status.availableReplicas", "notEquals": "none"},
        {"path": "metadata.uid", "exists": True},
        conditions,
    ):
        yield expect_check(subject, {"object": {"ref": ref, **asked}})


@kind("SK141")
def check_of_what_every_workload_has(subject: Subject) -> Iterator[Defect]:
    """A check expects a default of the API server, a condition or an event of every healthy workload."""
    ref = needs([o for o in subject.objects if o.startswith("Deployment/")], "it has no Deployment")[0]
    yield expect_check(subject, {"object": {"ref": ref, "path": "spec.progressDeadlineSeconds", "exists": True}})
    yield expect_check(subject, {"object": {"ref": ref, "path": "status.conditions[9]", "exists": False}})
    if subject.objects[ref]["spec"].get("replicas", 1):
        yield expect_check(subject, {"event": {"entity": ref, "reason": "Scheduled"}})


@kind("SK141")
def check_of_any_line(subject: Subject) -> Iterator[Defect]:
    """A check expects a pattern in a log that lines of any kind contain, or a status between two that exclude it."""
    ref = needs([o for o in subject.objects if o.startswith("Deployment/")], "it has no Deployment")[0]
    yield expect_check(subject, {"log": {"entity": ref, "pattern": "[a-zA-Z]"}})
    status = {"path": "/", "statusAtLeast": 500, "statusAtMost": 200, "succeeds": False}
    yield expect_check(subject, {"probe": {"target": ref, "port": 8080, **status}})


@kind("SK141")
def check_of_an_untouched_object(subject: Subject) -> Iterator[Defect]:
    """A check is to stay true, and reads a field of an object that nothing in the scenario changes."""
    kinds = {o.partition("/")[0] for o in subject.objects}
    needs(not kinds & {"HorizontalPodAutoscaler", "CronJob", "Job"}, "some of its objects write others")
    jobs = [c for f in subject.case.faults.values() for c in f.changes if c.operation.creates]
    needs(not jobs, "a fault creates what may write others")
    idle = [o for o in subject.objects if o.startswith("Service/") and o not in subject.concerned]
    ref = needs(idle, "each Service is concerned")[0]
    yield expect_check(subject, {"object": {"ref": ref, "path": "spec.selektor", "exists": False}, "stays": True})


@kind("SK141")
def check_of_a_share_of_counts(subject: Subject) -> Iterator[Defect]:
    """A check expects that a share of series is at most one."""
    rate = f"rate({_CALLS_TOTAL}[2m])"
    expr = f"sum({rate} > bool 0) / count({rate})"
    yield expect_check(subject, {"query": {"expr": expr, "is": "AtMost", "value": 1}})


@kind("SK141")
def check_of_the_age_of_samples(subject: Subject) -> Iterator[Defect]:
    """A check expects that the latest sample is not older than Prometheus looks back."""
    query = {"expr": f"time() - timestamp({_CALLS_TOTAL})", "is": "LessThan", "value": 900}
    yield expect_check(subject, {"query": query, "stays": True})


@kind("SK141")
def check_of_the_past(subject: Subject) -> Iterator[Defect]:
    """A check that must keep holding reads the time before the fault."""
    query = {"expr": f"sum(rate({_CALLS_TOTAL}[2m] offset 42m))", "is": "GreaterThan", "value": 0}
    yield expect_check(subject, {"query": query, "stays": True})


@kind("SK141")
def check_of_a_window_longer_than_the_trial(subject: Subject) -> Iterator[Defect]:
    """A check that must keep holding asks for the largest value of some hours."""
    query = {"expr": f"max_over_time(sum(rate({_CALLS_TOTAL}[2m]))[3h:1m])", "is": "GreaterThan", "value": 0}
    yield expect_check(subject, {"query": query, "stays": True})


@kind("SK141")
def check_of_an_event_of_before(subject: Subject) -> Iterator[Defect]:
    """A check that must keep holding asks for an event of the app's start, which stays."""
    ref = needs([o for o in subject.objects if o.startswith("Deployment/")], "it has no Deployment")[0]
    yield expect_check(subject, {"event": {"entity": ref, "reason": "Scheduled"}, "stays": True})
