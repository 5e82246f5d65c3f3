"""Render scenarios and catalogue entries into Kubernetes objects, changes and time windows. Pure."""

from scenario_kit.render.apps.app import render_app, render_catalog_app, resolve_options, select_options
from scenario_kit.render.faults.fault import render_fault
from scenario_kit.render.scenarios.preview import build_preview
from scenario_kit.render.scenarios.runbook import resolve
from scenario_kit.render.scenarios.time_windows import compute_windows
from scenario_kit.render.simulation.changes import NoChange

__all__ = [
    "NoChange", "render_app", "render_catalog_app", "select_options", "render_fault", "resolve_options",
    "build_preview", "resolve", "compute_windows",
]  # fmt: skip
