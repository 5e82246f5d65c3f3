"""The application under simulation: the shipped definition and templates, rendered as a trial would."""

from collections.abc import Callable
from typing import Any

import pytest

from scenario_kit.catalog import Catalog
from scenario_kit.model import App
from scenario_kit.render import render_app, resolve_options
from tests.lab.twin.shop import started
from tests.lab.twin.twin_cluster import TwinCluster


@pytest.fixture(scope="session")
def shop() -> App:
    return Catalog().app("otel-demo", "2.2.0")


@pytest.fixture(scope="session")
def shop_objects(shop: App) -> list[dict[str, Any]]:
    return list(render_app(shop, resolve_options(shop, {}), 50, "shop"))


@pytest.fixture(scope="session")
def hotel_app() -> App:
    return Catalog().app("hotel-reservation", "6ecb097")


@pytest.fixture(scope="session")
def hotel_objects(hotel_app: App) -> list[dict[str, Any]]:
    return list(render_app(hotel_app, resolve_options(hotel_app, {}), 50, "shop"))


@pytest.fixture
def cluster(shop: App, shop_objects: list[dict[str, Any]]) -> Callable[..., TwinCluster]:
    def make(warm: float = 180.0, **options: Any) -> TwinCluster:
        return started(shop, shop_objects, warm, **options)

    return make
