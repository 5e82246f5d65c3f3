"""What scenarios and drafts need, and the lab does not have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scenario_kit.catalog import Catalog
    from scenario_kit.model import App, Fault
    from scenario_kit.model.capability import Lack
    from scenario_kit.render.applicability import Offer


def missing(faults: Iterable[Fault], app: App, options: Mapping[str, Sequence[str]], catalog: Catalog) -> list[Lack]:
    """Capabilities that faults, their app and its ``options`` (needs by option) ask for and no trial in the lab has."""
    from scenario_kit.catalog.capabilities import capabilities
    from scenario_kit.judge.capabilities import lacking
    from scenario_kit.lab.capabilities import offers

    return lacking(faults, app, capabilities(catalog), offers, options)


def missing_for(offer: Offer, app: App, catalog: Catalog) -> list[Lack]:
    """The same for a fault that is offered, with the options of the app that it wants; each capability once."""
    from scenario_kit.render.app import asked_options, needs_of, options_of

    options = options_of(app, asked_options(app, catalog.fault(offer.fault.type)))
    found = missing((offer.fault,), app, needs_of(app, options), catalog)
    return list({lack.need: lack for lack in found}.values())
