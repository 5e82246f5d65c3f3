"""Prometheus remote write, version 1: many ticks of many series in few requests, with stale markers.

Format: https://prometheus.io/docs/specs/prw/remote_write_spec/. Messages are assembled from bytes, since labels never
change and samples have a fixed length; a general encoder would take more time than Prometheus does.
"""

from __future__ import annotations

import ssl
import struct
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby, pairwise

import cramjam
import httpx
import numpy as np

from scenario_kit.errors import KitError, MetricsError
from scenario_kit.lab.host import loopback
from scenario_kit.model.runtime.process import SeriesId
from scenario_kit.ports import Series

#: The stale marker: one particular NaN. It is only copied; arithmetic would turn it into another NaN.
STALE = struct.pack("<Q", 0x7FF0000000000002)

#: The approximate size limit of a request, in bytes before compression.
REQUEST_BYTES = 4 * 2**20

#: Seconds without a point after which a recorded series has ended.
_SILENCE = 60.0

_HEADERS = {
    "Content-Encoding": "snappy",
    "Content-Type": "application/x-protobuf",
    "X-Prometheus-Remote-Write-Version": "0.1.0",
}

Tick = tuple[float, Mapping[SeriesId, float]]


class SeriesWriter:
    """Write the series of one world, with a stale marker for each series that ends.

    Ticks must increase. The last batch, or its tail, may be written again; the bytes are identical.
    """

    def __init__(
        self, prometheus_url: str, *, tls: ssl.SSLContext | None = None, client: httpx.Client | None = None
    ) -> None:
        self._url = f"{prometheus_url.rstrip('/')}/api/v1/write"
        self._client = client or loopback.create_client(tls, timeout=60.0)
        self._alive: Sequence[SeriesId] = ()
        self._before: dict[float, Sequence[SeriesId]] = {}
        self._last: float | None = None
        self._labels: dict[SeriesId, bytes] = {}
        self._prepared: tuple[Collection[SeriesId], Sequence[bytes]] = ((), ())

    @property
    def alive(self) -> frozenset[SeriesId]:
        """The series of the last tick."""
        return frozenset(self._alive)

    @property
    def last(self) -> float | None:
        """The time of the last accepted tick."""
        return self._last

    def write(self, batch: Sequence[Tick]) -> None:
        """Write ticks, each with its complete set of series; a tick without series ends all of them.

        State advances only after everything was accepted, so a failed batch can be written again unchanged.

        Raises:
            MetricsError: Prometheus is unreachable or rejected the batch; contains its message. If the batch took
                several requests, some may have been accepted.
            KitError: the ticks do not increase.
        """
        if not batch:
            return
        alive = self._resume(batch)
        before: dict[float, Sequence[SeriesId]] = {}
        chunks: dict[SeriesId, list[bytes]] = {}
        markers: list[tuple[float, list[SeriesId]]] = []
        steps: list[tuple[float, Sequence[SeriesId], Mapping[SeriesId, float]]] = []
        for at, samples in batch:
            before[at] = alive
            keys = list(samples)
            # Comparing lists of identical tuples compares addresses only; hashing every series would cost far more.
            if keys == alive:
                keys = alive
            else:
                markers.append((at, [series for series in alive if series not in samples]))
            steps.append((at, keys, samples))
            alive = keys
        pending = dict(markers)
        runs = [list(run) for _, run in groupby(steps, key=lambda step: (id(step[1]), len(_encode_timestamp(step[0]))))]
        if len(runs) == 1 and not any(pending.values()):
            self._send(zip(self._encode_labels(alive), _encode_samples(steps), strict=True))
        else:
            for ticks in runs:
                for series in pending.get(ticks[0][0], ()):
                    chunks.setdefault(series, []).append(_sample(STALE, ticks[0][0]))
                if ticks[0][1]:
                    for series, encoded in zip(ticks[0][1], _encode_samples(ticks), strict=True):
                        chunks.setdefault(series, []).append(encoded)
            self._send(zip(self._encode_labels(list(chunks)), map(b"".join, chunks.values()), strict=True))
        self._alive, self._before, self._last = alive, before, batch[-1][0]
        if len(self._labels) > 2 * len(self._alive) + 1000:
            self._labels = {series: self._labels[series] for series in self._alive}

    def write_history(self, series: Iterable[Series], end: float) -> None:
        """Write whole series, each by itself, into a Prometheus that is for nothing else.

        Points are in order of time. A series whose last point lies more than ``_SILENCE`` seconds before ``end`` is
        marked as ended that long after it.

        Raises:
            MetricsError: Prometheus is unreachable or rejected something.
        """
        self._send(_encode_history(each, end) for each in series if each.points)

    def close(self) -> None:
        """Close the connection without ending the series; to end them, write an empty tick first."""
        self._client.close()

    def _resume(self, batch: Sequence[Tick]) -> Sequence[SeriesId]:
        times = [at for at, _ in batch]
        if any(later <= earlier for earlier, later in pairwise(times)):
            raise KitError(f"remote write: the ticks of a batch must increase, got {times}")
        if self._last is None or times[0] > self._last:
            return self._alive
        if times[0] in self._before:
            return self._before[times[0]]
        raise KitError(f"remote write: tick {times[0]} is before {self._last} and not part of the last batch")

    def _encode_labels(self, keys: Collection[SeriesId]) -> Sequence[bytes]:
        """Encode the labels of each series; usually the series are those of the last batch."""
        if keys is not self._prepared[0]:
            self._prepared = (keys, [self._label(series) for series in keys])
        return self._prepared[1]

    def _label(self, series: SeriesId) -> bytes:
        labels = self._labels.get(series)
        if labels is None:
            labels = self._labels[series] = encode_labels(series)
        return labels

    def _send(self, chunks: Iterable[tuple[bytes, bytes]]) -> None:
        """Send series as pairs of encoded labels and samples."""
        parts: list[bytes] = []
        size = 0
        for labels, samples in chunks:
            length = len(labels) + len(samples)
            parts += (_encode_head(length), labels, samples)
            size += length
            if size >= REQUEST_BYTES:
                self._post(b"".join(parts))
                parts, size = [], 0
        if parts:
            self._post(b"".join(parts))

    def _post(self, message: bytes) -> None:
        data = bytes(cramjam.snappy.compress_raw(message))
        try:
            response = self._client.post(self._url, content=data, headers=_HEADERS)
        except httpx.HTTPError as error:
            raise MetricsError(
                f"{self._url}: Prometheus is unreachable: {error or type(error).__name__}",
                fix="run `scenario-kit lab status`; Prometheus may have crashed",
            ) from error
        if not response.is_success:
            raise MetricsError(
                f"{self._url}: Prometheus rejected the samples ({response.status_code}): {response.text.strip()}"
            )


def _encode_history(series: Series, end: float) -> tuple[bytes, bytes]:
    """Encode a series and all of its points, with a stale marker where it stopped before the end."""
    labels = tuple((key, value) for key, value in series.labels.items() if key != "__name__")
    samples = [_sample(struct.pack("<d", value), at) for at, value in series.points]
    last = series.points[-1][0]
    if end - last > _SILENCE:
        samples.append(_sample(STALE, last + _SILENCE))
    return encode_labels((series.labels["__name__"], labels)), b"".join(samples)


def encode_labels(series: SeriesId) -> bytes:
    """Encode the labels of a ``TimeSeries`` message, sorted by name, including the metric name."""
    name, labels = series
    return b"".join(_label(key, value) for key, value in sorted([("__name__", name), *labels]))


def encode_varint(value: int) -> bytes:
    """Encode a number as a protobuf varint."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


@lru_cache(maxsize=4096)
def _encode_head(length: int) -> bytes:
    """Encode the tag and length of a ``TimeSeries`` message."""
    return b"\x0a" + encode_varint(length)


def _label(key: str, value: str) -> bytes:
    body = _encode_field(b"\x0a", key.encode()) + _encode_field(b"\x12", value.encode())
    return _encode_field(b"\x0a", body)


def _encode_field(tag: bytes, body: bytes) -> bytes:
    return tag + encode_varint(len(body)) + body


def _encode_timestamp(at: float) -> bytes:
    return b"\x10" + encode_varint(round(at * 1000))


def _sample(value: bytes, at: float) -> bytes:
    return _encode_field(b"\x12", b"\x09" + value + _encode_timestamp(at))


def _encode_samples(ticks: Sequence[tuple[float, Sequence[SeriesId], Mapping[SeriesId, float]]]) -> Iterator[bytes]:
    """Encode the samples of each series; all ticks have the same series and timestamps of the same length."""
    tails = [_encode_timestamp(at) for at, _, _ in ticks]
    values = np.array([list(samples.values()) for _, _, samples in ticks], dtype="<f8").T
    width = 11 + len(tails[0])
    rows = np.empty((*values.shape, width), dtype=np.uint8)
    rows[:, :, :3] = (0x12, width - 2, 0x09)
    rows[:, :, 3:11] = np.ascontiguousarray(values).view(np.uint8).reshape(*values.shape, 8)
    rows[:, :, 11:] = np.frombuffer(b"".join(tails), dtype=np.uint8).reshape(len(tails), -1)
    data = rows.tobytes()
    length = len(ticks) * width
    for start in range(0, len(data), length):
        yield data[start : start + length]
