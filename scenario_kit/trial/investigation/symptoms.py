"""What a solver finds beside alerts while the fault is in force, less what was there before."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from scenario_kit.model import Object
from scenario_kit.observe.symptoms import find_event_symptoms, find_log_symptoms, find_pod_symptoms
from scenario_kit.trial.engine.context import TrialContext
from scenario_kit.trial.investigation.solver_view import list_objects, read_lines

_PARALLEL: Final = 8
#: Signs that are kept; more of them tell no more.
_MOST: Final = 200


def list_pods(context: TrialContext) -> list[Object]:
    """List the pods that a solver sees now."""
    return [p for namespace in context.everywhere for p in list_objects(context, "Pod", namespace)]


def look(context: TrialContext, running: Sequence[Object]) -> list[str]:
    """Look up everything that a solver finds now; ``running`` are the pods of the moment."""
    app = context.runbook.app
    events = [e for namespace in context.everywhere for e in list_objects(context, "Event", namespace)]
    with ThreadPoolExecutor(_PARALLEL) as pool:
        printed = [line for found in pool.map(lambda pod: read_lines(context, pod), running) for line in found]
    return sorted(find_event_symptoms(events, app) | find_pod_symptoms(running, app) | find_log_symptoms(printed, app))


def find_new(context: TrialContext, before: Sequence[str]) -> list[str]:
    """Find what a solver finds now and did not find before anything was broken."""
    known = set(before)
    return [sign for sign in look(context, list_pods(context)) if sign not in known][:_MOST]
