"""Static rules. ``lint_file`` judges one scenario, fault, app or alert pack, without a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from scenario_kit.catalog import Catalog
from scenario_kit.lint import (  # noqa: F401 - each module registers its rules
    alert_packs,
    alerts,
    app_members,
    brief,
    capabilities,
    change_selectors,
    conflicting_faults,
    constant_checks,
    contribution,
    copied_fault_types,
    credentials,
    difficulty,
    duplicate_procedures,
    duplicates,
    effect_proof,
    entities,
    evidence,
    expected_checks,
    experiments,
    external_targets,
    fault_duration,
    file_layout,
    ground_truth,
    hints,
    images,
    label_exclusivity,
    licences,
    limits,
    loader_rules,
    metadata,
    metric_matchers,
    mitigation,
    modelines,
    modelled,
    names,
    noise,
    nondeterminism,
    persistence,
    privileges,
    procedures,
    promql_anchors,
    propagation_chain,
    protected_objects,
    queries,
    reach,
    references,
    repairs,
    rule_files,
    runtime_downloads,
    service_map,
    staging,
    steps,
    templating,
    trial_rules,
    unseen_series,
    yaml11_values,
)
from scenario_kit.lint.consequential_findings import without_following
from scenario_kit.lint.discovery import lintable, with_its_faults
from scenario_kit.lint.parallel import each
from scenario_kit.lint.rule import RULES, Rule
from scenario_kit.lint.rule_docs import rule_page, rules_page
from scenario_kit.lint.runner import Judged, judge, judged, settled
from scenario_kit.lint.similarity_index import shelf_of
from scenario_kit.load import LocatedFinding
from scenario_kit.model import Finding

__all__ = [
    "RULES", "Rule", "judge", "lint_file", "lint_files", "lint_text", "lintable", "mistakes_of", "rule_page",
    "rules_page", "with_its_faults", "without_following",
]  # fmt: skip


def lint_files(paths: Sequence[Path], catalog: Catalog | None = None) -> list[Finding]:
    """Every finding about some files, file by file, worst first; scenarios are also compared with each other.

    A file that cannot be loaded is judged no further, and what follows from another finding is left out.

    Raises:
        UsageError: there is no such file.
    """
    found = mistakes_of(paths, catalog or Catalog())
    return [finding for mistakes in found for finding in without_following(mistakes)]


def mistakes_of(paths: Sequence[Path], catalog: Catalog) -> list[list[LocatedFinding]]:
    """All findings of each file, those that follow from others included, with the edits that correct them."""
    return _compared(each(paths, catalog), catalog)


def lint_file(path: Path, catalog: Catalog | None = None) -> list[Finding]:
    """As ``lint_files``, of one file."""
    return lint_files([path], catalog)


def lint_text(text: str, path: Path, catalog: Catalog | None = None) -> list[LocatedFinding]:
    """What ``lint_file`` would find if ``path`` held ``text``, each finding with the edits that correct it."""
    known = catalog or Catalog()
    return _compared([judged(path, text, known)], known)[0]


def _compared(files: Sequence[Judged], catalog: Catalog) -> list[list[LocatedFinding]]:
    """The findings of each file, once it is known what all of them hold."""
    entries = [file.entry for file in files if file.entry is not None]
    shelf = shelf_of(catalog, entries) if entries else None
    return [settled(file, shelf) for file in files]
