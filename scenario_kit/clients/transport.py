"""Authenticated JSON requests to an API server, with our errors."""

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

if TYPE_CHECKING:
    from scenario_kit.clients.kubernetes_client import Official

#: Seconds to connect, and seconds that an answer may take.
CONNECT_SECONDS = 5.0
READ_SECONDS = 30.0


class _Request(NamedTuple):
    """What is sent."""

    method: str
    path: str
    query: Mapping[str, str] | None
    payload: bytes | None = None
    content_type: str = "application/json"
    accept: str = "application/json"


class Transport:
    """Sends requests as one identity; safe to share between threads.

    Args:
        kubeconfig: the file; None means ``KUBECONFIG``, the default file, or the pod's service account.
        context: a context of it; None means its current one.
        as_user: whose rights count instead of the identity's own (impersonation, which RBAC has to allow).

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
        """The address of the API server."""
        return self._access.url

    @property
    def namespace(self) -> str:
        """The namespace of the context."""
        return self._access.namespace

    @cached_property
    def official(self) -> Official:
        """The same identity by the official client, for what goes over a websocket."""
        from scenario_kit.clients.kubernetes_client import Official  # an import that most commands should not pay

        return Official(*self._named)

    def get_proxied(self, path: str) -> tuple[int, ClusterError | None, str]:
        """Get a GET that the API server passes on: status, then (where the answer is the API server's own) its meaning.

        Raises:
            ClusterError: no answer at all.
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
        """Drop the connections."""
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
        """Send and decode.

        Raises:
            ClusterError: no answer, a refusal, or an answer that is not JSON.
        """
        data = self.raw(method, path, query, body, content_type, accept)
        try:
            return msgspec.json.decode(data)
        except msgspec.DecodeError as error:
            raise Unreachable(f"{method} {self.url}{path}: the answer is not JSON: {error}") from error

    def raw(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,
        body: Any = None,
        content_type: str = "application/json",
        accept: str = "application/json",
    ) -> bytes:
        """Send and return the body of a 2xx answer."""
        payload = None if body is None else msgspec.json.encode(body)
        request = _Request(method, path, query, payload, content_type, accept)
        return self._send(request, READ_SECONDS, stream=False).data

    def stream(self, path: str, query: Mapping[str, str], seconds: float) -> urllib3.BaseHTTPResponse:
        """Return an open GET whose body is read by the caller, who must close it; ``seconds`` may pass between two
        reads.
        """
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
        headers["User-Agent"] = "platform"  # it ends up in audit logs, and as a field manager where none is named
        if self._as_user:
            headers["Impersonate-User"] = self._as_user
        return headers


#: A request that never reached the server, or that it refused for load with Retry-After, is sent again; a write whose
#: answer was lost is not.
_RETRIES = urllib3.Retry(
    total=3, connect=2, read=1, status=3, redirect=0, other=0, backoff_factor=0.1, raise_on_status=False
)
