"""What a solver finds beside alerts while the fault is in force, less what was there before."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from scenario_kit.errors import Forbidden, NotFound, Rejected
from scenario_kit.model import Object, Reference
from scenario_kit.observe.signs import of_events, of_logs, of_pods
from scenario_kit.ports import LogLine
from scenario_kit.trial.context import Context

_PARALLEL: Final = 8
#: Signs that are kept; more of them tell no more.
_MOST: Final = 200


def look(context: Context) -> list[str]:
    """Everything that a solver finds now."""
    app = context.runbook.app
    pods = [p for namespace in context.everywhere for p in _listed(context, "Pod", namespace)]
    events = [e for namespace in context.everywhere for e in _listed(context, "Event", namespace)]
    with ThreadPoolExecutor(_PARALLEL) as pool:
        lines = [line for found in pool.map(lambda pod: _lines(context, pod), pods) for line in found]
    return sorted(of_events(events, app) | of_pods(pods, app) | of_logs(lines, app))


def new(context: Context, before: Sequence[str]) -> list[str]:
    """What a solver finds now and did not find before anything was broken."""
    known = set(before)
    return [sign for sign in look(context) if sign not in known][:_MOST]


def _listed(context: Context, kind: str, namespace: str) -> list[Object]:
    try:
        return context.solver.list(kind, namespace)
    except (Forbidden, NotFound):
        return []


def _lines(context: Context, pod: Object) -> Sequence[LogLine]:
    ref = Reference("Pod", pod["metadata"]["name"], pod["metadata"].get("namespace", context.namespace))
    try:
        return context.solver.logs(ref)
    except (Forbidden, NotFound, Rejected):
        return []
