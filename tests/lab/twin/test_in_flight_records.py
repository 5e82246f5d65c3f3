"""Records in flight: late ones block no others, and none arrives twice."""

from math import inf

from scenario_kit.lab.twin.process.in_flight_records import Sent, Transit
from scenario_kit.lab.twin.process.process import ProcessKey

ORDERS = (ProcessKey("uid", "kafka", "0"), "orders")


def test_records_arrive_once_in_order_when_due() -> None:
    transit: Transit[str] = Transit()
    sent = [Sent(12.0, "b"), Sent(31.0, "late"), Sent(3.0, "a"), Sent(inf, "never"), Sent(12.0, "c")]

    assert [r.what for r in transit.arrived({ORDERS: sent}, 15.0)[ORDERS]] == ["a", "b", "c"]
    assert transit.arrived({}, 30.0) == {ORDERS: []}
    assert [r.what for r in transit.arrived({ORDERS: [Sent(40.0, "d")]}, 45.0)[ORDERS]] == ["late", "d"]
    assert transit.arrived({}, 60.0) == {}
