"""How a component is, from its pods, its spans and its alerts."""

import pytest

from scenario_kit.lab.page import health
from scenario_kit.lab.page.health import Pods, ServedTraffic
from scenario_kit.model import AlertTimeline, Interval, Reference
from scenario_kit.ports import Series

FINE = Pods(2, 2, 0, "")


@pytest.mark.parametrize(
    ("pods", "served", "expected"),
    [
        (Pods(None, 0, 0, ""), None, ("plain", "not there")),
        (Pods(0, 0, 0, ""), None, ("bad", "scaled to 0")),
        (Pods(1, 0, 3, "CrashLoopBackOff"), ServedTraffic(9.0, 1.0, 9.0), ("bad", "0/1 CrashLoopBackOff")),
        (Pods(1, 0, 0, ""), None, ("bad", "0/1 ready")),
        (Pods(2, 1, 0, "ImagePullBackOff"), None, ("open", "1/2 ImagePullBackOff")),
        (Pods(2, 1, 0, ""), ServedTraffic(5.0, 0.5, 10.0), ("bad", "50% fail")),
        (FINE, None, ("good", "works")),
        (FINE, ServedTraffic(0.0, 0.0, None), ("open", "no requests")),
        (FINE, ServedTraffic(5.0, 0.051, 10.0), ("bad", "5% fail")),
        (FINE, ServedTraffic(5.0, 0.05, 10.0), ("open", "5.0% fail")),
        (FINE, ServedTraffic(5.0, 0.005, 10.0), ("good", "works")),
        (FINE, ServedTraffic(5.0, 0.0, 1501.0), ("open", "slow, p95 1.5 s")),
        # A single failed request of an idle service is no share.
        (FINE, ServedTraffic(0.05, 1.0, 9000.0), ("good", "works")),
    ],
)
def test_stopping_causes_rank_before_slowing_ones(pods, served, expected) -> None:
    assert health.judge(pods, served) == expected


@pytest.mark.parametrize(
    ("served", "expected"),
    [
        (None, ""),
        (ServedTraffic(0.0, 0.0, None), "no requests"),
        (ServedTraffic(0.42, 0.0, 3.4), "0.4/s, p95 3 ms"),
        (ServedTraffic(31.4, 0.0, 2310.0), "31/s, p95 2.3 s"),
        (ServedTraffic(31.4, 0.0, None), "31/s"),
    ],
)
def test_traffic_in_a_few_characters(served, expected) -> None:
    assert health.format_traffic(served) == expected


def one(value: float, **labels: str) -> Series:
    return Series(labels, [(0.0, value)])


def test_spans_add_up_by_component() -> None:
    calls = [
        one(3.0, service_name="cart", status_code="STATUS_CODE_UNSET"),
        one(1.0, service_name="cart", status_code="STATUS_CODE_ERROR"),
        one(0.0, service_name="ad", status_code="STATUS_CODE_UNSET"),
    ]
    latency = [one(12.0, service_name="cart"), one(float("nan"), service_name="ad")]
    assert health.summarise_served(calls, latency) == {
        "cart": ServedTraffic(4.0, 0.25, 12.0),
        "ad": ServedTraffic(0.0, 0.0, None),
    }


def build_pod(name: str, *, ready: bool = True, going: bool = False, status: dict | None = None) -> dict:
    metadata = {"name": name, **({"deletionTimestamp": "now"} if going else {})}
    conditions = [{"type": "Ready", "status": str(ready)}]
    return {"metadata": metadata, "status": {"conditions": conditions, "phase": "Running", **(status or {})}}


def build_waiting_status(reason: str, restarts: int = 0) -> dict:
    return {"containerStatuses": [{"restartCount": restarts, "state": {"waiting": {"reason": reason}}}]}


@pytest.mark.parametrize(
    ("pod", "expected"),
    [
        (build_pod("x", ready=False), ""),
        (build_pod("x", ready=False, going=True), "Terminating"),
        (build_pod("x", ready=False, status=build_waiting_status("ErrImagePull")), "ErrImagePull"),
        (build_pod("x", ready=False, status={"phase": "Pending"}), "Pending"),
        (build_pod("x", ready=False, status={"phase": "Failed", "reason": "Evicted"}), "Evicted"),
        (
            {
                "metadata": {"name": "x"},
                "status": {
                    "phase": "Pending",
                    "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}],
                },
            },
            "Unschedulable",
        ),
        (
            build_pod(
                "x",
                ready=False,
                status={
                    "initContainerStatuses": [{"state": {"terminated": {"reason": "Completed"}}}],
                    "containerStatuses": [{"state": {"terminated": {"reason": "OOMKilled"}}}],
                },
            ),
            "OOMKilled",
        ),
    ],
)
def test_unready_pod_has_a_reason(pod, expected) -> None:
    assert health.find_reason(pod) == expected


def test_pods_are_counted_per_workload_name(shop) -> None:
    def workload(name: str, replicas: int) -> dict:
        return {"kind": "Deployment", "metadata": {"name": name}, "spec": {"replicas": replicas}}

    pods = [
        build_pod("cart-6d5f7c9b4d-abcde"[:-5] + "x2x4z"),
        build_pod("cart-6d5f7c9b4d-b2b4z", ready=False, status=build_waiting_status("CrashLoopBackOff", 4)),
        build_pod("cart-6d5f7c9b4d-c2c4z", going=True),
        build_pod("payment-7d9c8b6f5-x2x4z"),
    ]
    found = health.group_pods([workload("cart", 2), workload("ad", 0)], pods, shop)
    assert found == {"Deployment/cart": Pods(2, 1, 4, "CrashLoopBackOff"), "Deployment/ad": Pods(0, 0, 0, "")}


def test_component_with_a_firing_alert_is_not_well(shop) -> None:
    pods = {c.workload: Pods(1, 1, 0, "") for c in shop.components}
    timelines = [
        AlertTimeline(name="A", entity=Reference("Deployment", "cart"), firing=(Interval(start=1.0),)),
        AlertTimeline(name="B", entity=Reference("Deployment", "cart"), firing=(Interval(start=1.0, end=2.0),)),
        AlertTimeline(name="C", entity=Reference("Deployment", "ad"), pending=(Interval(start=1.0),)),
        AlertTimeline(name="D", firing=(Interval(start=1.0),)),
    ]
    found = {c.name: c for c in health.assess_components(shop, pods, {}, timelines)}
    assert [c.name for c in found.values()] == [c.name for c in shop.components]
    assert (found["cart"].tone, found["cart"].firing) == ("open", ("A",))
    assert (found["ad"].tone, found["ad"].firing) == ("good", ())
