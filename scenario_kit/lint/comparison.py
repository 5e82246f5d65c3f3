"""Scenarios as they are compared with each other: each with what its faults write."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from scenario_kit.catalog import Catalog
from scenario_kit.errors import AuthoringError, UsageError
from scenario_kit.lint.discovery import opened
from scenario_kit.lint.effect_signature import effects
from scenario_kit.lint.lint_context import LintContext
from scenario_kit.lint.similarity_index import IndexEntry, entry_of, with_effects

#: Rules that look at other files than the one judged; they are applied once all files have been read.
COMPARING: Final = ("SK216", "SK217")


def rendered_entry(case: LintContext, catalog: Catalog) -> IndexEntry:
    """Return a scenario as it is compared, with what its faults write."""
    entry = entry_of(case.path, case.scenario, catalog)
    faults = (case.faults.get(use.name) for use in case.scenario.spec.faults)
    done = effects(case.app, case.objects, faults) if case.app and case.objects is not None else []
    return with_effects(entry, case.scenario, catalog, done)


def rendered_entries(catalog: Catalog, entries: Iterable[IndexEntry]) -> Iterator[IndexEntry]:
    """Yield the entries that can be rendered, each with what its faults write."""
    for other in entries:
        if other.does:
            yield other
            continue
        try:
            case = opened(Path(other.path), catalog)
        except (AuthoringError, UsageError):
            continue  # what is wrong with it is told where it is judged
        if isinstance(case, LintContext):
            yield rendered_entry(case, catalog)
