"""Shared by the tests of the shipped catalogue."""

import os
import shutil
from pathlib import Path

import pytest

from scenario_kit.catalog import Catalog


@pytest.fixture(scope="session")
def catalog() -> Catalog:
    return Catalog()


@pytest.fixture(scope="session")
def promtool() -> str:
    """The referee for rules; found through SCENARIO_KIT_PROMTOOL or on PATH."""
    path = os.environ.get("SCENARIO_KIT_PROMTOOL") or shutil.which("promtool")
    if not path or not Path(path).is_file():
        pytest.skip("no promtool: set SCENARIO_KIT_PROMTOOL or put it on PATH (scenario-kit lab install builds it)")
    return path
