"""Remote write requests, decoded by protobuf, and their effect in a real Prometheus (marker ``lab``)."""

from __future__ import annotations

import math
import struct
import time
from collections.abc import Callable
from typing import Any

import cramjam
import httpx
import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from scenario_kit.errors import KitError, MetricsError
from scenario_kit.lab.telemetry import remote_write
from scenario_kit.lab.telemetry.remote_write import SeriesWriter, encode_varint
from scenario_kit.lab.telemetry.series import make_series_id

A = make_series_id("a_total", {"namespace": "shop", "pod": "x"})
B = make_series_id("b", {"namespace": "shop", "Upper": "u"})
STALE_BITS = 0x7FF0000000000002


def write_request() -> Any:
    file = descriptor_pb2.FileDescriptorProto(name="w.proto", syntax="proto3", package="w")
    fields = {
        "Label": [("name", 1, "STRING", ""), ("value", 2, "STRING", "")],
        "Sample": [("value", 1, "DOUBLE", ""), ("timestamp", 2, "INT64", "")],
        "TimeSeries": [("labels", 1, "MESSAGE", ".w.Label"), ("samples", 2, "MESSAGE", ".w.Sample")],
        "WriteRequest": [("timeseries", 1, "MESSAGE", ".w.TimeSeries")],
    }
    for name, members in fields.items():
        message = file.message_type.add(name=name)
        for field, number, kind, type_name in members:
            label = "LABEL_REPEATED" if type_name else "LABEL_OPTIONAL"
            message.field.add(name=field, number=number, type=f"TYPE_{kind}", label=label, type_name=type_name or None)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("w.WriteRequest"))


REQUEST = write_request()


def bits(value: float) -> int:
    return int(struct.unpack("<Q", struct.pack("<d", value))[0])


class Sink:
    """A receiver that records requests."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        self.answers: list[httpx.Response] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.headers = request.headers
        self.url = str(request.url)
        self.bodies.append(request.content)
        return self.answers.pop(0) if self.answers else httpx.Response(204)

    def received(self) -> dict[str, list[tuple[int, float | str]]]:
        """Samples of all requests by metric name: (milliseconds, value), markers as a word."""
        result: dict[str, list[tuple[int, float | str]]] = {}
        for body in self.bodies:
            message = REQUEST.FromString(bytes(cramjam.snappy.decompress_raw(body)))
            for series in message.timeseries:
                name = next(label.value for label in series.labels if label.name == "__name__")
                values = [(s.timestamp, "stale" if bits(s.value) == STALE_BITS else s.value) for s in series.samples]
                result.setdefault(name, []).extend(values)
        return result


@pytest.fixture
def sink() -> Sink:
    return Sink()


@pytest.fixture
def writer(sink: Sink) -> SeriesWriter:
    return SeriesWriter("http://prometheus/", client=httpx.Client(transport=httpx.MockTransport(sink)))


def test_request_has_sorted_labels_and_version_1_headers(writer: SeriesWriter, sink: Sink) -> None:
    writer.write([(15.0, {B: 1})])
    message = REQUEST.FromString(bytes(cramjam.snappy.decompress_raw(sink.bodies[0])))
    labels = [(label.name, label.value) for label in message.timeseries[0].labels]
    assert labels == [("Upper", "u"), ("__name__", "b"), ("namespace", "shop")]
    assert sink.url == "http://prometheus/api/v1/write"
    assert sink.headers["content-encoding"] == "snappy"
    assert sink.headers["x-prometheus-remote-write-version"] == "0.1.0"


@pytest.mark.parametrize(
    ("batches", "expected"),
    [
        ([[(15, {A: 1, B: 2}), (30, {A: 3, B: 4})]],
         {"a_total": [(15000, 1), (30000, 3)], "b": [(15000, 2), (30000, 4)]}),
        ([[(15, {A: 1, B: 2}), (30, {A: 3}), (45, {A: 4})]],
         {"a_total": [(15000, 1), (30000, 3), (45000, 4)], "b": [(15000, 2), (30000, "stale")]}),
        ([[(15, {A: 1, B: 2})], [(30, {A: 3})]],
         {"a_total": [(15000, 1), (30000, 3)], "b": [(15000, 2), (30000, "stale")]}),
        ([[(15, {A: 1}), (30, {}), (45, {A: 2}), (60, {})]],
         {"a_total": [(15000, 1), (30000, "stale"), (45000, 2), (60000, "stale")]}),
        ([[(15, {A: 1})], [(30, {})], [(45, {})]], {"a_total": [(15000, 1), (30000, "stale")]}),
        ([[(15, {A: 1, B: 2}), (30, {B: 4, A: 3})]],
         {"a_total": [(15000, 1), (30000, 3)], "b": [(15000, 2), (30000, 4)]}),
        ([[(0.5, {A: 1}), (1.75, {A: 2}), (1e9, {A: 3})]],
         {"a_total": [(500, 1), (1750, 2), (1000000000000, 3)]}),
        ([[(15, {A: 0}), (30, {A: math.inf}), (45, {A: -math.inf})]],
         {"a_total": [(15000, 0), (30000, math.inf), (45000, -math.inf)]}),
        ([[]], {}),
        ([[(15, {})]], {}),
    ],
)  # fmt: skip
def test_samples_and_markers(writer: SeriesWriter, sink: Sink, batches: Any, expected: Any) -> None:
    for batch in batches:
        writer.write(batch)
    assert sink.received() == expected


def test_not_a_number_is_not_a_marker(writer: SeriesWriter, sink: Sink) -> None:
    writer.write([(15, {A: math.nan})])
    ((_, value),) = sink.received()["a_total"]
    assert isinstance(value, float)
    assert math.isnan(value)


def test_replayed_batch_has_identical_bytes(writer: SeriesWriter, sink: Sink) -> None:
    batch = [(15.0, {A: 1.0, B: 2.0}), (30.0, {A: 3.0})]
    writer.write([(0.0, {A: 0.0, B: 0.0, make_series_id("c", {}): 0.0})])
    writer.write(batch)
    writer.write(batch)
    assert sink.bodies[1] == sink.bodies[2]
    writer.write(batch[1:])
    assert sink.received()["b"][-1] == (30000, "stale")
    assert (writer.alive, writer.last) == (frozenset({A}), 30.0)


def test_rejected_batch_can_be_retried(writer: SeriesWriter, sink: Sink) -> None:
    writer.write([(15, {A: 1, B: 1})])
    sink.answers = [httpx.Response(400, text="out of bounds\n")]
    with pytest.raises(MetricsError, match=r"http://prometheus/api/v1/write: .* \(400\): out of bounds$"):
        writer.write([(30, {A: 2})])
    assert (writer.alive, writer.last) == (frozenset({A, B}), 15)
    writer.write([(30, {A: 2})])
    assert sink.bodies[1] == sink.bodies[2]


@pytest.mark.parametrize(
    ("batch", "message"),
    [
        ([(30, {A: 1}), (30, {A: 1})], "must increase"),
        ([(45, {A: 1}), (30, {A: 1})], "must increase"),
        ([(7, {A: 1})], "before 15"),
    ],
)
def test_earlier_timestamp_is_refused(writer: SeriesWriter, batch: Any, message: str) -> None:
    writer.write([(15, {A: 1})])
    with pytest.raises(KitError, match=message):
        writer.write(batch)


def test_unreachable_prometheus_is_an_error() -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("connection refused", request=request)

    writer = SeriesWriter("http://prometheus", client=httpx.Client(transport=httpx.MockTransport(refuse)))
    with pytest.raises(MetricsError, match="is unreachable: connection refused"):
        writer.write([(15, {A: 1})])


def test_large_batches_are_cut_between_series(
    writer: SeriesWriter, sink: Sink, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote_write, "REQUEST_BYTES", 200)
    many = {make_series_id(f"m{i}", {"namespace": "shop"}): float(i) for i in range(20)}
    writer.write([(15, many), (30, many)])
    assert len(sink.bodies) > 3
    assert sink.received() == {name: [(15000, v), (30000, v)] for (name, _), v in many.items()}


def test_labels_of_ended_series_are_released(writer: SeriesWriter) -> None:
    for tick in range(5):
        writer.write([(15.0 * tick, {make_series_id(f"m{tick}_{i}", {}): 1.0 for i in range(900)})])
    assert len(writer._labels) < 3000


@pytest.mark.parametrize(("value", "encoded"), [(0, b"\x00"), (127, b"\x7f"), (128, b"\x80\x01"), (300, b"\xac\x02")])
def test_varint(value: int, encoded: bytes) -> None:
    assert encode_varint(value) == encoded


@pytest.fixture
def query(prometheus: str) -> Callable[..., Any]:
    def ask(expression: str, at: float) -> dict[str, float]:
        parameters = {"query": expression, "time": at}
        answer = httpx.get(f"{prometheus}/api/v1/query", params=parameters, trust_env=False).json()
        return {r["metric"].get("pod", ""): float(r["value"][1]) for r in answer["data"]["result"]}

    return ask


EPOCH = (time.time() - 5 * 86400) // 15 * 15


@pytest.mark.lab
class TestPrometheus:
    def test_stale_marker_ends_the_series(self, prometheus: str, query: Any) -> None:
        one, two = (make_series_id("stale_test", {"namespace": "n", "pod": pod}) for pod in ("one", "two"))
        writer = SeriesWriter(prometheus)
        writer.write([(EPOCH + 15 * i, {one: 1.0, two: 2.0} if i < 4 else {one: 1.0}) for i in range(8)])
        assert query("stale_test", EPOCH + 45) == {"one": 1.0, "two": 2.0}
        assert query("stale_test", EPOCH + 59) == {"one": 1.0, "two": 2.0}
        assert query("stale_test", EPOCH + 60) == {"one": 1.0}
        assert query('absent(stale_test{pod="two"})', EPOCH + 60) == {"two": 1.0}
        writer.write([(EPOCH + 120, {})])
        assert query("stale_test", EPOCH + 120) == {}
        writer.close()

    def test_interleaved_worlds_may_be_days_apart(self, prometheus: str, query: Any) -> None:
        worlds = {
            name: (SeriesWriter(prometheus), start) for name, start in (("now", EPOCH), ("then", EPOCH - 5 * 86400))
        }
        for step in range(0, 40, 10):
            for name, (writer, start) in worlds.items():
                series = make_series_id("ooo_total", {"namespace": name, "pod": name})
                writer.write([(start + 15 * i, {series: 30.0 * i}) for i in range(step, step + 10)])
        for name, (_, start) in worlds.items():
            assert query(f'rate(ooo_total{{namespace="{name}"}}[2m])', start + 39 * 15) == pytest.approx({name: 2.0})

    def test_replay_is_harmless(self, prometheus: str, query: Any) -> None:
        series = make_series_id("replay_total", {"namespace": "n", "pod": "p"})
        batch = [(EPOCH + 15 * i, {series: float(i)}) for i in range(20)]
        writer = SeriesWriter(prometheus)
        writer.write(batch)
        writer.write(batch)
        assert query("count_over_time(replay_total[5m])", EPOCH + 19 * 15) == {"p": 20.0}

    def test_too_old_sample_returns_the_prometheus_error(self, prometheus: str) -> None:
        writer = SeriesWriter(prometheus)
        # The window counts from the newest sample of the database, so there has to be one.
        writer.write([(EPOCH, {make_series_id("young", {"namespace": "n"}): 1.0})])
        with pytest.raises(MetricsError, match=r"rejected the samples \(400\): .*(too old|out of bounds)"):
            SeriesWriter(prometheus).write([(EPOCH - 40 * 86400, {make_series_id("old", {"namespace": "n"}): 1.0})])
