"""The shop under simulation: started as a trial starts it, and its feature flags."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from scenario_kit.catalog import Catalog
from scenario_kit.model import App
from scenario_kit.render import render_app, resolve_options
from tests.lab.twin.twin_cluster import TwinCluster


def started(app: App, objects: Iterable[dict[str, Any]], warm: float, **options: Any) -> TwinCluster:
    """Restart crash-looped pods once their dependencies run; then wait ``warm`` seconds."""
    little = TwinCluster(app, objects, **options)
    for workload in ("product-catalog", "cart", "shipping", "checkout"):
        little.now += 30.0
        little.restart(workload)
    little.run(warm)
    return little


def rendered(version: str, users: int, options: Mapping[str, Any], profile: str, warm: float) -> TwinCluster:
    """The shop with these options and this load profile."""
    app = Catalog().app("otel-demo", version)
    return started(app, list(render_app(app, resolve_options(app, dict(options), profile), users, "shop")), warm)


def flag(shop: TwinCluster, name: str, variant: str) -> None:
    """Turn a feature flag, as the flag editor does."""
    data = shop.get("ConfigMap", "flagd-config")["data"]
    document = json.loads(data["demo.flagd.json"])
    document["flags"][name]["defaultVariant"] = variant
    data["demo.flagd.json"] = json.dumps(document)
    shop.restart("flagd")
