"""The ``Metrics`` port on a Prometheus server."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

import msgspec
import requests
from prometheus_api_client import PrometheusConnect
from prometheus_api_client.exceptions import MetricValueConversionError, PrometheusApiClientException
from urllib3 import Retry
from urllib3.exceptions import HTTPError

from scenario_kit.errors import MetricsError
from scenario_kit.model import Object
from scenario_kit.ports import Series

_TIMEOUT_SECONDS = 30
#: Prometheus answers 400 to a query that it cannot read and 422 to one that it cannot evaluate.
_EVALUATION = (400, 422)

#: Every exception of the libraries below that may leave a query; a test keeps this list complete.
LIBRARY_ERRORS: tuple[type[Exception], ...] = (
    PrometheusApiClientException,
    MetricValueConversionError,
    requests.RequestException,
    HTTPError,
    OSError,
)


class PrometheusMetrics:
    """PromQL over HTTP; implements ``ports.Metrics`` and may be shared between threads.

    Args:
        url: the server's root, such as ``http://127.0.0.1:9090``.
    """

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        self._session = _Session()
        self._session.trust_env = urlsplit(url).hostname not in ("127.0.0.1", "localhost", "::1")
        retry = Retry(total=2, backoff_factor=0.1, status_forcelist=(502, 503, 504), raise_on_status=False)
        self._client = PrometheusConnect(self.url, retry=retry, session=self._session, timeout=_TIMEOUT_SECONDS)

    def close(self) -> None:
        """Drop the connections."""
        self._session.close()

    def range(self, expr: str, start: float, end: float, step: float) -> Sequence[Series]:
        """Evaluate at start, start + step … up to and including end."""
        exact = {"start": repr(start), "end": repr(end)}  # the library rounds to whole seconds

        def query() -> Any:
            first, last = datetime.fromtimestamp(start, UTC), datetime.fromtimestamp(end, UTC)
            return self._client.custom_query_range(expr, first, last, repr(step), params=exact)

        return [_series(item["metric"], item["values"]) for item in _translated(query, f"{self.url}: {expr}")]

    def instant(self, expr: str, at: float) -> Sequence[Series]:
        """Evaluate once; each series has one point. A scalar is a series without labels."""

        def query() -> Any:
            return self._client.custom_query(expr, params={"time": repr(at)})

        result = _translated(query, f"{self.url}: {expr}")
        if result and not isinstance(result[0], dict):
            return [_series({}, [result])]
        return [_series(item["metric"], [item["value"]]) for item in result]

    def alerts(self) -> Sequence[Object]:
        """The server's own view of pending and firing alerts, for display only: virtual trials are not in it."""

        def query() -> Any:
            answer = self._session.get(f"{self.url}/api/v1/alerts", timeout=_TIMEOUT_SECONDS)
            return answer.json()["data"]["alerts"]

        alerts: Sequence[Object] = _translated(query, f"{self.url}/api/v1/alerts")
        return alerts


class _Session(requests.Session):
    """Turns refusals into our errors where the server's own words are still at hand, and decodes fast."""

    def send(self, request: requests.PreparedRequest, **kwargs: Any) -> requests.Response:
        response = super().send(request, **kwargs)
        if response.status_code != 200:
            raise refused(response.status_code, response.content, str(response.url))
        response.json = lambda **_: msgspec.json.decode(response.content)  # type: ignore[method-assign]
        return response


def refused(status: int, body: bytes, url: str) -> MetricsError:
    """The error that an answer other than 200 stands for."""
    try:
        answer = msgspec.json.decode(body)
        text = f"{answer['errorType']}: {answer['error']}"
    except (msgspec.DecodeError, KeyError, TypeError):
        text = body[:300].decode("utf-8", "replace").strip()
    return MetricsError(f"Prometheus refused (HTTP {status}): {text}; asked: {url}", evaluation=status in _EVALUATION)


def _translated(query: Callable[[], Any], doing: str) -> Any:
    try:
        return query()
    except LIBRARY_ERRORS as error:
        fix = "check that Prometheus runs: scenario-kit lab status"
        raise MetricsError(f"{doing}: no answer from Prometheus: {error}", fix=fix) from error
    except (msgspec.DecodeError, KeyError, TypeError) as error:
        raise MetricsError(f"{doing}: the answer is not Prometheus's: {error!r}") from error


def _series(metric: Object, values: Sequence[Any]) -> Series:
    return Series(metric, [(float(at), float(value)) for at, value in values])
