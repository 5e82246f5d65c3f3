"""What goes over the pods' network interfaces."""

import pytest

from scenario_kit.lab.twin.network.network_io import drain
from scenario_kit.model.runtime.process import NetworkUsage
from tests.lab.twin import tiny
from tests.lab.twin.shop import rendered
from tests.lab.twin.twin_cluster import TwinCluster


def _read_traffic(cluster: TwinCluster, workload: str) -> NetworkUsage:
    """Bytes per second of one workload's only pod in the last tick."""
    assert cluster.last is not None
    (pod,) = cluster.pods(workload)
    return cluster.last.traffic[pod["metadata"]["uid"]]


def test_sent_and_received_bytes_balance() -> None:
    cluster = tiny.start_cluster()
    assert cluster.last is not None
    moved = cluster.last.traffic.values()
    assert sum(m.sent for m in moved) == pytest.approx(sum(m.received for m in moved))
    users, gate, api, box = (_read_traffic(cluster, name) for name in ("users", "gate", "api", "box"))
    assert users.sent == users.received > 1000, "as many answers as requests, at about ten a second"
    assert gate.sent == pytest.approx(users.sent + api.received - box.received)
    assert box.received == box.sent
    assert _read_traffic(cluster, "sink") == NetworkUsage(0.0, 0.0)


def test_unreachable_pod_has_no_network_traffic() -> None:
    cluster = tiny.start_cluster()
    cluster.chaos("box", direction="OUTPUT", drop=True)
    cluster.run(60.0)
    assert _read_traffic(cluster, "box") == NetworkUsage(0.0, 0.0)
    assert _read_traffic(cluster, "gate").received > 0.0


def test_packets_lost_in_a_pod_never_come_to_its_interface() -> None:
    cluster = tiny.start_cluster()
    cluster.chaos("box", direction="OUTPUT", loss=50.0)
    cluster.run(60.0)
    box = _read_traffic(cluster, "box")
    assert box.sent == pytest.approx(box.received)


def test_containers_of_a_pod_share_its_interface() -> None:
    cluster = tiny.start_cluster()
    process = next(p for p in cluster.twin._process_table.processes.values() if p.component == "api")
    process.sent_bytes = 30.0
    assert drain([process, process], 15.0)[process.key.pod_uid] == NetworkUsage(0.0, 2.0)
    assert process.sent_bytes == 0.0, "and counting starts again"


def test_broker_sends_records_to_its_consumers() -> None:
    shop = rendered("2.2.0", 50, {}, "", 180.0)
    assert _read_traffic(shop, "kafka").sent > _read_traffic(shop, "kafka").received > 0.0, "each order, to two groups"
    assert _read_traffic(shop, "accounting").received > 0.0
