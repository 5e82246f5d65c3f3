"""Fixtures that several folders share: a real API server and what talks to it."""

from __future__ import annotations

import os
import socket
import subprocess
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import urllib3

from scenario_kit.clients import KubeCluster
from scenario_kit.errors import ToolchainError
from scenario_kit.lab import toolchain

_PARTS = ("etcd", "kube-apiserver")


@pytest.fixture(scope="session")
def binary() -> Callable[[str], Path]:
    """Locate a part of the toolchain; skip the test if it is not installed."""

    def find(part: str) -> Path:
        try:
            return toolchain.resolve(part)
        except ToolchainError as error:
            pytest.skip(f"{error.message}; {error.fix}")

    return find


@pytest.fixture(scope="session")
def api_server(binary: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The kubeconfig of a real API server on etcd: no controllers, no scheduler, no nodes, loopback only."""
    with run_control_plane(binary, tmp_path_factory.mktemp("api-server")) as kubeconfig:
        yield kubeconfig


@contextmanager
def run_control_plane(
    binary: Callable[[str], Path], folder: Path, *, components: tuple[str, ...] = _PARTS
) -> Iterator[Path]:
    """Run a control plane of these components on loopback, and give its kubeconfig."""
    kwokctl, *_ = found = [binary(part) for part in ("kwokctl", *components)]
    binaries = [text for part, path in zip(components, found[1:], strict=True) for text in (f"--{part}-binary", path)]
    settings = folder / "kwokctl.yaml"
    settings.write_text(
        "kind: KwokctlConfiguration\napiVersion: config.kwok.x-k8s.io/v1alpha1\noptions: {bindAddress: 127.0.0.1}\n"
    )
    name = f"test-{uuid.uuid4().hex[:6]}"
    kubeconfig = folder / "kubeconfig"
    environment = {**os.environ, "KWOK_WORKDIR": str(folder / "kwok")}
    command = [str(kwokctl), "--name", name, "--config", str(settings)]

    def run(*arguments: str) -> None:
        subprocess.run([*command, *arguments], env=environment, check=True, capture_output=True, text=True, timeout=90)

    try:
        run(
            "create", "cluster", "--runtime", "binary", "--kubeconfig", str(kubeconfig),
            "--components", ",".join(components), *map(str, binaries),
            "--kube-apiserver-port", str(_free_port()), "--disable-qps-limits", "--wait", "60s",
            "--extra-args", "kube-apiserver=advertise-address=127.0.0.1",
            # The default has room for 254 Services, and nothing that a test creates is ever deleted.
            "--extra-args", "kube-apiserver=service-cluster-ip-range=10.96.0.0/16",
        )  # fmt: skip
        yield kubeconfig
    except subprocess.CalledProcessError as error:
        pytest.fail(f"the API server did not start: {error.stderr}")
    finally:
        run("delete", "cluster", "--kubeconfig", str(kubeconfig))


@pytest.fixture(scope="session")
def kube(api_server: Path) -> Iterator[KubeCluster]:
    """A client of that API server, with all rights."""
    cluster = KubeCluster(api_server)
    yield cluster
    cluster.close()


@pytest.fixture
def kube_namespace(kube: KubeCluster) -> str:
    """A fresh namespace in it. Nothing deletes it: no controller runs there, and the server is thrown away."""
    name = f"t-{uuid.uuid4().hex[:8]}"
    kube.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    return name


@pytest.fixture(scope="session")
def prometheus(binary: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a Prometheus of our own that takes samples of the past, as the lab runs it."""
    server = binary("prometheus")
    folder = tmp_path_factory.mktemp("prometheus")
    (folder / "prometheus.yml").write_text("storage: {tsdb: {out_of_order_time_window: 30d}}\n")
    url = f"http://127.0.0.1:{_free_port()}"
    command = [
        str(server), f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
        f"--web.listen-address={url.removeprefix('http://')}", "--web.enable-remote-write-receiver",
        "--storage.tsdb.retention.time=60d",
    ]  # fmt: skip
    retries = urllib3.Retry(total=60, backoff_factor=0.05, backoff_max=0.5, status_forcelist=(503,))
    with (folder / "log").open("wb") as log, subprocess.Popen(command, stdout=log, stderr=log) as process:
        try:
            with urllib3.PoolManager(retries=retries) as pool:
                pool.request("GET", f"{url}/-/ready")
            yield url
        except urllib3.exceptions.HTTPError as error:
            pytest.fail(f"Prometheus did not start: {error}: {(folder / 'log').read_text()[-2000:]}")
        finally:
            process.terminate()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
