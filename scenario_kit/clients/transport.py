"""Authenticated JSON requests to an API server: the official client's configuration, its connections, our errors."""

from __future__ import annotations

import os
import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import kubernetes.client
import kubernetes.config
import msgspec
import urllib3
import yaml

from scenario_kit.clients import refusal
from scenario_kit.errors import ClusterError, Unreachable

#: Seconds to connect, and seconds that an answer may take.
CONNECT_SECONDS = 5.0
READ_SECONDS = 30.0
_CONNECTIONS = 32
_SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
_LOOPBACK = ("127.0.0.1", "localhost", "::1")

#: Every exception of the libraries below that may leave a request; a test keeps this list complete.
LIBRARY_ERRORS: tuple[type[Exception], ...] = (
    urllib3.exceptions.HTTPError,
    urllib3.exceptions.ProxySchemeUnsupported,  # the one that is no HTTPError
    kubernetes.client.OpenApiException,
    kubernetes.config.ConfigException,
    ssl.SSLError,
    OSError,
)
_CONFIGURATION_ERRORS: tuple[type[Exception], ...] = (*LIBRARY_ERRORS, yaml.YAMLError, TypeError, ValueError)


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
        self._configuration, self.namespace = _configure(kubeconfig, context)
        self._configuration.connection_pool_maxsize = _CONNECTIONS
        if urlsplit(self._configuration.host).hostname in _LOOPBACK:
            self._configuration.proxy = None  # a proxy of the environment cannot reach this machine's loopback
        self._client = kubernetes.client.ApiClient(self._configuration)
        self._pool: urllib3.PoolManager = self._client.rest_client.pool_manager

    @property
    def url(self) -> str:
        """The address of the API server."""
        return str(self._configuration.host).rstrip("/")

    @property
    def client(self) -> Any:
        """The official client, for what goes over a websocket."""
        return self._client

    def proxied(self, path: str) -> tuple[int, ClusterError | None, str]:
        """A GET that the API server passes on: status, then (where the answer is the API server's own) its meaning.

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
            raise unreachable(error, doing) from error
        own = response.status >= 300 and refusal.is_own(response.data)
        error_ = refusal.of_status(response.status, response.data, doing) if own else None
        return response.status, error_, error_.message if error_ else ""

    def close(self) -> None:
        """Drop the connections."""
        self._client.close()  # type: ignore[no-untyped-call]

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
        response = self._send(method, path, query, payload, content_type, accept, READ_SECONDS, stream=False)
        return response.data

    def stream(self, path: str, query: Mapping[str, str], seconds: float) -> urllib3.BaseHTTPResponse:
        """An open GET whose body is read by the caller, who must close it; ``seconds`` may pass between two reads."""
        return self._send("GET", path, query, None, "application/json", "application/json", seconds, stream=True)

    def _send(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None,
        payload: bytes | None,
        content_type: str,
        accept: str,
        read_seconds: float,
        *,
        stream: bool,
    ) -> urllib3.BaseHTTPResponse:
        doing = f"{method} {self.url}{path}"
        try:
            response = self._pool.request(
                method,
                f"{self.url}{path}{'?' + urlencode(query) if query else ''}",
                body=payload,
                headers=self._headers(content_type, accept),
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
            raise unreachable(error, doing) from error
        raise refusal.of_status(response.status, data, doing)

    def _headers(self, content_type: str, accept: str) -> dict[str, str]:
        headers = {"Accept": accept, "Content-Type": content_type, "User-Agent": "platform"}
        headers.update(self._client.default_headers)
        headers["User-Agent"] = "platform"  # it ends up in audit logs, and as a field manager where none is named
        if self._as_user:
            headers["Impersonate-User"] = self._as_user
        for setting in self._configuration.auth_settings().values():
            if setting["in"] == "header" and setting["value"]:
                headers[setting["key"]] = setting["value"]
        return headers


#: A request that never reached the server, or that it refused for load with Retry-After, is sent again; a write whose
#: answer was lost is not.
_RETRIES = urllib3.Retry(
    total=3, connect=2, read=1, status=3, redirect=0, other=0, backoff_factor=0.1, raise_on_status=False
)


def unreachable(error: Exception, doing: str) -> Unreachable:
    """The error of our tree for a library's exception: whatever happened, the server gave no usable answer."""
    cause = error.reason if isinstance(error, urllib3.exceptions.MaxRetryError) and error.reason else error
    fix = "check that the API server runs ('scenario-kit lab status', or kubectl cluster-info)"
    return Unreachable(f"{doing}: no answer: {cause}", fix=fix)


def current_context() -> str:
    """The context that the default kubeconfig names as current; empty where there is none."""
    try:
        _, current = kubernetes.config.list_kube_config_contexts()  # type: ignore[no-untyped-call]
    except _CONFIGURATION_ERRORS:
        return ""
    return str(current["name"]) if current else ""


def _configure(kubeconfig: Path | None, context: str | None) -> tuple[Any, str]:
    configuration = kubernetes.client.Configuration()
    inside = "KUBERNETES_SERVICE_HOST" in os.environ and _SERVICE_ACCOUNT.exists()
    where = str(kubeconfig) if kubeconfig else "the default kubeconfig"
    try:
        if kubeconfig is None and context is None and inside:
            kubernetes.config.load_incluster_config(client_configuration=configuration)  # type: ignore[no-untyped-call]
            return configuration, _SERVICE_ACCOUNT.read_text("utf-8").strip()
        file = str(kubeconfig) if kubeconfig else None
        kubernetes.config.load_kube_config(file, context, configuration, persist_config=False)  # type: ignore[no-untyped-call]
        contexts, current = kubernetes.config.list_kube_config_contexts(file)  # type: ignore[no-untyped-call]
    except _CONFIGURATION_ERRORS as error:
        fix = "name a kubeconfig and a context that exist: kubectl config get-contexts"
        raise ClusterError(f"{where}, context '{context or 'current'}' cannot be used: {error}", fix=fix) from error
    chosen = next((c for c in contexts if c["name"] == context), current)
    return configuration, chosen["context"].get("namespace", "default")
