"""Real collectors and a real Prometheus that scrapes them, each on a loopback address of its own."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import urllib3
import yaml

from tests.telemetry.configurations import CollectorConfiguration

#: Components that the collector built from Go modules lacks: no module of theirs, or of something that they need, is
#: published in a version that fits and has a checksum. An official release has them all.
UNPUBLISHED: Final = frozenset(
    {"httpcheck", "kafkametrics", "memcached", "mongodb", "nginx", "opamp", "opensearch", "postgresql", "redis"}
)
#: What the configurations send data to, and what takes it here.
SINKS: Final = {"jaeger:4317": "{sink}:4317", "http://prometheus:9090/api/v1/otlp": "http://{sink}:4318"}
_GROUPS: Final = ("receivers", "exporters", "extensions")
_PATIENCE: Final = 60.0
_SECONDS_BETWEEN_LOOKS: Final = 0.3
HEALTH_PORT: Final = 13133
_OWN_METRICS: Final = 8889
_FIRST_PLACEHOLDER: Final = 20_000


@dataclass
class CollectorProcess:
    """A collector process: its address and log."""

    namespace: str
    host: str
    process: subprocess.Popen[bytes]
    log: Path
    configuration: CollectorConfiguration | None = None
    #: Ports that take what receivers would report which this collector lacks.
    stand_ins: Mapping[str, int] = field(default_factory=dict)

    def read_errors(self) -> list[str]:
        """Read the error lines of its log."""
        return [line for line in self.log.read_text(errors="replace").splitlines() if "\terror\t" in line]

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(20)


def find_absent_components(otelcol: Path) -> frozenset[str]:
    """Find which of ``UNPUBLISHED`` this collector lacks."""
    run = subprocess.run([otelcol, "components"], capture_output=True, text=True, timeout=60, check=True)
    listed = yaml.safe_load(run.stdout)
    known = {each["name"] for group in _GROUPS for each in listed.get(group) or ()}
    return UNPUBLISHED - known


def prune(document: Mapping[str, Any], absent: frozenset[str]) -> tuple[dict[str, Any], dict[str, int]]:
    """Remove the components of those types; an OTLP receiver stands in for each receiver that a pipeline has.

    Returns what is left, and the ports of those receivers by the names of the ones that they stand for.
    """
    out = {**document, **{group: _keep(document[group], absent) for group in _GROUPS}}
    gone = [name for name in document["receivers"] if name not in out["receivers"]]
    stand_ins = {name: port for port, name in enumerate(gone, start=_FIRST_PLACEHOLDER)}
    spelled = {name: f"otlp/{name.replace('/', '-')}" for name in gone}
    for name, port in stand_ins.items():
        protocols = {"http": {"endpoint": f"${{env:MY_POD_IP}}:{port}"}}
        out["receivers"][spelled[name]] = {"protocols": protocols}
    service = dict(document["service"])
    service["extensions"] = _keep(service["extensions"], absent)
    service["pipelines"] = {
        name: {
            **pipeline,
            "receivers": [spelled.get(each, each) for each in pipeline["receivers"]],
            "exporters": _keep(pipeline["exporters"], absent),
        }
        for name, pipeline in service["pipelines"].items()
    }
    return {**out, "service": service}, stand_ins


def _keep(components: Any, absent: frozenset[str]) -> Any:
    kept = [name for name in components if name.partition("/")[0] not in absent]
    return {name: components[name] for name in kept} if isinstance(components, Mapping) else kept


def start_collector(
    otelcol: Path, document: Mapping[str, Any], folder: Path, namespace: str, host: str, arguments: Iterable[str] = ()
) -> CollectorProcess:
    """Start a collector with the environment that its pod would have."""
    path = folder / f"{namespace}.yaml"
    path.write_text(yaml.safe_dump(document))
    log = folder / f"{namespace}.log"
    environment = {"PATH": os.environ["PATH"], "MY_POD_IP": host, "OTEL_K8S_NAMESPACE": namespace}
    with log.open("wb") as out:
        process = subprocess.Popen(
            [otelcol, f"--config={path}", *arguments], stdout=out, stderr=out, env=environment, cwd=folder
        )
    return CollectorProcess(namespace, host, process, log)


def build_sink(host: str) -> dict[str, Any]:
    """Build the configuration of a collector that takes what others send, and counts it."""
    pipeline = {"receivers": ["otlp"], "exporters": ["debug"]}
    own = {"prometheus": {"host": host, "port": _OWN_METRICS}}
    return {
        "receivers": {
            "otlp": {"protocols": {"grpc": {"endpoint": f"{host}:4317"}, "http": {"endpoint": f"{host}:4318"}}}
        },
        "exporters": {"debug": {}},
        "service": {
            "telemetry": {"metrics": {"readers": [{"pull": {"exporter": own}}]}},
            "pipelines": {"traces": pipeline, "metrics": pipeline, "logs": pipeline},
        },
    }


def build_scrapes(collectors: Iterable[CollectorProcess], sink: CollectorProcess) -> dict[str, Any]:
    """Build the configuration of a Prometheus that scrapes them all at short intervals."""
    targets = [f"{each.host}:8888" for each in collectors]
    own = [f"{sink.host}:{_OWN_METRICS}"]
    return {
        "global": {"scrape_interval": "1s", "scrape_timeout": "1s"},
        "scrape_configs": [
            # A rule reads the exporter's own `job`, which names the service.
            {"job_name": "collectors", "honor_labels": True, "static_configs": [{"targets": targets}]},
            {"job_name": "sink", "static_configs": [{"targets": own}]},
        ],
    }


def redirect(text: str, sink: str) -> str:
    """Redirect the exporters of a configuration to the sink; only loopback is available."""
    for address, here in SINKS.items():
        text = text.replace(f'"{address}"', f'"{here.format(sink=sink)}"')
    return text


def wait_until(condition: Callable[[], object], describe: Callable[[], str]) -> None:
    """Wait until the condition holds; fail with the description after a minute."""
    deadline, pause = time.monotonic() + _PATIENCE, threading.Event()
    while not condition():
        assert time.monotonic() < deadline, describe()
        pause.wait(_SECONDS_BETWEEN_LOOKS)


def wait_until_healthy(collector: CollectorProcess, pool: urllib3.PoolManager, url: str) -> None:
    """Wait until the collector answers there."""

    def answers() -> bool:
        assert collector.process.poll() is None, collector.log.read_text()[-3000:]
        try:
            return pool.request("GET", url, retries=urllib3.Retry(3, backoff_factor=0.2)).status == 200
        except urllib3.exceptions.HTTPError:
            return False

    wait_until(answers, lambda: f"{collector.namespace} did not start: {collector.log.read_text()[-3000:]}")
