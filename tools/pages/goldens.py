"""Golden renderings: every fault type, rendered for its first valid target in each app."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scenario_kit.catalog import Catalog
from scenario_kit.render.faults.first_offer import find_first_offer


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
