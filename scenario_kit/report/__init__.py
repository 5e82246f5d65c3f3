"""Validation reports: ``report.json`` and its renderings."""

from scenario_kit.report import html, junit, markdown
from scenario_kit.report.document import Report, find_newest, prepare_folder, read_report, write_report

#: Renderings that are written next to ``report.json``, by file name.
RENDERINGS = {"report.md": markdown.render, "report.html": html.render}

__all__ = [
    "RENDERINGS", "Report", "prepare_folder", "html", "junit", "markdown", "find_newest", "read_report", "write_report",
]  # fmt: skip
