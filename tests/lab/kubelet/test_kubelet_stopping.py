"""Termination of containers and node limits, as recorded from a real kubelet (tools/reality)."""

from __future__ import annotations

import math
from typing import Any

import pytest

from scenario_kit.lab.kubelet.image import host_paths, images
from scenario_kit.lab.kubelet.image.shell_idioms import measure_sleep
from scenario_kit.model.base import Object
from scenario_kit.model.runtime.process import InitState, Stop
from tests.lab.kubelet.conftest import T0, Scripted

DEAF = Stop(math.inf)


class Stoppable(Scripted):
    """Processes with a scripted reaction to SIGTERM."""

    def __init__(self, stop: Stop) -> None:
        super().__init__()
        self._stop = stop

    def stop(self, pod: Object, container: str, now: float) -> Stop:
        return self._stop


def delete(b: Any, grace: int) -> None:
    b.pod["metadata"] |= {"deletionTimestamp": "2026-01-01T00:10:00Z", "deletionGracePeriodSeconds": grace}


@pytest.mark.parametrize(
    ("words", "seconds"),
    [
        (["sleep", "10"], 10),
        (["/bin/sleep", "0.5m"], 30),
        (["sh", "-c", "sleep 10"], 10),
        (["/bin/bash", "-ec", "nginx -s quit; /bin/sleep 5 && sleep 2s"], 7),
        (["sh", "-c", "echo sleep 10"], 0),
        (["sh", "-c", "sleep $GRACE"], 0),
        (["sh", "sleep", "10"], 0),
        (["/drain"], 0),
        ([], 0),
    ],
)
def test_commands_that_sleep(words: list[str], seconds: float) -> None:
    assert measure_sleep(words) == seconds


def test_a_pre_stop_command_that_sleeps_is_waited_for(bench: Any, make_container: Any) -> None:
    b = bench(make_container(lifecycle={"preStop": {"exec": {"command": ["sh", "-c", "sleep 5"]}}}))
    b.processes = Stoppable(Stop(6, 0))
    b.to(0)
    b.to(5)
    delete(b, 30)
    b.to(20)
    assert b.last.next_wakeup == T0 + 20 + 11


@pytest.mark.parametrize(
    ("stop", "grace", "pre_stop", "ends", "code"),
    [
        (Stop(), 30, 0, 0, 143),
        (Stop(6, 0), 30, 0, 6, 0),
        (Stop(6, 0), 30, 5, 11, 0),
        (Stop(6, 0), 8, 5, 8, 137),
        (DEAF, 10, 0, 10, 137),
        (DEAF, 10, 60, 12, 137),  # two seconds are left for SIGTERM, whatever the hook takes
        (Stop(1, 0), 10, 60, 11, 0),
        (DEAF, 1, 0, 2, 137),
        (Stop(1, 0), 0, 60, 1, 0),  # no time for a hook
    ],
)
@pytest.mark.parametrize("action", ["sleep", "exec"])
def test_deletion(
    bench: Any, make_container: Any, action: str, stop: Stop, grace: int, pre_stop: int, ends: int, code: int
) -> None:
    actions = {"sleep": {"seconds": pre_stop}, "exec": {"command": ["sh", "-c", f"sleep {pre_stop}"]}}
    hook = {"lifecycle": {"preStop": {action: actions[action]}}} if pre_stop else {}
    b = bench(make_container(**hook))
    b.processes = Stoppable(stop)
    b.to(0)
    b.to(5)
    delete(b, grace)
    b.to(20)
    if ends:
        assert b.last.next_wakeup == T0 + 20 + ends
        assert "running" in b.container()["state"]
        b.to(20 + ends)
    assert b.last.gone
    assert b.container()["state"]["terminated"]["exitCode"] == code
    assert [e.reason for e in b.events].count("Killing") == 1


@pytest.mark.parametrize("late", [0.0, 0.4, 60.0])
def test_deletion_while_pods_initialize(bench: Any, make_container: Any, late: float) -> None:
    b = bench(inits=(make_container("wait"),))
    b.processes = Stoppable(DEAF)
    b.processes.inits = {"wait": lambda _: InitState("Running")}
    b.to(0)
    b.to(5)
    delete(b, 10)
    b.to(20)
    assert not b.last.gone
    b.to(30 + late)
    assert b.last.gone
    assert b.container("wait")["state"]["terminated"]["exitCode"] == 137
    assert b.reasons().count("Started") == b.reasons().count("Killing") == 1


@pytest.mark.parametrize(("own", "ends"), [({}, 10), ({"terminationGracePeriodSeconds": 20}, 24)])
def test_liveness_probe_kills_after_grace_period(bench: Any, make_container: Any, own: Object, ends: int) -> None:
    probe = {"tcpSocket": {"port": 80}, "periodSeconds": 2, "failureThreshold": 2, **own}
    b = bench(make_container(livenessProbe=probe))
    b.processes = Stoppable(DEAF)
    b.pod["spec"]["terminationGracePeriodSeconds"] = 6
    b.processes.answering = lambda *_: False
    b.to(0)
    b.to(4)
    b.to(ends - 1)
    assert "running" in b.container()["state"]
    assert [e.reason for e in b.events].count("Unhealthy") == 2
    b.to(ends)
    assert b.container()["restartCount"] == 1
    assert b.container()["lastState"]["terminated"]["exitCode"] == 137
    assert [e.reason for e in b.events].count("Killing") == 1


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ({}, ""),
        ({"path": "/no/such"}, ""),
        ({"path": "/no/such", "type": ""}, ""),
        ({"path": "/no/such", "type": "DirectoryOrCreate"}, ""),
        ({"path": "/var/log/", "type": "Directory"}, ""),
        ({"path": "/", "type": "Directory"}, ""),
        ({"path": "/no/such", "type": "Directory"}, "hostPath type check failed: /no/such is not a directory"),
        ({"path": "/etc/hosts", "type": "File"}, ""),
        ({"path": "/etc/hosts", "type": "Directory"}, "hostPath type check failed: /etc/hosts is not a directory"),
        ({"path": "/x.sock", "type": "Socket"}, "hostPath type check failed: /x.sock is not a socket file"),
        ({"path": "/dev/null", "type": "CharDevice"}, ""),
    ],
)
def test_paths_of_the_node(source: Object, expected: str) -> None:
    assert host_paths.find_problem(source) == expected


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        ("shop/Cart:1", "invalid reference format: repository name (shop/Cart) must be lowercase"),
        ("Cart", "invalid reference format: repository name (library/Cart) must be lowercase"),
        (
            "ghcr.io/Shop/cart@sha256:" + "0" * 64,
            "invalid reference format: repository name (Shop/cart) must be lowercase",
        ),
        ("shop/cart:1:2", "invalid reference format"),
        ("shop/cart:", "invalid reference format"),
    ],
)
def test_invalid_image_name_is_explained(image: str, expected: str) -> None:
    assert not images.is_valid(image)
    assert images.explain_invalid(image) == expected


@pytest.mark.parametrize(("stop", "ends", "code"), [(Stop(), 8, 143), (DEAF, 14, 137)])
def test_deadline_of_a_pod(bench: Any, stop: Stop, ends: int, code: int) -> None:
    b = bench(activeDeadlineSeconds=8, terminationGracePeriodSeconds=6)
    b.processes = Stoppable(stop)
    b.to(0)
    assert b.last.next_wakeup == T0 + 8
    b.to(8)
    status = b.to(ends)
    assert (status["phase"], status["reason"]) == ("Failed", "DeadlineExceeded")
    assert b.container()["state"]["terminated"]["exitCode"] == code
    assert b.reasons().count("DeadlineExceeded") == 1
    assert not b.last.gone
    assert b.last.next_wakeup is None


def test_active_deadline_fails_a_pod_that_never_starts(bench: Any) -> None:
    b = bench(activeDeadlineSeconds=8, volumes=[{"name": "v", "configMap": {"name": "absent"}}])
    b.to(0)
    b.to(5)
    assert b.to(8)["phase"] == "Failed"
