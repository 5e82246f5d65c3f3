from __future__ import annotations

from typing import Any

import pytest

from scenario_kit.model.runtime.process import Lag

T0 = 1_767_225_600.0
REFUSED = "dial tcp 10.244.0.7:{port}: connect: connection refused"


class TestReadiness:
    def test_ready_after_the_first_success(self, bench: Any, make_container: Any) -> None:
        b = bench(make_container(readinessProbe={"tcpSocket": {"port": 80}, "periodSeconds": 10}))
        b.processes.answering = lambda _c, _p, _path, now: now >= T0 + 15
        b.to(0)
        assert b.container()["ready"] is False
        assert b.container()["started"] is True
        assert b.condition("Ready")["status"] == "False"
        b.to(30)
        assert b.container()["ready"] is True
        assert b.condition("Ready")["lastTransitionTime"] == "2026-01-01T00:00:20Z"
        assert [e.at - T0 for e in b.events if e.reason == "Unhealthy"] == [0, 10]

    def test_failed_readiness_never_restarts_the_container(self, bench: Any, make_container: Any) -> None:
        b = bench(make_container(readinessProbe={"tcpSocket": {"port": 80}, "periodSeconds": 5, "failureThreshold": 3}))
        b.processes.answering = lambda _c, _p, _path, now: now < T0 + 20
        b.to(0)
        b.to(29)
        assert b.container()["ready"] is True
        b.to(30)
        assert b.container()["ready"] is False
        b.to(300)
        assert b.container()["restartCount"] == 0

    def test_kubelet_restart_keeps_probe_results(self, bench: Any, make_container: Any) -> None:
        b = bench(make_container(readinessProbe={"tcpSocket": {"port": 80}, "periodSeconds": 5, "failureThreshold": 3}))
        b.to(0)
        b.restart_kubelet()
        b.processes.answering = lambda *_: False
        b.to(5)
        assert b.container()["ready"] is True
        b.to(20)
        assert b.container()["ready"] is False


class TestLiveness:
    def test_failures_restart_the_container(self, bench: Any, make_container: Any) -> None:
        probe = {"httpGet": {"path": "/nope", "port": "http"}, "periodSeconds": 10, "failureThreshold": 3}
        b = bench(make_container(livenessProbe=probe, ports=[{"name": "http", "containerPort": 8080}]))
        b.processes.answering = lambda _c, _port, path, _now: path is None
        b.to(0)
        b.to(29)
        assert b.container()["restartCount"] == 0
        b.to(30)
        assert b.container()["restartCount"] == 1
        assert b.container()["lastState"]["terminated"]["exitCode"] == 143
        assert "Liveness probe failed: HTTP probe failed with statuscode: 404" in [e.message for e in b.events]
        assert "Container main failed liveness probe, will be restarted" in [e.message for e in b.events]
        # What a probe ends is started again at once, unless the end of the instance before was too short ago.
        for second, restarts in ((61, 2), (91, 3), (121, 4)):
            b.to(second)
            assert (b.container()["restartCount"], b.waiting()) == (restarts, "")
        b.to(151)
        assert (b.container()["restartCount"], b.waiting()) == (4, "CrashLoopBackOff")


class TestStartup:
    PROBE = {"tcpSocket": {"port": 80}, "periodSeconds": 5, "failureThreshold": 3}

    def test_other_probes_wait_for_startup_probe(self, bench: Any, make_container: Any) -> None:
        requests: list[str | None] = []
        b = bench(make_container(startupProbe=self.PROBE, livenessProbe={"httpGet": {"path": "/live", "port": 80}}))

        def answering(_c: str, _port: int, path: str | None, now: float) -> bool:
            requests.append(path)
            return path == "/live" or now >= T0 + 10

        b.processes.answering = answering
        b.to(0)
        b.to(6)
        assert b.container()["started"] is False
        assert "/live" not in requests
        b.to(10)
        assert b.container()["started"] is True
        assert b.container()["ready"] is True
        assert "/live" not in requests, "at the next tick of its own timer"
        b.to(20)
        assert "/live" in requests

    def test_budget_below_the_start_time_kills(self, bench: Any, make_container: Any) -> None:
        b = bench(make_container(startupProbe=self.PROBE))
        b.processes.answering = lambda *_: False
        b.to(0)
        b.to(14)
        assert b.container()["restartCount"] == 0
        b.to(15)
        assert b.container()["restartCount"] == 1
        assert "Container main failed startup probe, will be restarted" in [e.message for e in b.events]


@pytest.mark.parametrize(
    ("probe", "open_port", "message"),
    [
        ({"tcpSocket": {"port": 81}}, False, REFUSED.format(port=81)),
        ({"httpGet": {"path": "/ready", "port": 40}}, False,
         'Get "http://10.244.0.7:40/ready": ' + REFUSED.format(port=40)),
        ({"httpGet": {"path": "/ready", "port": 40}}, True, "HTTP probe failed with statuscode: 404"),
        ({"grpc": {"port": 8080}}, True, 'service unhealthy (responded with "NOT_SERVING")'),
        ({"grpc": {"port": 8080}}, False, 'error: failed to connect service at "10.244.0.7:8080": connection error: '
         f'desc = "transport: Error while dialing: {REFUSED.format(port=8080)}"'),
        ({"exec": {"command": ["cat", "/x"]}}, False, "cat: /x: No such file or directory"),
        ({"exec": {"command": ["test", "-e", "/x"]}}, False, ""),
    ],
)  # fmt: skip
def test_wording(bench: Any, make_container: Any, probe: Any, open_port: bool, message: str) -> None:
    b = bench(make_container(readinessProbe=probe))
    b.processes.answering = lambda _c, _p, path, _now: open_port and path is None
    b.to(0)
    assert (b.events[-1].type, b.events[-1].reason) == ("Warning", "Unhealthy")
    assert b.events[-1].message == f"Readiness probe failed: {message}"


NEVER = float("inf")
LATE = "(Client.Timeout exceeded while awaiting headers)"


@pytest.mark.parametrize(
    ("probe", "lag", "message"),
    [
        ({"tcpSocket": {"port": 81}}, Lag(1.0, 1.0), ""),
        ({"tcpSocket": {"port": 81}}, Lag(1.5, 1.5), "dial tcp 10.244.0.7:81: i/o timeout"),
        ({"httpGet": {"path": "/x", "port": 40}}, Lag(0.0, 2.5),
         f'Get "http://10.244.0.7:40/x": context deadline exceeded {LATE}'),
        ({"httpGet": {"path": "/x", "port": 40}, "timeoutSeconds": 3}, Lag(0.0, 2.5), ""),
        ({"httpGet": {"path": "/x", "port": 40}}, Lag(NEVER, NEVER),
         f'Get "http://10.244.0.7:40/x": dial tcp 10.244.0.7:40: i/o timeout {LATE}'),
        ({"grpc": {"port": 8080}, "timeoutSeconds": 5}, Lag(0.0, 6.0),
         "timeout: health rpc did not complete within 5s"),
        ({"grpc": {"port": 8080}}, Lag(NEVER, NEVER),
         'timeout: failed to connect service "10.244.0.7:8080" within 1s: context deadline exceeded'),
        ({"exec": {"command": ["pgbackrest", "server-ping"]}}, Lag(0.0, 2.0),
         'command timed out: "pgbackrest server-ping" timed out after 1s'),
    ],
)  # fmt: skip
def test_late_probe_response_is_a_failure(bench: Any, make_container: Any, probe: Any, lag: Lag, message: str) -> None:
    b = bench(make_container(readinessProbe=probe))
    b.processes.lags = lag
    b.to(0)
    unhealthy = [e.message for e in b.events if e.reason == "Unhealthy"]
    assert unhealthy == ([f"Readiness probe failed: {message}"] if message else [])
    assert b.container()["ready"] is not bool(message)


def test_initial_delay_and_the_question(bench: Any, make_container: Any) -> None:
    requests: list[tuple[int, str | None, float]] = []
    probe = {"grpc": {"port": 8080, "service": "cart"}, "initialDelaySeconds": 7, "periodSeconds": 10}
    b = bench(make_container(readinessProbe=probe))

    def answering(_c: str, port: int, path: str | None, now: float) -> bool:
        requests.append((port, path, now - T0))
        return True

    b.processes.answering = answering
    b.to(0)
    b.to(20)
    assert requests == [(8080, "grpc:cart", 10), (8080, "grpc:cart", 20)]


@pytest.mark.parametrize(
    ("kind", "spec", "times"),
    [
        ("livenessProbe", {"periodSeconds": 10}, [10, 20, 30, 40, 50, 60]),
        ("livenessProbe", {}, [10, 20, 30, 40, 50, 60]),
        ("livenessProbe", {"periodSeconds": 20, "initialDelaySeconds": 5}, [20, 40, 60]),
        ("livenessProbe", {"periodSeconds": 20, "initialDelaySeconds": 30}, [40, 60]),
        ("livenessProbe", {"periodSeconds": 10, "initialDelaySeconds": 50}, [60]),  # not yet at 50: it started later
        ("readinessProbe", {"periodSeconds": 25}, [0, 25, 50]),  # and once as soon as the container has started
        ("readinessProbe", {"periodSeconds": 50, "initialDelaySeconds": 1}, [50]),
        ("readinessProbe", {"periodSeconds": 300, "initialDelaySeconds": 5}, []),
        ("startupProbe", {"periodSeconds": 7}, [7]),  # it succeeds
        ("startupProbe", {"periodSeconds": 7, "initialDelaySeconds": 20}, [21]),
    ],
)
def test_probes_run_at_ticks_of_their_timer(
    bench: Any, make_container: Any, kind: str, spec: Any, times: list[int]
) -> None:
    seen: list[float] = []
    b = bench(make_container(**{kind: {"tcpSocket": {"port": 80}, **spec}}))
    b.processes.answering = lambda _c, _p, _path, now: seen.append(now - T0) or True
    b.to(0)
    b.to(60)
    assert seen == times


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (200, ""),
        (204, ""),
        (399, ""),
        (404, "HTTP probe failed with statuscode: 404"),
        (503, "HTTP probe failed with statuscode: 503"),
        (0, 'Get "http://10.244.0.7:40/x": EOF'),
    ],
)
def test_probe_sees_what_a_proxy_makes_of_the_response(
    bench: Any, make_container: Any, status: int, message: str
) -> None:
    b = bench(make_container(readinessProbe={"httpGet": {"path": "/x", "port": 40}}))
    b.processes.lags = Lag(status=status)
    b.to(0)
    unhealthy = [e.message for e in b.events if e.reason == "Unhealthy"]
    assert unhealthy == ([f"Readiness probe failed: {message}"] if message else [])
    assert b.container()["ready"] is not bool(message)
