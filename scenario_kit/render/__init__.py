"""Verb *render*: values of the catalogue and of a scenario to Kubernetes objects, changes and windows. Pure."""

from scenario_kit.render.app import app_objects, asked_options, options_of
from scenario_kit.render.fault import fault
from scenario_kit.render.preview import Preview, PreviewStage, preview
from scenario_kit.render.runbook import entity_by_fault, resolve
from scenario_kit.render.simulate import NoChange, after
from scenario_kit.render.time_windows import windows

__all__ = [
    "NoChange",
    "Preview",
    "PreviewStage",
    "after",
    "app_objects",
    "asked_options",
    "entity_by_fault",
    "fault",
    "options_of",
    "preview",
    "resolve",
    "windows",
]
