"""SK216, SK217: duplicates of other scenarios."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from scenario_kit.catalog import Catalog
from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.lint.evaluation.comparison import render_entries
from scenario_kit.lint.framework.rule import Problem, register_check
from scenario_kit.lint.similarity.index import ScenarioIndex
from scenario_kit.lint.similarity.index_entry import IndexEntry
from scenario_kit.model import Severity
from scenario_kit.model.shortening import shorten_list


@register_check("SK216")
def check_copies(case: LintContext) -> Iterator[Problem]:
    entry, index = case.entry, case.index
    same = _find_copies(case.catalog, index, entry) if index and entry else []
    if entry and same:
        message = f"it breaks the same thing in the same way as {_join_names(same)}"
        severity = Severity.ERROR if case.merged else Severity.WARNING
        fix = f"extend '{same[0].name}', or break something else"
        yield Problem(
            ("spec", "faults"), message, entry.fingerprint[:12], "a unique fingerprint", fix, severity=severity
        )


@register_check("SK217")
def check_near_duplicates(case: LintContext) -> Iterator[Problem]:
    entry, index = case.entry, case.index
    if index is None or entry is None or _find_copies(case.catalog, index, entry):
        return
    if same := _find_same_mechanism(case.catalog, index, entry):
        message = f"it breaks the same fields of the same objects as {_join_names(same)}, and expects the same alerts"
        fix = f"use '{same[0].name}', or break something else; another value is not another incident"
        severity = Severity.ERROR if case.merged else Severity.WARNING
        desired = "another field, object, fault or expected alert"
        yield Problem(("spec", "title"), message, "only values and texts differ", desired, fix, severity=severity)
        return
    near = index.near(entry)
    if not near:
        near = [(1.0, o) for o in _render_candidates(case.catalog, index, entry) if o.alike and o.alike == entry.alike]
    if near:
        (cosine, first), named = near[0], _join_names([other for _, other in near])
        fix = f"describe the difference from '{first.name}', or make it another incident"
        if entry.shape and entry.shape == first.shape:
            message, seen, desired = f"only numbers differ from {named}", "equal but for numbers", "another fault"
        elif (entry.core and entry.core == first.core) or (entry.alike and entry.alike == first.alike):
            message = f"it has the same root causes as {named}"
            seen, desired, fix = (
                "the same root causes",
                "another root cause",
                f"break something other than '{first.name}' does",
            )
        else:
            message = f"texts and structure are similar to {named}: cosine {cosine:.2f}"
            seen, desired = f"{cosine:.2f}", "below 0.80"
        yield Problem(("spec", "title"), message, seen, desired, fix)


def _find_copies(catalog: Catalog, index: ScenarioIndex, entry: IndexEntry) -> list[IndexEntry]:
    """Find scenarios with the same effect, independent of the names of their fault types."""
    return index.copies(entry) or [
        o for o in _render_candidates(catalog, index, entry) if o.does and o.does == entry.does
    ]


def _find_same_mechanism(catalog: Catalog, index: ScenarioIndex, entry: IndexEntry) -> list[IndexEntry]:
    """Find scenarios of the same app whose labelled faults write the same fields, with the same expectations."""
    others = index.settings(entry) if entry.mechanism else []
    return [other for other in render_entries(catalog, index, others) if other.mechanism == entry.mechanism]


def _render_candidates(catalog: Catalog, index: ScenarioIndex, entry: IndexEntry) -> Iterator[IndexEntry]:
    """Render the few scenarios that may do the same with other fault types."""
    yield from render_entries(catalog, index, index.candidates(entry) if entry.does else ())


def _join_names(others: list[IndexEntry]) -> str:
    return shorten_list([f"'{other.name}' ({_shorten_path(other.path)})" for other in others], 1)


def _shorten_path(path: str) -> str:
    """Return a path relative to the working directory, as in other findings."""
    try:
        return str(Path(path).relative_to(Path.cwd()))
    except ValueError:
        return path
