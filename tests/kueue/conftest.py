"""A lab with a real Kueue beside it, once for all tests here; without its binary they are skipped."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from scenario_kit.clients.kube import KubeCluster
from scenario_kit.errors import ToolchainError
from scenario_kit.lab import lifecycle, toolchain
from scenario_kit.lab.host.state import LabState
from tests.kueue.controller import run_controller


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KubeCluster]:
    """The lab in which Kueue runs."""
    try:
        program = toolchain.resolve("kueue")
    except ToolchainError as error:
        pytest.skip(f"{error.message}; ci/kueue builds it and runs these tests")
    name = f"kueue-{os.getpid()}"
    lifecycle.bring_up(name)
    try:
        kubeconfig = LabState.load(name).kubeconfig
        cluster = KubeCluster(kubeconfig=Path(kubeconfig))
        with run_controller(program, cluster, str(kubeconfig), tmp_path_factory.mktemp("kueue")):
            yield cluster
    finally:
        lifecycle.take_down(name)
