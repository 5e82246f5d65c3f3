"""What a shell offers after Tab: names of the catalogue, codes and fields."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path


def from_names(names: Callable[[], Iterable[str]]) -> Callable[[str], list[str]]:
    """A completion that offers those names that begin with what is written; nothing where they cannot be read."""

    def offered(incomplete: str) -> list[str]:
        from scenario_kit.errors import ScenarioKitError

        try:
            return [name for name in names() if name.startswith(incomplete)]
        except (ScenarioKitError, OSError):
            return []

    return offered


def apps() -> Iterable[str]:
    """The apps of the catalogue."""
    from scenario_kit.catalog import Catalog

    return Catalog().apps()


def faults() -> Iterable[str]:
    """The fault types of the catalogue."""
    from scenario_kit.catalog import Catalog

    return Catalog().faults()


def packs() -> Iterable[str]:
    """The alert packs, and the files of the working directory."""
    from scenario_kit.catalog import Catalog

    return [*Catalog().alert_packs(), *(str(path) for path in Path("catalog/alerts").glob("*.yaml"))]


def components() -> Iterable[str]:
    """The components of every app."""
    from scenario_kit.catalog import Catalog

    catalog = Catalog()
    found = (catalog.app(name, catalog.versions(name)[0]) for name in catalog.apps())
    return sorted({component.name for app in found for component in app.components})


def explained() -> Iterable[str]:
    """Codes of rules, and paths of fields."""
    from scenario_kit.lint import RULES
    from scenario_kit.schema.fields import paths

    return [*sorted(RULES), *paths("Scenario")]
