"""The small parts: times, back-off, image names, addresses, quality of service, events, log files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scenario_kit.errors import LabError
from scenario_kit.lab.kubelet.addresses import Addresses
from scenario_kit.lab.kubelet.image import images
from scenario_kit.lab.kubelet.logs import LogFolder
from scenario_kit.lab.kubelet.pod import qos, times
from scenario_kit.lab.kubelet.pod.backoff import BackOff, record_attempt, waits_until
from scenario_kit.lab.kubelet.pod.context import PodEvent
from scenario_kit.lab.kubelet.pod.events import EventRecorder
from scenario_kit.model.kubernetes.timestamp import format_timestamp, parse_timestamp

T0 = 1_767_225_600.0
POD = {
    "metadata": {"name": "p", "namespace": "app", "uid": "u"},
    "spec": {"nodeName": "node-0", "containers": [{"name": "main"}], "initContainers": [{"name": "wait"}]},
}


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(10, "10s"), (80, "1m20s"), (300, "5m0s"), (0.312, "312ms"), (1.5, "1.5s"), (3661, "1h1m1s")],
)
def test_durations_are_formatted_as_go_does(seconds: float, text: str) -> None:
    assert times.go_duration(seconds) == text


def test_times_round_trip_at_second_precision() -> None:
    assert format_timestamp(T0 + 0.9) == "2026-01-01T00:00:00Z"
    assert parse_timestamp("2026-01-01T00:00:00Z") == T0
    assert times.format_rfc3339_nano(T0 + 0.25) == "2026-01-01T00:00:00.250000000Z"


@pytest.mark.parametrize(
    ("entry", "event", "now", "until"),
    [
        (None, 0, 0, None),
        (BackOff(10, 0), 5, 6, 15),
        (BackOff(10, 0), 5, 15, None),
        (BackOff(300, 0), 601, 602, None),
    ],
)
def test_back_off_delays_until_its_end(entry: BackOff | None, event: float, now: float, until: float | None) -> None:
    assert waits_until(entry, event, now) == until


def test_back_off_is_bounded() -> None:
    entry: BackOff | None = None
    seconds = []
    for at in range(8):
        entry = record_attempt(entry, at, at)
        seconds.append(entry.seconds)
    assert seconds == [10, 20, 40, 80, 160, 300, 300, 300]


@pytest.mark.parametrize(
    ("image", "full"),
    [
        ("busybox", "docker.io/library/busybox:latest"),
        ("otel/demo:1", "docker.io/otel/demo:1"),
        ("ghcr.io/a/b:2.2.0-cart", "ghcr.io/a/b:2.2.0-cart"),
        ("localhost:5000/a", "localhost:5000/a:latest"),
        ("a@sha256:" + "0" * 64, "docker.io/library/a@sha256:" + "0" * 64),
        ("a__b/c--d.e:V_1.x-y", "docker.io/a__b/c--d.e:V_1.x-y"),
    ],
)
def test_image_names(image: str, full: str) -> None:
    assert images.normalize_image(image) == full
    assert images.is_valid(image)
    assert images.make_image_id(image).startswith(full.split("@")[0].rsplit(":", 1)[0] if "@" not in full else full)


@pytest.mark.parametrize(
    ("image", "error"),
    [
        ("", "invalid reference format"),
        ("a b", "invalid reference format"),
        ("a:", "invalid reference format"),
        ("a:b:c", "invalid reference format"),
        ("-x", "invalid reference format"),
        ("a//b", "invalid reference format"),
        ("a..b:1", "invalid reference format"),
        ("a___b", "invalid reference format"),
        ("a:1\n", "invalid reference format"),
        ("a@sha256:0123", "invalid reference format"),
        ("a@sha256:" + "0" * 63, "invalid checksum digest length"),
        ("a@sha256:" + "A" * 64, "invalid checksum digest format"),
        ("a@md5:" + "0" * 32, "unsupported digest algorithm"),
        ("UPPER", "invalid reference format: repository name (library/UPPER) must be lowercase"),
    ],
)
def test_invalid_image_names(image: str, error: str) -> None:
    assert not images.is_valid(image)
    assert images.explain_invalid(image) == error


def test_image_caches_of_worlds_are_separate() -> None:
    cache = images.ImageCache()
    cache.add("one", "busybox", T0)
    assert cache.of("one").present("node-0", "docker.io/library/busybox:latest", T0)
    assert not cache.of("one").present("node-0", "busybox", T0 - 1)
    assert not cache.of("two").present("node-0", "busybox", T0)
    cache.forget("one")
    assert not cache.of("one").present("node-0", "busybox", T0)


class TestAddresses:
    def test_unique_and_per_node(self) -> None:
        pool = Addresses()
        first = [pool.allocate("a") for _ in range(300)]
        assert len(set(first)) == 300
        assert first[0] == "10.244.0.1"
        assert pool.allocate("b") == "10.244.2.1"

    def test_allocation_skips_reserved_and_reuses_released_addresses_last(self) -> None:
        pool = Addresses()
        pool.reserve("a", "10.244.0.1")
        pool.reserve("a", "192.168.1.1")
        assert pool.allocate("a") == "10.244.0.2"
        pool.release("10.244.0.1")
        assert pool.allocate("a") == "10.244.0.3"

    def test_the_end_is_an_error(self) -> None:
        pool = Addresses()
        for block in range(256):
            pool.reserve(f"n{block}", f"10.244.{block}.1")
        for _ in range(253):
            pool.allocate("n0")
        with pytest.raises(LabError, match="no free pod address"):
            pool.allocate("n0")


@pytest.mark.parametrize(
    ("resources", "expected"),
    [
        ({}, "BestEffort"),
        ({"requests": {"cpu": "1"}}, "Burstable"),
        ({"limits": {"memory": "1Gi"}, "requests": {"memory": "1Gi"}}, "Burstable"),
        ({"limits": {"memory": "1Gi", "cpu": "1"}, "requests": {"memory": "1024Mi", "cpu": "1000m"}}, "Guaranteed"),
        ({"limits": {"memory": "2Gi", "cpu": "1"}, "requests": {"memory": "1Gi", "cpu": "1"}}, "Burstable"),
        ({"requests": {"cpu": "0"}}, "BestEffort"),
    ],
)
def test_quality_of_service(resources: Any, expected: str) -> None:
    assert qos.determine_qos_class({"spec": {"containers": [{"name": "main", "resources": resources}]}}) == expected


class TestRecorder:
    def test_equal_events_are_aggregated(self) -> None:
        recorder = EventRecorder()
        made = [
            recorder.record(POD, PodEvent(T0 + at, "Warning", "Unhealthy", "Readiness probe failed: x", "main"))
            for at in (0, 10, 20)
        ]
        assert [e["count"] for e in made if e] == [1, 2, 3]
        last = made[-1]
        assert last is not None
        assert last["metadata"] == {"name": made[0]["metadata"]["name"], "namespace": "app"}  # type: ignore[index]
        assert (last["firstTimestamp"], last["lastTimestamp"]) == ("2026-01-01T00:00:00Z", "2026-01-01T00:00:20Z")
        assert last["involvedObject"]["fieldPath"] == "spec.containers{main}"
        assert last["source"] == {"component": "kubelet", "host": "node-0"}

    def test_event_field_path_names_the_container(self) -> None:
        recorder = EventRecorder()
        init = recorder.record(POD, PodEvent(T0, "Normal", "Started", "x", "wait", init=True))
        whole = recorder.record(POD, PodEvent(T0, "Warning", "FailedMount", "x"))
        assert init is not None
        assert init["involvedObject"]["fieldPath"] == "spec.initContainers{wait}"
        assert whole is not None
        assert "fieldPath" not in whole["involvedObject"]

    def test_event_flood_is_rate_limited(self) -> None:
        recorder = EventRecorder()
        sent = [recorder.record(POD, PodEvent(T0 + at, "Normal", "BackOff", "x", "main")) for at in range(100)]
        assert sum(e is not None for e in sent) == 25
        assert recorder.record(POD, PodEvent(T0 + 400, "Normal", "BackOff", "x", "main")) is not None


class TestLogFolder:
    def test_log_lines_are_cri_and_survive_restart(self, tmp_path: Path) -> None:
        logs = LogFolder(tmp_path)
        logs.add(POD)
        assert logs.append("app", "p", "main", [(T0, "one"), (T0 + 1, "two\nthree")])
        assert logs.locate(POD, "main").read_text().splitlines() == [
            "2026-01-01T00:00:00.000000000Z stdout F one",
            "2026-01-01T00:00:01.000000000Z stdout F two",
            "2026-01-01T00:00:01.000000000Z stdout F three",
        ]
        logs.begin("app", "p", "main", 1)
        assert logs.locate(POD, "main").read_text() == ""
        assert logs.locate(POD, "main", previous=True).read_text().count("\n") == 3

    def test_size_is_bounded_and_the_newest_lines_stay(self, tmp_path: Path) -> None:
        logs = LogFolder(tmp_path, limit_bytes=2000)
        logs.add(POD)
        file = logs.locate(POD, "main")
        for number in range(200):
            logs.append("app", "p", "main", [(T0 + number, f"line {number}")])
        assert file.stat().st_size <= 2000
        assert file.read_text().splitlines()[-1].endswith("line 199")
        assert all(" stdout F line " in line for line in file.read_text().splitlines())

    def test_files_of_gone_pods_are_removed(self, tmp_path: Path) -> None:
        logs = LogFolder(tmp_path)
        logs.add(POD)
        logs.remove(POD)
        assert list(tmp_path.iterdir()) == []
        assert not logs.append("app", "p", "main", [(T0, "late")])

    def test_new_pod_of_same_name_survives_removal_of_old_one(self, tmp_path: Path) -> None:
        logs = LogFolder(tmp_path)
        logs.add(POD)
        logs.add({**POD, "metadata": {**POD["metadata"], "uid": "v"}})
        logs.remove(POD)
        assert logs.append("app", "p", "main", [(T0, "still here")])
