"""Golden renderings: every fault type, rendered for its first valid target in each app."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scenario_kit.catalog import Catalog
from scenario_kit.model import App, FaultType, Object
from scenario_kit.render.apps.app import render_app, resolve_options, select_options
from scenario_kit.render.faults.applicability import Offer, find_offers, fits


def render_goldens(catalog: Catalog) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield (app, fault type, rendering) for the first version of every app and every fault type that applies to it."""
    for name in catalog.apps():
        app = catalog.app(name, catalog.versions(name)[0])
        for fault_name in catalog.faults():
            found = find_first_offer(catalog.fault(fault_name), app, catalog)
            if found is not None:
                rendered = found.fault.to_json()
                rendered.pop("digest", None)  # it changes with every edit of the definition
                document = {"target": str(found.target), "parameters": found.parameters, "fault": rendered}
                yield name, fault_name, document


def find_first_offer(fault_type: FaultType, app: App, catalog: Catalog) -> Offer | None:
    """Find the first target at which the fault takes effect, with the app options that it requests."""
    if not fits(fault_type, app):
        return None
    return next(find_offers(fault_type, app, render_objects_for(fault_type, app, catalog)), None)


def render_objects_for(fault_type: FaultType, app: App, catalog: Catalog) -> tuple[Object, ...]:
    """Render the app's objects with the options that the fault type requests and the app supports."""
    chosen = resolve_options(app, select_options(app, fault_type))
    return render_app(app, chosen, 50, app.namespace, templates=catalog.templates(app.name))
