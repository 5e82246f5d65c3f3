"""Shared by the tests of the shipped catalogue."""

from collections.abc import Callable
from pathlib import Path

import pytest

from scenario_kit.catalog import Catalog


@pytest.fixture(scope="session")
def catalog() -> Catalog:
    return Catalog()


@pytest.fixture(scope="session")
def promtool(binary: Callable[[str], Path]) -> str:
    """The referee for rules."""
    return str(binary("promtool"))
