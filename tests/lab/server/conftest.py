"""A lab of a module's own, called as its ``LAB``, with a client and an app to simulate."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from scenario_kit.catalog import Catalog
from scenario_kit.clients import KubeCluster
from scenario_kit.lab import lifecycle
from scenario_kit.lab.host.state import LabState
from scenario_kit.model import App


@pytest.fixture(scope="module")
def lab(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabState]:
    name: str = request.module.LAB
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SCENARIO_KIT_HOME", str(tmp_path_factory.mktemp("labs")))
        try:
            yield lifecycle.bring_up(name)
        finally:
            lifecycle.take_down(name)


@pytest.fixture(scope="module")
def lab_cluster(lab: LabState) -> Iterator[KubeCluster]:
    cluster = KubeCluster(Path(lab.kubeconfig))
    yield cluster
    cluster.close()


@pytest.fixture(scope="module")
def app() -> App:
    return Catalog().app("otel-demo", "2.2.0")
