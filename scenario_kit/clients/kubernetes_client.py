"""The parts of the official client that are used: kubeconfig, service account, port forwarding.

Imported only where needed, see ``connection``.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import kubernetes.client
import kubernetes.config
import kubernetes.stream
import urllib3
import yaml
from websocket import WebSocketException

from scenario_kit.clients.connection import CONNECTIONS, LOOPBACK
from scenario_kit.clients.transport_errors import LIBRARY_ERRORS, translate_error
from scenario_kit.errors import ClusterError, NotFound
from scenario_kit.model import Reference

_SERVICE_ACCOUNT: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
#: All exceptions of the official client and its dependencies; a test checks that this is complete.
OFFICIAL_ERRORS: Final[tuple[type[Exception], ...]] = (
    kubernetes.client.OpenApiException,
    kubernetes.config.ConfigException,
    WebSocketException,
    *LIBRARY_ERRORS,
)
_CONFIGURATION_ERRORS: Final[tuple[type[Exception], ...]] = (*OFFICIAL_ERRORS, yaml.YAMLError, TypeError, ValueError)


class Official:
    """An ``ApiConnection`` for any kubeconfig.

    Args:
        kubeconfig: the file; None for ``KUBECONFIG``, the default file, or the pod's service account.
        context: a context of it; None for the current one.

    Raises:
        ClusterError: there is no usable configuration.
    """

    def __init__(self, kubeconfig: Path | None = None, context: str | None = None) -> None:
        self._configuration, self.namespace = _configure(kubeconfig, context)
        self._configuration.connection_pool_maxsize = CONNECTIONS
        if urlsplit(self._configuration.host).hostname in LOOPBACK:
            self._configuration.proxy = None  # a proxy cannot reach this machine's loopback
        self._client = kubernetes.client.ApiClient(self._configuration)
        self.url = str(self._configuration.host).rstrip("/")
        self.pool: urllib3.PoolManager = self._client.rest_client.pool_manager

    def headers(self) -> Mapping[str, str]:
        """See ``ApiConnection``."""
        headers = dict(self._client.default_headers)
        try:
            settings = self._configuration.auth_settings()
        except OFFICIAL_ERRORS as error:
            raise translate_error(error, f"credentials for {self.url}") from error
        for setting in settings.values():
            if setting["in"] == "header" and setting["value"]:
                headers[setting["key"]] = setting["value"]
        return headers

    def forward_port(self, pod: Reference, port: int) -> Any:
        """Forward a port of a pod; the caller closes it.

        Raises:
            ClusterError: the port cannot be forwarded; ``NotFound`` if the pod does not exist.
        """
        doing = f"forwarding port {port} of {pod}"
        try:
            core = kubernetes.client.CoreV1Api(self._client)
            return kubernetes.stream.portforward(
                core.connect_get_namespaced_pod_portforward, pod.name, pod.namespace, ports=str(port)
            )
        except kubernetes.client.ApiException as error:
            if "404" in f"{error.status} {error.reason}":
                raise NotFound(f"{doing}: {error.reason}", status=404) from error
            raise translate_error(error, doing) from error
        except OFFICIAL_ERRORS as error:
            raise translate_error(error, doing) from error

    def close(self) -> None:
        """Close the connections."""
        self._client.close()  # type: ignore[no-untyped-call]


def read_current_context() -> str:
    """Return the current context of the default kubeconfig; empty if there is none."""
    try:
        _, current = kubernetes.config.list_kube_config_contexts()  # type: ignore[no-untyped-call]
    except _CONFIGURATION_ERRORS:
        return ""
    return str(current["name"]) if current else ""


def read_endpoint(context: str) -> dict[str, str]:
    """Read the ``cluster`` of a context in kubeconfig format, without any credentials.

    Raises:
        ClusterError: the context does not exist, or does not verify the server.
    """
    configuration, _ = _configure(None, context)
    if not configuration.verify_ssl:
        fix = "give the cluster a certificate-authority instead of insecure-skip-tls-verify"
        raise ClusterError(f"the context '{context}' does not verify its API server", fix=fix)
    found = {"server": str(configuration.host)}
    if configuration.ssl_ca_cert:
        found["certificate-authority-data"] = base64.b64encode(Path(configuration.ssl_ca_cert).read_bytes()).decode()
    if configuration.tls_server_name:
        found["tls-server-name"] = str(configuration.tls_server_name)
    return found


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
        fix = "use an existing kubeconfig and context: kubectl config get-contexts"
        raise ClusterError(f"{where}, context '{context or 'current'}' cannot be used: {error}", fix=fix) from error
    chosen = next((c for c in contexts if c["name"] == context), current)
    return configuration, chosen["context"].get("namespace", "default")
