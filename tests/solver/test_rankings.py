"""Rankings of the baselines: pure functions over observations."""

import msgspec
import pytest

from scenario_kit.solver.baselines.catalogue import BASELINES
from scenario_kit.solver.baselines.observation import (
    Observation,
    SeenAlert,
    SeenCall,
    SeenObject,
    SeenSpan,
    date_object,
)
from scenario_kit.solver.baselines.rankings import (
    rank_by_change,
    rank_by_loudness,
    rank_by_onset,
    rank_by_random_walk,
    rank_by_spectrum,
)
from scenario_kit.solver.protocol.messages import build_answer

SERVICES = ("frontend", "checkout", "payment", "cart")
OBJECTS = tuple(SeenObject(kind="Deployment", name=name, written="2026-11-25T10:00:00Z") for name in SERVICES)


def alert(service, since, name="Errors", firing=True):
    return SeenAlert(name=name, firing=firing, since=since, labels={"service_name": service})


def test_loudness_ranks_by_alert_count_then_onset():
    seen = Observation(objects=OBJECTS, alerts=(
        alert("frontend", "10:05"), alert("checkout", "10:06"), alert("checkout", "10:07", "Slow"),
        alert("payment", "10:01", firing=False), alert("cart", "10:04"),
    ))  # fmt: skip
    assert rank_by_loudness(seen) == ["Deployment/checkout", "Deployment/cart", "Deployment/frontend"]


def test_onset_ranking_includes_pending_alerts():
    seen = Observation(objects=OBJECTS, alerts=(alert("frontend", "10:05"), alert("payment", "10:01", firing=False)))
    assert rank_by_onset(seen) == ["Deployment/payment", "Deployment/frontend"]


@pytest.mark.parametrize(
    ("labels", "workload"),
    [
        ({"deployment": "cart"}, "Deployment/cart"),
        ({"pod": "cart-6f7d9-abcde"}, "Deployment/cart"),
        ({"service_name": "unknown", "container": "payment"}, "Deployment/payment"),
        ({"pod": "cartel-1"}, ""),
        ({}, ""),
    ],
)
def test_alert_is_about(labels, workload):
    assert Observation(objects=OBJECTS).find_workload(labels) == workload


def test_newest_change_is_blamed_and_equals_are_in_order():
    newer = SeenObject(kind="Service", name="cart", written="2026-11-25T11:00:00Z")
    assert rank_by_change(Observation(objects=(*OBJECTS, newer)))[:2] == ["Service/cart", "Deployment/cart"]


@pytest.mark.parametrize(
    ("every", "status", "written"),
    [
        ("2026-11-25T10:00:00Z,2026-11-25T10:09:00Z", "", "2026-11-25T10:09:00Z"),
        ("2026-11-25T10:01:00Z,2026-11-25T10:09:00Z", "2026-11-25T10:09:00Z", "2026-11-25T10:01:00Z"),
        ("2026-11-25T10:09:00Z,2026-11-25T10:09:00Z", "2026-11-25T10:09:00Z", "2026-11-25T10:09:00Z"),
        ("", "", "2026-11-25T10:00:00Z"),
    ],
    ids=["any write", "a status is no change", "of two writes one is a status", "never written"],
)
def test_written_time_is_the_last_spec_write(every, status, written):
    created = "2026-11-25T10:00:00Z"
    seen = date_object("Service", ["cart", created, every, status])
    assert seen == SeenObject(kind="Service", name="cart", written=written, created=created)


def span(trace, service, failed=False):
    return SeenSpan(trace=trace, service=service, failed=failed, milliseconds=1.0)


def test_spectrum_by_hand():
    """Payment is in 2 failing traces and no other: 2/sqrt(2·2) = 1; frontend in 2 passing, too: 2/sqrt(2·4) = .71."""
    spans = [span(t, s, failed=True) for t in ("f1", "f2") for s in ("frontend", "payment")]
    spans += [span(t, s) for t in ("p1", "p2") for s in ("frontend", "cart")]
    assert rank_by_spectrum(Observation(objects=OBJECTS, spans=tuple(spans))) == [
        "Deployment/payment",
        "Deployment/frontend",
    ]


ROOT = SeenSpan(trace="f", service="frontend", failed=True, milliseconds=1.0, span="1")
CALL = SeenSpan(trace="f", service="checkout", failed=True, milliseconds=1.0, span="2", parent="1", peer="payment")


@pytest.mark.parametrize(
    ("spans", "first"),
    [
        ((ROOT, CALL), "payment"),  # the callee reports nothing
        ((ROOT, msgspec.structs.replace(CALL, peer="payment.shop.svc.cluster.local")), "payment"),
        ((ROOT, CALL, msgspec.structs.replace(CALL, span="3", parent="2", service="payment", peer="cart")), "cart"),
        ((ROOT, CALL, msgspec.structs.replace(CALL, span="3", parent="2", service="payment", peer="")), "payment"),
        ((ROOT, msgspec.structs.replace(CALL, peer="")), "checkout"),
        ((ROOT, msgspec.structs.replace(CALL, failed=False)), "frontend"),
    ],
)
def test_spectrum_covers_the_origin_of_a_failure(spans, first):
    assert rank_by_spectrum(Observation(objects=OBJECTS, spans=spans)) == [f"Deployment/{first}"]


def test_callee_without_spans_is_cleared_by_passing_traces():
    """Payment is called in 1 failing and 3 passing traces: 1/sqrt(1·4) = .5."""
    calls = [msgspec.structs.replace(CALL, trace=trace, failed=False) for trace in ("p1", "p2", "p3")]
    cart = msgspec.structs.replace(CALL, span="4", peer="cart")
    assert rank_by_spectrum(Observation(objects=OBJECTS, spans=(ROOT, CALL, cart, *calls))) == [
        "Deployment/cart",
        "Deployment/payment",
    ]


def test_random_walk_ranks_the_last_failing_callee_first():
    calls = tuple(
        SeenCall(caller=a, callee=b, count=1)
        for a, b in (("frontend", "checkout"), ("frontend", "cart"), ("checkout", "payment"), ("checkout", "cart"))
    )
    spans = (span("1", "frontend", True), span("1", "checkout", True), span("1", "payment", True), span("2", "cart"))
    seen = Observation(objects=OBJECTS, alerts=(alert("frontend", "10:05"),), calls=calls, spans=spans)
    assert rank_by_random_walk(seen)[0] == "Deployment/payment"


@pytest.mark.parametrize("name", BASELINES)
def test_empty_observation_gives_empty_answer(name):
    assert list(BASELINES[name].rank(Observation())) == []
    assert build_answer([])["entities"] == []
