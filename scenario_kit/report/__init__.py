"""Validation reports: ``report.json`` and its renderings."""

from scenario_kit.report import html, junit, markdown
from scenario_kit.report.document import FILE, Report, find_newest, prepare_folder, read_report, write
from scenario_kit.report.markdown import format_alert_lines, format_minutes

__all__ = [
    "FILE",
    "Report",
    "format_alert_lines",
    "prepare_folder",
    "format_minutes",
    "html",
    "junit",
    "markdown",
    "find_newest",
    "read_report",
    "write",
]
