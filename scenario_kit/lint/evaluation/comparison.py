"""Prepare scenarios for comparison: each with what its faults write."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from scenario_kit.catalog import Catalog
from scenario_kit.errors import AuthoringError, UsageError
from scenario_kit.lint.context.discovery import open_case
from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.lint.similarity.effect_signature import compute_effects
from scenario_kit.lint.similarity.index import ScenarioIndex
from scenario_kit.lint.similarity.index_entry import IndexEntry, add_effects, build_entry

#: Rules that compare files; applied once all files have been read.
COMPARING: Final = ("SK216", "SK217")


def render_entry(case: LintContext, catalog: Catalog) -> IndexEntry:
    """Build the index entry of a scenario, with what its faults write."""
    entry = build_entry(case.path, case.scenario, catalog)
    faults = (case.faults.get(use.name) for use in case.scenario.spec.faults)
    done = compute_effects(case.app, case.objects, faults) if case.app and case.objects is not None else []
    return add_effects(entry, case.scenario, catalog, done)


def render_entries(catalog: Catalog, index: ScenarioIndex, entries: Iterable[IndexEntry]) -> Iterator[IndexEntry]:
    """Yield the entries of an index that can be rendered, each with what its faults write."""
    for other in entries:
        if other.does:
            yield other
            continue
        key = (catalog, other.path)
        if key not in index.rendered:
            index.rendered[key] = _render_file(other.path, catalog)
        if rendered := index.rendered[key]:
            yield rendered


def _render_file(path: str, catalog: Catalog) -> IndexEntry | None:
    try:
        case = open_case(Path(path), catalog)
    except (AuthoringError, UsageError):
        return None  # it has findings of its own
    return render_entry(case, catalog) if isinstance(case, LintContext) else None
