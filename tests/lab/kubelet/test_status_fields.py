"""Fields of a pod's status that others read, and the words and grace with which containers are stopped."""

from __future__ import annotations

from typing import Any

import pytest

from scenario_kit.model.runtime.process import Exit, ProcessStart
from tests.lab.kubelet.test_kubelet_stopping import DEAF, Stoppable

T0 = 1_767_225_600.0


def test_pod_without_status_is_pending_until_a_container_runs(bench: Any) -> None:
    b = bench(cached=False)
    b.pod["status"] = {}
    assert b.to(0)["phase"] == "Pending"
    assert b.to(60)["phase"] == "Running"


@pytest.mark.parametrize(
    ("own", "requests", "seconds"), [({}, {}, 30), ({"terminationGracePeriodSeconds": 7}, {}, 7),
                                  ({"terminationGracePeriodSeconds": 7}, {"deletionGracePeriodSeconds": 3}, 3)],
)  # fmt: skip
def test_process_ignoring_sigterm_is_killed_after_grace_period(
    bench: Any, own: Any, requests: Any, seconds: int
) -> None:
    """The grace period is 30 s unless the pod or the deletion sets another."""
    b = bench(**own)
    b.processes = Stoppable(DEAF)
    b.to(0)
    b.pod["metadata"] |= {"deletionTimestamp": "2026-01-01T00:01:00Z"} | requests
    b.to(60)
    assert not b.last.gone
    assert b.last.next_wakeup == T0 + 60 + seconds
    b.to(60 + seconds)
    assert b.last.gone
    assert b.container()["state"]["terminated"]["exitCode"] == 137
    assert b.container()["ready"] is False


def test_pod_without_started_containers_ends_unready(bench: Any, make_container: Any) -> None:
    b = bench(make_container(readinessProbe={"tcpSocket": {"port": 1}}))
    b.to(0)
    b.pod["metadata"]["deletionTimestamp"] = "2026-01-01T00:01:00Z"
    b.to(60)
    assert b.last.gone
    assert (b.container()["ready"], b.condition("Ready")["status"]) == (False, "False")


@pytest.mark.parametrize(
    ("which", "words"),
    [
        ("proxy", "Init container proxy definition changed, will be restarted"),
        ("main", "Container main definition changed, will be restarted"),
    ],
)
def test_changed_container_is_restarted_with_an_event(bench: Any, make_container: Any, which: str, words: str) -> None:
    b = bench(make_container(), inits=(make_container("proxy", restartPolicy="Always"),))
    b.to(0)
    b.images.add("app", "ghcr.io/demo/app:2.0", T0)
    for one in (*b.pod["spec"]["containers"], *b.pod["spec"]["initContainers"]):
        if one["name"] == which:
            one["image"] = "ghcr.io/demo/app:2.0"
    b.to(30)
    assert [e.message for e in b.events if e.reason == "Killing"] == [words]


def test_sidecars_stop_after_main_containers_complete(bench: Any, make_container: Any) -> None:
    inits = (make_container("before"), make_container("proxy", restartPolicy="Always"))
    b = bench(make_container(), inits=inits, restartPolicy="Never")
    b.processes.starts["main"] = lambda _now: ProcessStart(5.0, Exit("u-1", "main", 0, "Completed"))
    b.to(0)
    b.to(60)
    assert [e.message for e in b.events if e.reason == "Killing"] == ["Stopping container proxy"]
    assert b.pod["status"]["phase"] == "Succeeded"
    assert b.container("before")["state"]["terminated"]["exitCode"] == 0


def test_container_status_before_first_start(bench: Any, make_container: Any) -> None:
    mounts = [{"name": "v", "mountPath": "/a", "readOnly": True}, {"name": "w", "mountPath": "/b"}]
    b = bench(make_container(volumeMounts=mounts), volumes=[{"name": "v", "secret": {"secretName": "gone"}}])
    b.to(0)
    assert b.container() == {
        "name": "main",
        "image": "ghcr.io/demo/app:1.0",
        "imageID": "",
        "lastState": {},
        "ready": False,
        "restartCount": 0,
        "started": False,
        "state": {"waiting": {"reason": "ContainerCreating"}},
        "volumeMounts": [
            {"name": "v", "mountPath": "/a", "readOnly": True, "recursiveReadOnly": "Disabled"},
            {"name": "w", "mountPath": "/b"},
        ],
    }
