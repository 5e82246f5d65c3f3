"""Verb *render*: values of the catalogue and of a scenario to Kubernetes objects, changes and windows. Pure."""

from scenario_kit.render.app import render_app, resolve_options, select_options
from scenario_kit.render.fault import render_fault
from scenario_kit.render.preview import Preview, PreviewStage, build_preview
from scenario_kit.render.runbook import resolve, resolve_entity
from scenario_kit.render.simulate import NoChange, simulate_change
from scenario_kit.render.time_windows import compute_windows

__all__ = [
    "NoChange",
    "Preview",
    "PreviewStage",
    "simulate_change",
    "render_app",
    "select_options",
    "resolve_entity",
    "render_fault",
    "resolve_options",
    "build_preview",
    "resolve",
    "compute_windows",
]
