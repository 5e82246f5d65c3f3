"""Events that only a cleaner controller makes are taken back, and no others."""

import threading

import pytest

from scenario_kit.errors import NotFound
from scenario_kit.lab.settle.hpa_conflict_events import ConflictEventCleaner

CONFLICT = 'Operation cannot be fulfilled on horizontalpodautoscalers.autoscaling "ad": the object has been modified; …'


def event(reason="FailedUpdateStatus", kind="HorizontalPodAutoscaler", message=CONFLICT):
    metadata = {"name": "ad.1", "namespace": "shop"}
    return {"metadata": metadata, "involvedObject": {"kind": kind}, "reason": reason, "message": message}


class Cluster:
    def __init__(self, stop):
        self.deleted, self.stop = [], stop

    def delete(self, ref):
        self.deleted.append(str(ref))
        self.stop.set()
        raise NotFound("it went away by itself")  # which is fine


@pytest.mark.parametrize(
    ("events", "deleted"),
    [
        (event(), ["shop/Event/ad.1"]),
        (event(message="the server is gone"), []),
        (event(kind="Deployment"), []),
        (event(reason="FailedGetResourceMetric"), []),
    ],
)
def test_only_conflict_events_are_deleted(events, deleted):
    stop = threading.Event()
    cluster = Cluster(stop)
    cleaner = ConflictEventCleaner(cluster)
    cleaner.on_event("PASSED", "Event", events)
    if not deleted:
        assert cleaner._found.empty()
        return
    cleaner.run(stop)
    assert cluster.deleted == deleted
