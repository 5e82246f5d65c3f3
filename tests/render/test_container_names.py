"""Names of containers in parameters of faults."""

from __future__ import annotations

import pytest

from scenario_kit.catalog import Catalog
from scenario_kit.errors import AuthoringError
from scenario_kit.model import Reference
from scenario_kit.render import render_app
from scenario_kit.render.faults.applicability import offer

CATALOG = Catalog()
APP = CATALOG.app("otel-demo", "2.2.0")
OBJECTS = render_app(APP, {}, 50, APP.namespace, templates=CATALOG.templates(APP.name))


@pytest.mark.parametrize(
    ("container", "message"),
    [
        ("wait-for-kafka", "Deployment/accounting runs 'wait-for-kafka' as an init container, which it cannot hit"),
        ("acounting", "Deployment/accounting has no container 'acounting'"),
    ],
)
def test_container_that_a_fault_cannot_hit_is_explained(container: str, message: str) -> None:
    with pytest.raises(AuthoringError, match=message):
        offer(
            CATALOG.fault("memory-limit-too-low"), APP, OBJECTS, Reference("Deployment", "accounting"),
            {"container": container},
        )  # fmt: skip
