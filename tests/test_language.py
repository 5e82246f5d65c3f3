"""Scenarios that exercise the language of staged incidents have no findings."""

from pathlib import Path

import pytest

from scenario_kit.catalog import Catalog
from scenario_kit.lint import lint_file

FILES = sorted((Path(__file__).parent / "fixtures" / "language").glob("*/scenario.yaml"))


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.parent.name)
def test_it_has_no_findings(path):
    assert lint_file(path, Catalog()) == []
