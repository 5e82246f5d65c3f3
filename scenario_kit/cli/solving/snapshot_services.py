"""Services that replace a lab for snapshots: an API server for kubectl, Prometheus, and Jaeger's API."""

from __future__ import annotations

import contextlib
import secrets
import shutil
import ssl
import subprocess
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import httpx
import yaml

from scenario_kit.clients.prometheus import PrometheusMetrics
from scenario_kit.errors import LabError
from scenario_kit.lab import toolchain
from scenario_kit.lab.control_plane.prometheus import QUERY_SECONDS, STORAGE, build_storage_flags
from scenario_kit.lab.host import loopback
from scenario_kit.lab.host.addresses import LOOPBACK, find_free_ports
from scenario_kit.lab.host.http_server import Answer, Request, build_refusal, create_server
from scenario_kit.lab.telemetry.prometheus_access import locate_prometheus_tls, write_web_configuration
from scenario_kit.lab.telemetry.remote_write import SeriesWriter
from scenario_kit.lab.tracing.jaeger import TraceSource, reply
from scenario_kit.load.atomic_file import write_private
from scenario_kit.model.kubernetes.kubeconfig import build_kubeconfig
from scenario_kit.ports import Series
from scenario_kit.solver.gateway.answers import ToolAnswer
from scenario_kit.solver.gateway.kubectl_command import KubectlCommand
from scenario_kit.solver.gateway.kubectl_process import Kubectl, KubectlProcess
from scenario_kit.solver.offline.api_server import ApiRequest, SnapshotApi
from scenario_kit.solver.offline.evidence import SnapshotEvidence

_START_SECONDS: Final = 30.0
_POLL_SECONDS: Final = 0.05
#: Verbs that need a running cluster, and alternatives.
_NOT_RECORDED: Final = {
    "auth": "a recording can be read, and nothing else",
    "explain": "kubectl get -o yaml shows the fields that objects have",
    "top": "get_metrics: container_memory_working_set_bytes, rate(container_cpu_usage_seconds_total[5m])",
}


#: Read-only subcommands of verbs that write.
_READING: Final = (("rollout", "history"), ("rollout", "status"))


class SnapshotTraces:
    """Implements ``solver.gateway.traces.TraceStore`` over a snapshot."""

    def __init__(self, evidence: SnapshotEvidence) -> None:
        self._source = TraceSource(evidence.now, evidence.list_traces)

    def ask(self, path: str, query: str = "") -> tuple[int, dict[str, Any]]:
        """Query a path; see ``TraceStore``."""
        status, document = reply(self._source, path, query)
        return status, dict(document)


class SnapshotKubectl:
    """kubectl against the objects of a snapshot, served by an API server of this process on loopback.

    The token is part of the address, since kubectl sends none without TLS; requests without it are refused.
    """

    def __init__(self, evidence: SnapshotEvidence, folder: Path) -> None:
        token = secrets.token_urlsafe(24)
        api = SnapshotApi(evidence.objects, lambda pod, since: evidence.logs(pod, since=since), evidence.now)
        self._server = create_server(lambda request: _answer(api, token, request), 0, name="snapshot")
        threading.Thread(target=self._server.serve_forever, daemon=True, name="snapshot-api").start()
        kubeconfig = folder / "kubeconfig"
        address = f"http://{LOOPBACK}:{self._server.server_address[1]}/{token}"
        home = next(iter(evidence.namespaces), "default")
        document = build_kubeconfig("snapshot", {"server": address}, ("solver", {}), home)
        write_private(kubeconfig, yaml.safe_dump(document).encode())
        self._kubectl: Kubectl = KubectlProcess(toolchain.resolve("kubectl"), kubeconfig, home)

    def run(self, command: KubectlCommand) -> ToolAnswer:
        """Run one command; commands that change anything are rejected."""
        if command.writes and command.arguments[:2] not in _READING:
            text = f"error: kubectl {command.verb}: this is a recording, which is read-only"
            return ToolAnswer(content=text, ok=False)
        if instead := _NOT_RECORDED.get(command.verb):
            return ToolAnswer(content=f"error: a recording knows no kubectl {command.verb}\nfix: {instead}", ok=False)
        return self._kubectl.run(command)

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()


def _answer(api: SnapshotApi, token: str, request: Request) -> Answer:
    given, _, path = request.path.removeprefix("/").partition("/")
    if not secrets.compare_digest(given.encode(), token.encode()):
        return build_refusal(403, "this is for one solver alone")
    api_request = ApiRequest(request.method, f"/{path}", request.query, request.headers.get("accept", ""))
    return Answer(*api.answer(api_request))


class SnapshotMetrics:
    """Implements ``ports.Metrics`` with a dedicated Prometheus, which starts on the first query."""

    def __init__(self, evidence: SnapshotEvidence, folder: Path) -> None:
        self._evidence = evidence
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self._metrics: PrometheusMetrics | None = None

    def range(self, expr: str, start: float, end: float, step: float) -> Sequence[Series]:
        """Evaluate at start, start + step … up to and including end."""
        return self._open().range(expr, start, end, step)

    def instant(self, expr: str, at: float) -> Sequence[Series]:
        """Evaluate once."""
        return self._open().instant(expr, at)

    def close(self) -> None:
        """Stop Prometheus; the caller removes the folder with its data."""
        if self._metrics is not None:
            self._metrics.close()
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def _open(self) -> PrometheusMetrics:
        """Start Prometheus and load the samples.

        Raises:
            LabError: it is not installed, or does not start.
        """
        if self._metrics is not None:
            return self._metrics
        (port,) = find_free_ports(1)
        address = f"{LOOPBACK}:{port}"
        self._process = self._start(address)
        url, tls = f"https://{address}", locate_prometheus_tls(self._folder).build_client_context()
        _await_ready(f"{url}/-/ready", tls, self._process, self._folder / "prometheus.log")
        writer = SeriesWriter(url, tls=tls)
        try:
            writer.write_history(self._evidence.read_series(), self._evidence.now)
        finally:
            writer.close()
        self._metrics = PrometheusMetrics(url, tls)
        return self._metrics

    def _start(self, address: str) -> subprocess.Popen[bytes]:
        configuration = self._folder / "prometheus.yml"
        configuration.write_text(yaml.safe_dump({"storage": STORAGE}), encoding="utf-8")
        # Killed together with this process.
        guard = ["setpriv", "--pdeathsig", "KILL"] if shutil.which("setpriv") else []
        command = [
            *guard, str(toolchain.resolve("prometheus")), f"--config.file={configuration}",
            f"--web.listen-address={address}", f"--web.config.file={write_web_configuration(self._folder)}",
            f"--storage.tsdb.path={self._folder / 'data'}",
            *build_storage_flags(), "--web.enable-remote-write-receiver", f"--query.timeout={QUERY_SECONDS}s",
            "--log.level=warn",
        ]  # fmt: skip
        with (self._folder / "prometheus.log").open("wb") as log:
            return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)


def _await_ready(url: str, tls: ssl.SSLContext, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + _START_SECONDS
    with loopback.create_client(tls, timeout=2.0) as client:
        while time.monotonic() < deadline and process.poll() is None:
            with contextlib.suppress(httpx.HTTPError):
                if client.get(url).status_code == httpx.codes.OK:
                    return
            time.sleep(_POLL_SECONDS)
    process.kill()
    raise LabError(f"Prometheus does not start: {log.read_text(errors='replace')[-500:]}", fix="scenario-kit doctor")
