"""Expected checks that no cluster can fail."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tools.defects.kind import Defect, kind, needs
from tools.defects.subject import Subject


def _expecting(subject: Subject, check: dict[str, Any]) -> Defect:
    document, spec = subject.copy()
    needs(subject.incident, "there is no incident")
    spec.setdefault("expect", {})["checks"] = [{"withinSeconds": 60, **check}]
    return Defect(f"it expects {check}", document)


def _service(subject: Subject) -> str:
    name: str = needs([o for o in subject.objects if o.startswith("Service/")], "it has no Service")[0]
    return name


@kind("SK141")
def check_of_any_number(subject: Subject) -> Iterator[Defect]:
    """A check compares a rate with a negative number."""
    expr = "sum(rate(traces_span_metrics_calls_total[1m])) > bool -1"
    yield _expecting(subject, {"query": {"expr": expr, "is": "Equal", "value": 1}})


@kind("SK141")
def check_of_no_data(subject: Subject) -> Iterator[Defect]:
    """A check passes with and without data."""
    yield _expecting(subject, {"query": {"expr": "count(kube_pod_info)", "is": "AtLeast", "value": 1, "empty": "True"}})


@kind("SK141")
def check_of_a_misspelled_field(subject: Subject) -> Iterator[Defect]:
    """A check expects the absence of a misspelled field."""
    yield _expecting(subject, {"object": {"ref": _service(subject), "path": "spec.selektor", "exists": False}})


@kind("SK141")
def check_of_a_misspelled_status(subject: Subject) -> Iterator[Defect]:
    """A check expects a low value of a misspelled status field."""
    workloads = [o for o in subject.objects if o.startswith("Deployment/")]
    ref = needs(workloads, "it has no Deployment")[0]
    yield _expecting(subject, {"object": {"ref": ref, "path": "status.redyReplicas", "atMost": 0}})


@kind("SK141")
def check_that_holds_anyway(subject: Subject) -> Iterator[Defect]:
    """A check passes in the healthy app."""
    yield _expecting(subject, {"object": {"ref": _service(subject), "path": "spec.ports", "exists": True}})


@kind("SK141", stage="Trial", first=("repeat",))
def check_of_an_unknown_series(subject: Subject) -> Iterator[Defect]:
    """A check expects the absence of a series that no app exports."""
    yield _expecting(subject, {"query": {"expr": "absent(cart_orders_lost_total)", "is": "Equal", "value": 1}})
