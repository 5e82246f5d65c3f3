"""Shell completion of catalogue names, codes and fields."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path


def complete_names(names: Callable[[], Iterable[str]]) -> Callable[[str], list[str]]:
    """Build a completion of names by prefix; it is empty if the names cannot be read."""

    def complete(incomplete: str) -> list[str]:
        from scenario_kit.errors import ScenarioKitError

        try:
            return [name for name in names() if name.startswith(incomplete)]
        except (ScenarioKitError, OSError):
            return []

    return complete


def list_apps() -> Iterable[str]:
    """List the apps of the catalogue."""
    from scenario_kit.catalog import Catalog

    return Catalog().apps()


def list_faults() -> Iterable[str]:
    """List the fault types of the catalogue."""
    from scenario_kit.catalog import Catalog

    return Catalog().faults()


def list_packs() -> Iterable[str]:
    """List the alert packs, and the pack files in the working directory."""
    from scenario_kit.catalog import Catalog

    return [*Catalog().alert_packs(), *(str(path) for path in Path("catalog/alerts").glob("*.yaml"))]


def list_components() -> Iterable[str]:
    """List the components of every app."""
    from scenario_kit.catalog import Catalog

    catalog = Catalog()
    found = (catalog.app(name, catalog.versions(name)[0]) for name in catalog.apps())
    return sorted({component.name for app in found for component in app.components})


def list_explained() -> Iterable[str]:
    """List the codes of rules and the paths of fields."""
    from scenario_kit.lint import RULES
    from scenario_kit.schema.fields import list_paths

    return [*sorted(RULES), *list_paths("Scenario")]
