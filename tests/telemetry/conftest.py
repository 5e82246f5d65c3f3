"""One Prometheus, and a real collector for each configuration of the catalogue, started once and fed twice."""

from __future__ import annotations

import secrets
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import urllib3
import yaml

from scenario_kit.catalog import Catalog
from scenario_kit.clients.prometheus import PrometheusMetrics
from scenario_kit.errors import ToolchainError
from scenario_kit.lab import toolchain
from scenario_kit.model.runtime.trace import Span
from scenario_kit.render import render_app
from tests.telemetry import processes
from tests.telemetry.configurations import list_configurations
from tests.telemetry.feed import Feed
from tests.telemetry.spans import list_spans

CATALOG = Catalog()
CONFIGURATIONS = {each.name: each for each in list_configurations(CATALOG)}


@pytest.fixture(scope="session")
def otelcol() -> Path:
    """The real collector; without it the test is skipped."""
    try:
        return toolchain.resolve("otelcol")
    except ToolchainError as error:
        pytest.skip(f"{error.message}; ci/telemetry builds it and runs these tests")


@pytest.fixture(scope="session")
def fed(otelcol: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Feed]:
    """Every configuration's collector, with two waves of spans behind it, and what Prometheus has of them."""
    try:
        prometheus = toolchain.resolve("prometheus")
    except ToolchainError as error:
        pytest.skip(f"{error.message}; {error.fix}")
    folder = tmp_path_factory.mktemp("telemetry")
    of_apps = _list_app_spans()  # before a collector runs: it flushes every 15 s, and a wave is not to be cut in two
    network = f"127.{64 + secrets.randbelow(64)}.{secrets.randbelow(256)}"
    with ExitStack() as stack:
        absent = processes.find_absent_components(otelcol)
        sink = processes.start_collector(otelcol, processes.build_sink(f"{network}.1"), folder, "sink", f"{network}.1")
        stack.callback(sink.stop)
        collectors = {}
        for number, (name, each) in enumerate(CONFIGURATIONS.items(), start=2):
            text = processes.redirect(each.text, sink.host)
            document, stand_ins = processes.prune(yaml.safe_load(text), absent)
            host = f"{network}.{number}"
            collector = processes.start_collector(otelcol, document, folder, f"app-{number}", host, each.arguments)
            stack.callback(collector.stop)
            collector.configuration, collector.stand_ins = each, stand_ins
            collectors[name] = collector
        url = _start_prometheus(stack, prometheus, folder, processes.build_scrapes(collectors.values(), sink))
        with urllib3.PoolManager() as pool:
            for collector in collectors.values():
                processes.wait_until_healthy(collector, pool, f"http://{collector.host}:{processes.HEALTH_PORT}/")
        metrics = PrometheusMetrics(url)
        stack.callback(metrics.close)
        feed = Feed(metrics, collectors, sink, of_apps)
        feed.send_waves()
        yield feed


def _list_app_spans() -> dict[tuple[str, str], list[Span]]:
    apps = {(each.app.name, each.app.version): each.app for each in CONFIGURATIONS.values()}
    return {
        key: list_spans(app, render_app(app, {}, 50, "shop", templates=CATALOG.templates(app.name)))
        for key, app in apps.items()
    }


def _start_prometheus(stack: ExitStack, binary: Path, folder: Path, config: dict[str, Any]) -> str:
    (folder / "prometheus.yml").write_text(yaml.safe_dump(config))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{probe.getsockname()[1]}"
    command = [
        str(binary), f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
        f"--web.listen-address={url.removeprefix('http://')}",
    ]  # fmt: skip
    log = stack.enter_context((folder / "prometheus.log").open("wb"))
    process = subprocess.Popen(command, stdout=log, stderr=log)
    stack.callback(process.wait, 20)
    stack.callback(process.terminate)
    retries = urllib3.Retry(total=60, backoff_factor=0.05, backoff_max=0.5, status_forcelist=(503,))
    with urllib3.PoolManager(retries=retries) as pool:
        pool.request("GET", f"{url}/-/ready")
    return url


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "configuration" in metafunc.fixturenames:
        metafunc.parametrize("configuration", CONFIGURATIONS.values(), ids=lambda each: each.name)
