"""Static rules: ``lint_file`` checks a scenario, fault, app or alert pack without a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from scenario_kit.catalog import Catalog
from scenario_kit.lint.context.discovery import list_lintable, list_with_faults
from scenario_kit.lint.evaluation.parallel import judge_each
from scenario_kit.lint.evaluation.runner import Judged, judge, judge_file, settle_findings
from scenario_kit.lint.framework.consequential_findings import drop_consequential
from scenario_kit.lint.framework.rule import CHECKS, RULES, require_checks
from scenario_kit.lint.framework.rule_docs import render_rule_page
from scenario_kit.lint.rules import import_rules
from scenario_kit.lint.similarity.index import build_index
from scenario_kit.load import LocatedFinding
from scenario_kit.model import Finding

import_rules()
require_checks()

__all__ = [
    "CHECKS", "RULES", "judge", "lint_file", "lint_files", "lint_text", "list_lintable", "find_mistakes",
    "render_rule_page",
    "list_with_faults", "drop_consequential",
]  # fmt: skip


def lint_files(paths: Sequence[Path], catalog: Catalog | None = None) -> list[Finding]:
    """Return the findings of some files, file by file, worst first; scenarios are also compared with each other.

    A file that cannot be loaded is not checked further. Findings that follow from others are left out.

    Raises:
        UsageError: there is no such file.
    """
    found = find_mistakes(paths, catalog or Catalog())
    return [finding for mistakes in found for finding in drop_consequential(mistakes)]


def find_mistakes(paths: Sequence[Path], catalog: Catalog) -> list[list[LocatedFinding]]:
    """Return all findings of each file, including consequential ones, with the edits that fix them."""
    return _compare_files(judge_each(paths, catalog), catalog)


def lint_file(path: Path, catalog: Catalog | None = None) -> list[Finding]:
    """Lint one file as ``lint_files`` does."""
    return lint_files([path], catalog)


def lint_text(text: str, path: Path, catalog: Catalog | None = None) -> list[LocatedFinding]:
    """Return what ``lint_file`` would find if ``path`` contained ``text``, with the edits that fix each finding."""
    known = catalog or Catalog()
    return _compare_files([judge_file(path, text, known)], known)[0]


def _compare_files(files: Sequence[Judged], catalog: Catalog) -> list[list[LocatedFinding]]:
    """Complete the findings of each file once all of them have been read."""
    entries = [file.entry for file in files if file.entry is not None]
    index = build_index(catalog, entries) if entries else None
    return [settle_findings(file, index) for file in files]
