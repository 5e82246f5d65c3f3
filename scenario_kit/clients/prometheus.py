"""The ``Metrics`` port on a Prometheus server."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar
from urllib.parse import urlencode

import msgspec
import urllib3

from scenario_kit.clients.connection import create_pool
from scenario_kit.clients.transport_errors import LIBRARY_ERRORS
from scenario_kit.errors import MetricsError
from scenario_kit.model import Object
from scenario_kit.ports import Series

_T = TypeVar("_T")
_TIMEOUT_SECONDS = 30
#: Prometheus returns 400 for an invalid query, and 422 for one that it cannot evaluate.
_EVALUATION = (400, 422)
#: Types of errors of a query that takes too long.
_SLOW: Final = ("timeout", "canceled")
#: A query changes nothing, so it is retried after a gateway error.
_RETRIES: Final = urllib3.Retry(
    total=2, backoff_factor=0.1, status_forcelist=(502, 503, 504), raise_on_status=False, redirect=False
)


class PrometheusMetrics:
    """PromQL over HTTP; implements ``ports.Metrics``; thread-safe.

    Args:
        url: the server's root, such as ``http://127.0.0.1:9090``.
        tls: trusted authorities and the client certificate; by default the system's authorities and none.
    """

    def __init__(self, url: str, tls: ssl.SSLContext | None = None) -> None:
        self.url = url.rstrip("/")
        self._pool = create_pool(self.url, tls)

    def close(self) -> None:
        """Close the connections."""
        self._pool.clear()

    def range(self, expr: str, start: float, end: float, step: float) -> Sequence[Series]:
        """Evaluate at start, start + step … up to and including end."""
        exact = {"start": repr(start), "end": repr(end), "step": repr(step)}
        data = self._ask("query_range", {"query": expr, **exact})
        return self._read(expr, lambda: [_parse_series(item["metric"], item["values"]) for item in data["result"]])

    def instant(self, expr: str, at: float) -> Sequence[Series]:
        """Evaluate once; each series has one point. A scalar is a series without labels."""
        data = self._ask("query", {"query": expr, "time": repr(at)})

        def series() -> Sequence[Series]:
            result = data["result"]
            if result and not isinstance(result[0], dict):
                return [_parse_series({}, [result])]
            return [_parse_series(item["metric"], [item["value"]]) for item in result]

        return self._read(expr, series)

    def alerts(self) -> Sequence[Object]:
        """Return the server's own pending and firing alerts, for display only: virtual trials are not included."""
        data = self._ask("alerts", {})
        return self._read("alerts", lambda: data["alerts"])

    def _ask(self, endpoint: str, query: dict[str, str]) -> Any:
        """Return the ``data`` of a response.

        Raises:
            MetricsError: no response, an error, or a response that is not Prometheus'.
        """
        url = f"{self.url}/api/v1/{endpoint}"
        address = f"{url}?{urlencode(query)}" if query else url
        try:
            response = self._pool.request("GET", address, timeout=_TIMEOUT_SECONDS, retries=_RETRIES)
            body = response.data
        except LIBRARY_ERRORS as error:
            fix = "check that Prometheus runs: scenario-kit lab status"
            raise MetricsError(f"{self.url}: no response from Prometheus: {error}", fix=fix) from error
        if response.status != 200:
            raise build_error(response.status, body, address)
        return self._read(url, lambda: msgspec.json.decode(body)["data"])

    def _read(self, url: str, decode: Callable[[], _T]) -> _T:
        try:
            return decode()
        except (msgspec.DecodeError, KeyError, TypeError, ValueError) as error:
            raise MetricsError(f"{self.url}: {url}: not a response of Prometheus: {error!r}") from error


def build_error(status: int, body: bytes, url: str) -> MetricsError:
    """Build the exception for a response other than 200."""
    slow = False
    try:
        answer = msgspec.json.decode(body)
        text, slow = f"{answer['errorType']}: {answer['error']}", answer["errorType"] in _SLOW
    except (msgspec.DecodeError, KeyError, TypeError):
        text = body[:300].decode("utf-8", "replace").strip()
    refused = f"Prometheus refused (HTTP {status}): {text}; asked: {url}"
    return MetricsError(refused, evaluation=status in _EVALUATION, slow=slow)


def _parse_series(metric: Object, values: Sequence[Any]) -> Series:
    return Series(metric, [(float(at), float(value)) for at, value in values])
