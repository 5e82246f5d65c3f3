"""Validation reports: ``report.json`` and its renderings."""

from scenario_kit.report import html, junit, markdown
from scenario_kit.report.document import Report, find_newest, prepare_folder, read_report, write

__all__ = [
    "Report", "prepare_folder", "html", "junit", "markdown", "find_newest", "read_report", "write",
]  # fmt: skip
