"""Authenticated JSON requests to an API server, with our exceptions."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlencode

import msgspec
import urllib3

from scenario_kit.clients import api_errors
from scenario_kit.clients.connection import ApiConnection, read_certificate
from scenario_kit.clients.transport_errors import LIBRARY_ERRORS, translate_error
from scenario_kit.errors import ClusterError, Unreachable
from scenario_kit.model.base import encode_json

if TYPE_CHECKING:
    from scenario_kit.clients.kubernetes_client import Official

#: Connect and read timeouts in seconds.
CONNECT_SECONDS = 5.0
READ_SECONDS = 30.0


class _Request(NamedTuple):
    """An HTTP request."""

    method: str
    path: str
    query: Mapping[str, str] | None
    payload: bytes | None = None
    content_type: str = "application/json"
    accept: str = "application/json"


class Transport:
    """Sends requests with one identity; thread-safe.

    Args:
        kubeconfig: the file; None for ``KUBECONFIG``, the default file, or the pod's service account.
        context: a context of it; None for the current one.
        as_user: the user to impersonate, which RBAC has to allow.

    Raises:
        ClusterError: there is no usable configuration.
    """

    def __init__(self, kubeconfig: Path | None = None, context: str | None = None, as_user: str = "") -> None:
        self._as_user = as_user
        self._named = (kubeconfig, context)
        self._access: ApiConnection = (read_certificate(kubeconfig, context) if kubeconfig else None) or self.official
        self._pool = self._access.pool

    @property
    def url(self) -> str:
        """The URL of the API server."""
        return self._access.url

    @property
    def namespace(self) -> str:
        """The namespace of the context."""
        return self._access.namespace

    @cached_property
    def official(self) -> Official:
        """The same identity with the official client, for websockets."""
        from scenario_kit.clients.kubernetes_client import Official  # slow; most commands do not need it

        return Official(*self._named)

    def get_proxied(self, path: str) -> tuple[int, ClusterError | None, str]:
        """Send a proxied GET; return its status, an error if the response is the API server's own, and the body.

        Raises:
            ClusterError: no response.
        """
        doing = f"GET {self.url}{path}"
        try:
            response = self._pool.request(
                "GET",
                f"{self.url}{path}",
                headers=self._headers("application/json", "*/*"),
                redirect=False,
                timeout=urllib3.Timeout(connect=CONNECT_SECONDS, read=READ_SECONDS),
                retries=False,
            )
        except LIBRARY_ERRORS as error:
            raise translate_error(error, doing) from error
        own = response.status >= 300 and api_errors.is_own(response.data)
        error_ = api_errors.build_error(response.status, response.data, doing) if own else None
        return response.status, error_, error_.message if error_ else ""

    def close(self) -> None:
        """Close the connections."""
        self._pool.clear()
        if "official" in self.__dict__:
            self.official.close()

    def json(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,
        body: Any = None,
        content_type: str = "application/json",
        accept: str = "application/json",
    ) -> Any:
        """Send a request and decode the response.

        Raises:
            ClusterError: no response, an error, or a response that is not JSON.
        """
        data = self.raw(method, path, query, body, content_type, accept)
        try:
            return msgspec.json.decode(data)
        except msgspec.DecodeError as error:
            raise Unreachable(f"{method} {self.url}{path}: the response is not JSON: {error}") from error

    def raw(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,
        body: Any = None,
        content_type: str = "application/json",
        accept: str = "application/json",
    ) -> bytes:
        """Send a request; return the body of a 2xx response."""
        payload = None if body is None else encode_json(body)
        request = _Request(method, path, query, payload, content_type, accept)
        return self._send(request, READ_SECONDS, stream=False).data

    def stream(self, path: str, query: Mapping[str, str], seconds: float) -> urllib3.BaseHTTPResponse:
        """Open a GET whose body the caller reads and closes; ``seconds`` is the timeout of each read."""
        return self._send(_Request("GET", path, query), seconds, stream=True)

    def _send(self, request: _Request, read_seconds: float, *, stream: bool) -> urllib3.BaseHTTPResponse:
        doing = f"{request.method} {self.url}{request.path}"
        try:
            response = self._pool.request(
                request.method,
                f"{self.url}{request.path}{'?' + urlencode(request.query) if request.query else ''}",
                body=request.payload,
                headers=self._headers(request.content_type, request.accept),
                preload_content=not stream,
                redirect=False,
                timeout=urllib3.Timeout(connect=CONNECT_SECONDS, read=read_seconds),
                retries=_RETRIES,
            )
            if response.status < 300:
                return response
            data = response.data
            response.release_conn()
        except LIBRARY_ERRORS as error:
            raise translate_error(error, doing) from error
        raise api_errors.build_error(response.status, data, doing)

    def _headers(self, content_type: str, accept: str) -> dict[str, str]:
        headers = {"Accept": accept, "Content-Type": content_type, **self._access.headers()}
        headers["User-Agent"] = "platform"  # appears in audit logs, and as the default field manager
        if self._as_user:
            headers["Impersonate-User"] = self._as_user
        return headers


class _Retries(urllib3.Retry):
    """Retries any request, writes included, that the server rejected with Retry-After, since it was not processed."""

    def is_retry(self, method: str, status_code: int, has_retry_after: bool = False) -> bool:
        """See ``urllib3.Retry``, which repeats no POST and no PATCH."""
        del method
        return has_retry_after and status_code in self.RETRY_AFTER_STATUS_CODES


#: Requests that never reached the server, or were rejected for load with Retry-After, are retried; a write without a
#: response is not.
_RETRIES = _Retries(
    total=3, connect=2, read=1, status=3, redirect=0, other=0, backoff_factor=0.1, raise_on_status=False
)
