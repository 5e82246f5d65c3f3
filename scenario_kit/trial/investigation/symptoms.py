"""Symptoms beside alerts that a solver can see while a fault is in force and could not see before."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from scenario_kit.model import Object
from scenario_kit.observe.symptoms import find_event_symptoms, find_log_symptoms, find_pod_symptoms
from scenario_kit.trial.engine.context import TrialContext
from scenario_kit.trial.investigation.solver_view import list_objects, read_lines

_PARALLEL: Final = 8
#: Maximum number of symptoms kept.
_MOST: Final = 200


def list_pods(context: TrialContext) -> list[Object]:
    """List the pods visible to a solver."""
    return [p for namespace in context.everywhere for p in list_objects(context, "Pod", namespace)]


def look(context: TrialContext, running: Sequence[Object]) -> list[str]:
    """Return all symptoms visible to a solver; ``running`` are the current pods."""
    app = context.runbook.app
    events = [e for namespace in context.everywhere for e in list_objects(context, "Event", namespace)]
    with ThreadPoolExecutor(_PARALLEL) as pool:
        printed = [line for found in pool.map(lambda pod: read_lines(context, pod), running) for line in found]
    return sorted(find_event_symptoms(events, app) | find_pod_symptoms(running, app) | find_log_symptoms(printed, app))


def find_new(context: TrialContext, before: Sequence[str]) -> list[str]:
    """Return the symptoms that were not present before the first fault."""
    known = set(before)
    return [sign for sign in look(context, list_pods(context)) if sign not in known][:_MOST]
