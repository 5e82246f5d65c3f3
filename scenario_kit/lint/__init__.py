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
from scenario_kit.lint.consequential_findings import drop_consequential
from scenario_kit.lint.discovery import list_lintable, list_with_faults
from scenario_kit.lint.parallel import judge_each
from scenario_kit.lint.rule import RULES, Rule
from scenario_kit.lint.rule_docs import render_rule_page, render_rules_page
from scenario_kit.lint.runner import Judged, judge, judge_file, settle_findings
from scenario_kit.lint.similarity_index import build_index
from scenario_kit.load import LocatedFinding
from scenario_kit.model import Finding

__all__ = [
    "RULES", "Rule", "judge", "lint_file", "lint_files", "lint_text", "list_lintable", "find_mistakes",
    "render_rule_page",
    "render_rules_page", "list_with_faults", "drop_consequential",
]  # fmt: skip


def lint_files(paths: Sequence[Path], catalog: Catalog | None = None) -> list[Finding]:
    """Every finding about some files, file by file, worst first; scenarios are also compared with each other.

    A file that cannot be loaded is judged no further, and what follows from another finding is left out.

    Raises:
        UsageError: there is no such file.
    """
    found = find_mistakes(paths, catalog or Catalog())
    return [finding for mistakes in found for finding in drop_consequential(mistakes)]


def find_mistakes(paths: Sequence[Path], catalog: Catalog) -> list[list[LocatedFinding]]:
    """All findings of each file, those that follow from others included, with the edits that correct them."""
    return _compare_files(judge_each(paths, catalog), catalog)


def lint_file(path: Path, catalog: Catalog | None = None) -> list[Finding]:
    """As ``lint_files``, of one file."""
    return lint_files([path], catalog)


def lint_text(text: str, path: Path, catalog: Catalog | None = None) -> list[LocatedFinding]:
    """What ``lint_file`` would find if ``path`` held ``text``, each finding with the edits that correct it."""
    known = catalog or Catalog()
    return _compare_files([judge_file(path, text, known)], known)[0]


def _compare_files(files: Sequence[Judged], catalog: Catalog) -> list[list[LocatedFinding]]:
    """The findings of each file, once it is known what all of them hold."""
    entries = [file.entry for file in files if file.entry is not None]
    shelf = build_index(catalog, entries) if entries else None
    return [settle_findings(file, shelf) for file in files]
