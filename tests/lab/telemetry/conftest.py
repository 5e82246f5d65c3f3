from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
import yaml

from scenario_kit.errors import ToolchainError
from scenario_kit.lab.control_plane import prometheus as monitoring
from scenario_kit.lab.toolchain import resolve

CONFIG = {"global": {"scrape_interval": "15s", "evaluation_interval": "15s"}, "storage": monitoring.STORAGE}


@pytest.fixture(scope="session")
def binary() -> Callable[[str], Path]:
    """Finds an installed part of the toolchain; tests that need one that is missing are skipped."""

    def find(part: str) -> Path:
        try:
            return resolve(part)
        except ToolchainError as error:
            pytest.skip(f"{error.message}: {error.fix}")

    return find


@pytest.fixture(scope="session")
def prometheus(binary: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a Prometheus of our own, as the lab runs it."""
    folder = tmp_path_factory.mktemp("prometheus")
    (folder / "prometheus.yml").write_text(yaml.safe_dump(CONFIG))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    command = [
        str(binary("prometheus")), f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
        f"--web.listen-address=127.0.0.1:{port}", "--web.enable-remote-write-receiver",
        *monitoring.build_storage_flags(block_reload_seconds=1),
    ]  # fmt: skip
    with (folder / "log").open("w") as log, subprocess.Popen(command, stdout=log, stderr=log) as process:
        try:
            wait_until_ready(url, process, folder / "log")
            yield url
        finally:
            process.terminate()


def wait_until_ready(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 60
    with httpx.Client(trust_env=False, transport=httpx.HTTPTransport(retries=8)) as client:
        while process.poll() is None and time.monotonic() < deadline:
            try:
                if client.get(f"{url}/-/ready").is_success:
                    return
            except httpx.TransportError:
                continue
    raise RuntimeError(f"Prometheus did not become ready:\n{log.read_text()[-2000:]}")
