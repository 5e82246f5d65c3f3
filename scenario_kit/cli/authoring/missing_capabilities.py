"""Capabilities that scenarios and drafts require and the lab lacks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from scenario_kit.catalog import Catalog
from scenario_kit.catalog.capabilities import list_capabilities
from scenario_kit.judge.capabilities import find_unmet_needs
from scenario_kit.lab.capabilities import offers_capability
from scenario_kit.model import App, Fault
from scenario_kit.model.authored.capability import UnmetNeed
from scenario_kit.render.apps.app import list_needs, resolve_options, select_options
from scenario_kit.render.faults.applicability import Offer


def find_missing(
    faults: Iterable[Fault], app: App, options: Mapping[str, Sequence[str]], catalog: Catalog
) -> list[UnmetNeed]:
    """Find the capabilities required by faults, their app and its ``options`` that trials in the lab do not have."""
    return find_unmet_needs(faults, app, list_capabilities(catalog), offers_capability, options)


def find_missing_for(offer: Offer, app: App, catalog: Catalog) -> list[UnmetNeed]:
    """Find the missing capabilities of an offered fault with the app options that it requests, without duplicates."""
    options = resolve_options(app, select_options(app, catalog.fault(offer.fault.type)))
    found = find_missing((offer.fault,), app, list_needs(app, options), catalog)
    return list({lack.need: lack for lack in found}.values())
