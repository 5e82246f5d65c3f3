"""Each fault, rendered for its first fitting target in each app: what a change of a definition really changes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scenario_kit.catalog import Catalog
from scenario_kit.model import App, FaultType, Object
from scenario_kit.render.apps.app import render_app, resolve_options, select_options
from scenario_kit.render.faults.applicability import Offer, find_offers, fits


def render_goldens(catalog: Catalog) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Render app, fault and rendering, for the first version of every app and every fault that fits it."""
    for name in catalog.apps():
        app = catalog.app(name, catalog.versions(name)[0])
        for fault_name in catalog.faults():
            found = find_first_offer(catalog.fault(fault_name), app, catalog)
            if found is not None:
                rendered = found.fault.to_json()
                rendered.pop("digest", None)  # it changes with every word of the definition, and tells nothing here
                document = {"target": found.target, "parameters": found.parameters, "fault": rendered}
                yield name, fault_name, document


def find_first_offer(fault_type: FaultType, app: App, catalog: Catalog) -> Offer | None:
    """Find the first target of the app at which the fault bites, with the options of the app that it asks for."""
    if not fits(fault_type, app):
        return None
    return next(find_offers(fault_type, app, render_objects_for(fault_type, app, catalog)), None)


def render_objects_for(fault_type: FaultType, app: App, catalog: Catalog) -> tuple[Object, ...]:
    """Render the app's objects under the options that the fault asks for, as far as the app has them."""
    chosen = resolve_options(app, select_options(app, fault_type))
    return render_app(app, chosen, 50, app.namespace, templates=catalog.templates(app.name))
