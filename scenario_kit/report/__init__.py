"""Verb *report*: ``report.json`` and its renderings."""

from scenario_kit.report import html, junit, markdown
from scenario_kit.report.document import FILE, Report, claim, newest, read, write
from scenario_kit.report.markdown import alert_lines, minutes

__all__ = ["FILE", "Report", "alert_lines", "claim", "minutes", "html", "junit", "markdown", "newest", "read", "write"]
