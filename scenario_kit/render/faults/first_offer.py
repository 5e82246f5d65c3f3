"""The first valid target of a fault type in an app, with the options that it requests."""

from __future__ import annotations

from scenario_kit.catalog import Catalog
from scenario_kit.model import App, FaultType, Object
from scenario_kit.render.apps.app import render_catalog_app, select_options
from scenario_kit.render.faults.applicability import Offer, find_offers, fits


def find_first_offer(fault_type: FaultType, app: App, catalog: Catalog) -> Offer | None:
    """Find the first target at which the fault takes effect, with the app options that it requests."""
    if not fits(fault_type, app):
        return None
    return next(find_offers(fault_type, app, render_objects_for(fault_type, app, catalog)), None)


def render_objects_for(fault_type: FaultType, app: App, catalog: Catalog) -> tuple[Object, ...]:
    """Render the app's objects with the options that the fault type requests and the app supports."""
    return render_catalog_app(app, catalog, select_options(app, fault_type))
