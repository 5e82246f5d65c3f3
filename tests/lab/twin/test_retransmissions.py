"""Lost messages are sent again as Linux does: after 0.2 s, twice as long each time, and every 120 s in the end.

So a message that was sent at 0 is sent again at 0.2, 0.6, 1.4, 3, 6.2, 12.6, 25.4, 51, 102.2, 204.6, 324.6, 444.6,
564.6, 684.6 and 804.6.
"""

from typing import Any

import numpy as np
import pytest

from scenario_kit.lab.twin.network.connections import Link, LinkKey
from scenario_kit.lab.twin.network.dialling import ConnectionLane
from scenario_kit.lab.twin.network.endpoints import Wire
from scenario_kit.lab.twin.network.packet_effects import TrafficShape
from scenario_kit.lab.twin.network.retransmissions import Path, Retransmissions
from scenario_kit.lab.twin.numeric.schedule_change import ScheduleChange, Waits
from scenario_kit.lab.twin.outcome import ConnectionOutcome
from scenario_kit.lab.twin.process.in_flight_records import Sent, Transit
from scenario_kit.lab.twin.process.process import Process, ProcessKey
from scenario_kit.lab.twin.requests.broker import _Group
from scenario_kit.model.twin.definition import TwinConstants
from tests.lab.twin import tiny

CALLER, PEER = ProcessKey("a", "main", "1"), ProcessKey("b", "main", "1")
PATH = Path(LinkKey(CALLER, 0), PEER, back=False)


def _start_process(key: ProcessKey) -> Process:
    return Process(key, {}, {}, "", "", None, False, {}, 0.0, 0.0, 0.0, (), frozenset(), {}, ())


PROCESSES = {key: _start_process(key) for key in (CALLER, PEER)}


def _connect(loss: float) -> dict[LinkKey, Link]:
    wire = Wire(True) if loss == 1.0 else Wire(False, TrafficShape(loss=loss))
    lane = ConnectionLane(ConnectionOutcome.OK, PROCESSES[PEER], wire)
    return {PATH.link: Link(PATH.link, None, "", (lane,))}  # type: ignore[arg-type]


def _lose(times: int, loss: float = 0.5) -> Retransmissions:
    """A message of request 7 at 0 that is lost so often if the path stays as it is."""
    lost = Retransmissions()
    lost.begin(0.1)
    lost.add(PATH, np.array([7.0]), np.zeros(1), np.array([loss ** (times + 0.5)]), loss, TwinConstants())
    return lost


def _map(change: ScheduleChange | None, time: float) -> float:
    assert change is not None
    return float(change.apply(np.array([7.0]), np.array([time]))[0])


@pytest.mark.parametrize(
    ("times", "planned", "healed", "end"),
    [
        (15, 804.6, 15.0, 25.4),
        (15, 804.6, 30.0, 51.0),
        (15, 804.6, 90.0, 102.2),
        (15, 804.6, 105.0, 204.6),
        (15, 804.6, 330.0, 444.6),  # 120 s later at the latest
        (9, 102.2, 60.0, 102.2),  # the next one was to get through anyway
        (8, 51.0, 15.0, 25.4),
    ],
)
def test_next_transmission_gets_through_once_the_path_has_recovered(
    times: int, planned: float, healed: float, end: float
) -> None:
    change = _lose(times).replan(_connect(0.0), PROCESSES, healed)
    assert _map(change, planned) == pytest.approx(end)
    assert _map(change, planned + 3.0) == pytest.approx(end + 3.0), "what follows goes on from there"
    assert _map(change, 0.05) == 0.05, "what was before stays"


def test_waits_stay_as_planned_while_the_path_stays_as_it_is() -> None:
    lost = _lose(8)
    assert [lost.replan(_connect(0.5), PROCESSES, start) for start in (15.0, 30.0, 45.0, 60.0)] == [None] * 4
    assert lost.replan(_connect(0.0), PROCESSES, 75.0) is None, "it has arrived"


def test_path_that_is_cut_meanwhile_loses_all() -> None:
    """Planned for 25.4; cut from 15 on, it goes on being sent; healed from 210 on, it arrives with the next one."""
    lost = _lose(7)
    assert _map(lost.replan(_connect(1.0), PROCESSES, 15.0), 25.4) == pytest.approx(804.6)
    assert lost.replan(_connect(1.0), PROCESSES, 120.0) is None
    assert _map(lost.replan(_connect(0.0), PROCESSES, 210.0), 804.6) == pytest.approx(324.6)


@pytest.mark.parametrize(("loss", "shares"), [(0.9, 0.9), (0.2, 0.2)])
def test_each_transmission_meets_the_loss_of_its_own_time(loss: float, shares: float) -> None:
    """Of messages lost three times so far (at 0, 0.2 and 0.6), the next is lost as often as the path loses then."""
    draws = np.random.default_rng(1).random(200_000)
    lost = Retransmissions()
    lost.begin(1.0)
    lost.add(PATH, np.arange(draws.size, dtype=float), np.zeros(draws.size), 1.0 - draws, 0.5, TwinConstants())
    (group,) = lost._lost.values()
    requests, planned = group.requests, group.ends
    assert requests.size / draws.size == pytest.approx(0.125, abs=0.003), "those that outlast the tick"
    change = lost.replan(_connect(loss), PROCESSES, 1.0)
    assert change is not None
    ends = change.apply(requests, planned)
    assert float(np.mean(ends > 1.4 + 1e-6)) == pytest.approx(shares, abs=0.006)
    assert float(np.mean(ends > 3.0 + 1e-6)) == pytest.approx(shares**2, abs=0.006)


def test_messages_of_a_caller_that_has_ended_are_forgotten() -> None:
    assert _lose(15).replan(_connect(0.0), {PEER: PROCESSES[PEER]}, 30.0) is None


@pytest.mark.parametrize(
    ("waits", "planned", "new"),
    [
        # one after another: the second begins 5 s after the first, and is now none
        ([(0.0, 100.0, 50.0), (105.0, 200.0, 0.0)], [99.0, 100.0, 105.0, 200.0, 201.0], [99.0, 50.0, 55.0, 55.0, 56.0]),
        # beside each other: the last one counts
        ([(0.0, 100.0, 60.0), (0.0, 300.0, 20.0)], [100.0, 300.0], [60.0, 60.0]),
        ([(0.0, 100.0, 60.0), (0.0, 300.0, 80.0)], [100.0, 300.0, 310.0], [60.0, 80.0, 90.0]),
        # later than planned
        ([(0.0, 10.0, 40.0)], [9.0, 10.0, 12.0], [9.0, 40.0, 42.0]),
    ],
)
def test_times_follow_waits(waits: list[tuple[float, float, float]], planned: list[float], new: list[float]) -> None:
    began, ends, seconds = (np.array(column) for column in zip(*waits, strict=True))
    other = ScheduleChange(Waits(np.full(began.size, 7.0), began, ends, seconds))
    assert other.apply(np.full(len(planned), 7.0), np.array(planned)) == pytest.approx(new)
    assert other.apply(np.full(len(planned), 8.0), np.array(planned)) == pytest.approx(planned), "of other requests"


def _without_timeouts() -> dict[str, Any]:
    edges = [{k: v for k, v in edge.items() if k != "timeoutSeconds"} for edge in tiny.TWIN["edges"]]
    return {"edges": edges, "assumptions": {}}


@pytest.mark.parametrize(
    "effect", [{"loss": 95.0}, {"rate": 200.0, "burst": 1600.0, "queue": 2000.0}], ids=["loss", "rate"]
)
def test_users_wait_for_two_minutes_at_most_after_a_fault(effect: dict[str, float]) -> None:
    """Without timeouts, almost all of 20 users hang in the end; 120 s after the fault, they are as busy as before."""
    cluster = tiny.start_cluster(**_without_timeouts())
    before = cluster.run(60.0).rate("gate")
    cluster.chaos("box", direction="OUTPUT", **effect)
    cluster.run(600.0)
    assert cluster.run(60.0).rate("gate") < 0.3 * before
    cluster.calm()
    cluster.run(135.0)
    after = cluster.run(60.0)
    assert after.rate("gate") == pytest.approx(before, rel=0.15)
    assert after.quantile(0.99, "gate") < 1000.0, "none of them waited"
    until = next(iter(cluster.twin._load._users.values())).until
    assert float((until - cluster.now).max(initial=0.0)) < 15.0


def test_traces_end_when_the_calls_do() -> None:
    cluster = tiny.start_cluster(**_without_timeouts())
    cluster.chaos("box", direction="OUTPUT", loss=95.0)
    cluster.run(300.0)
    cluster.calm()
    healed = cluster.now
    cluster.run(300.0)
    traces = cluster.twin.traces(healed - 300.0, healed)
    spans = [span for trace in traces for span in trace.spans]
    assert max(span.end for span in spans) < healed + 121.0
    assert any(span.end > healed for span in spans)


def test_records_arrive_and_are_processed_at_the_new_times() -> None:
    """Request 7 waits until 50, not 100; what its consumer does next is 50 s earlier too."""
    change = ScheduleChange(Waits(np.array([7.0]), np.zeros(1), np.array([100.0]), np.array([50.0])))
    transit: Transit[str] = Transit()
    place = (PEER, "orders")
    transit.arrived({place: [Sent(101.0, "late", 7.0), Sent(90.0, "other", 8.0), Sent(95.0, "unknown")]}, 15.0)
    transit.reschedule(change)
    arrived = transit.arrived({}, 100.0)[place]
    assert [(record.what, record.time) for record in arrived] == [("late", 51.0), ("other", 90.0), ("unknown", 95.0)]
    group = _Group(under_way=np.array([[20.0, 101.0, 103.0], [6.0, 7.0, 8.0]]), busy_until=103.0, free_at=103.0)
    group.reschedule(change)
    assert group.under_way[0].tolist() == [20.0, 51.0, 53.0]
    assert (group.busy_until, group.free_at) == (53.0, 53.0)
