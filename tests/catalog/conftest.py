"""Shared by the tests of the shipped catalogue."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from scenario_kit.catalog import Catalog
from scenario_kit.clients.kube import KubeCluster
from scenario_kit.model import Object, Reference


@pytest.fixture(scope="session")
def catalog() -> Catalog:
    return Catalog()


@pytest.fixture(scope="session")
def promtool(binary: Callable[[str], Path]) -> str:
    """The referee for rules."""
    return str(binary("promtool"))


@pytest.fixture
def placed(kube: KubeCluster) -> Callable[[Sequence[Object]], Sequence[Object]]:
    """Makes every namespace that objects are in, and answers them."""

    def make(objects: Sequence[Object]) -> Sequence[Object]:
        known = {o["metadata"].get("namespace") for o in objects}
        for name in sorted(n for n in known if n and kube.get(Reference("Namespace", n)) is None):
            kube.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        return objects

    return make
