"""The page about the apps names everything that they offer."""

from pathlib import Path

import pytest

from scenario_kit.catalog import Catalog

PAGE = (Path(__file__).parents[2] / "docs" / "apps.md").read_text()


@pytest.mark.parametrize("name", Catalog().apps())
def test_apps_page_lists_versions_options_and_profiles(catalog: Catalog, name: str) -> None:
    (section,) = [part for part in PAGE.split("\n## ") if part.startswith(name)]
    for version in catalog.versions(name):
        app = catalog.app(name, version)
        assert version in section or len(catalog.versions(name)) == 1
        for known in (*app.options["properties"], *app.loads):
            assert f"`{known}`" in section, known
        for option, schema in app.options["properties"].items():
            row = next(line for line in section.splitlines() if line.startswith("|") and f"`{option}`" in line)
            assert all(value in row for value in schema.get("enum", ())), option
