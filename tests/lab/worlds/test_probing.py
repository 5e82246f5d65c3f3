"""What ports of simulated pods answer, by their processes and the chaos in force on them."""

import pytest

from scenario_kit.lab.twin import View
from scenario_kit.lab.worlds.probing import probe_pod
from scenario_kit.model import ContainerEffect, Ledger, NetworkEffect
from tests.lab.worlds.fake_lab import FakeLab, spec


def pod(*running, waiting=()):
    statuses = [{"name": n, "state": {"running": {}}} for n in running]
    statuses += [{"name": n, "state": {"waiting": {}}} for n in waiting]
    return {"metadata": {"name": "web-0", "uid": "u", "namespace": "shop"}, "status": {"containerStatuses": statuses}}


class Processes:
    """The container ``web`` listens on 8080 and serves ``/health``."""

    def answers(self, pod, container, port, path, now):
        return container == "web" and port == 8080 and path in (None, "/health")


CUT = NetworkEffect(pod_uid="u", drop=True)
LOST = NetworkEffect(pod_uid="u", loss=100.0)
PEERS = NetworkEffect(pod_uid="u", drop=True, peers=("10.0.0.1/32",))
SLOW = NetworkEffect(pod_uid="u", delay=2.0)
OTHER = NetworkEffect(pod_uid="v", drop=True)
ABORT = ContainerEffect(pod_uid="u", container_id="c", kind="HTTP")


@pytest.mark.parametrize(
    ("found", "port", "path", "network", "effects", "connected", "status"),
    [
        (pod("web"), 8080, "", (), (), True, None),
        (pod("web"), 9999, "", (), (), False, None),
        (pod("sidecar", "web"), 8080, "", (), (), True, None),
        (pod(waiting=("web",)), 8080, "", (), (), False, None),
        (pod("web"), 8080, "/health", (), (), True, 200),
        (pod("web"), 8080, "/nothing", (), (), True, 404),
        (pod("web"), 9999, "/health", (), (), False, None),
        (pod("web"), 8080, "", (CUT,), (), None, None),
        (pod("web"), 8080, "", (LOST,), (), None, None),
        (pod("web"), 8080, "", (PEERS, SLOW, OTHER), (), True, None),
        (pod("web"), 8080, "/health", (), (ABORT,), None, None),
        (pod("web"), 8080, "", (), (ABORT,), True, None),
    ],
)
def test_probe_result_depends_on_process_and_chaos(found, port, path, network, effects, connected, status):
    view = View("shop", {"Pod": {"web-0": found}}, Ledger(network=network, containers=effects), 1)
    answer = probe_pod(Processes(), view, found, port, path, 0.0)
    assert (answer.connected, answer.status) == (connected, status)


def test_world_probes_its_own_pods():
    lab = FakeLab()
    lab.begin()
    world = lab.worlds.open(spec())
    assert world.probe("web-9", 8080, "").connected is False
    assert lab.worlds.get_by_namespace("shop") is world
    assert lab.worlds.get_by_namespace("elsewhere") is None
