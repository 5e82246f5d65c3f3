"""The shipped app, rendered once, and a fault made up for the tests."""

from pathlib import Path

import pytest
import yaml

from scenario_kit.catalog import Catalog
from scenario_kit.model import FaultType
from scenario_kit.render import render_app

NAMESPACE = "otel-demo-test"
FIXTURES = Path(__file__).parents[1] / "fixtures"


@pytest.fixture(scope="session")
def catalog() -> Catalog:
    return Catalog()


@pytest.fixture(scope="session")
def app(catalog):
    return catalog.app("otel-demo", "2.2.0")


@pytest.fixture(scope="session")
def objects(app):
    return render_app(app, {}, 50, NAMESPACE)


@pytest.fixture(scope="session")
def port_fault() -> FaultType:
    return FaultType.from_json(
        yaml.safe_load((FIXTURES / "render" / "faults" / "port-moved" / "fault.yaml").read_text())
    )
