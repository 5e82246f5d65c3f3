"""Work of the components on the propagation that have no alert."""

from __future__ import annotations

import msgspec

from scenario_kit.judge.alerts.expectations import is_same_entity
from scenario_kit.model import Component
from scenario_kit.model.runtime.observation import Passage, Work
from scenario_kit.observe import span_throughput
from scenario_kit.trial.engine import noise
from scenario_kit.trial.engine.context import TRAFFIC_WINDOW, TrialContext


def measure_passages(context: TrialContext, end: float) -> tuple[Passage, ...]:
    """Measure the work of those components before and after the first change, up to ``end``; empty without a fault.

    Raises:
        MetricsError: Prometheus does not answer.
    """
    injected = context.injected_at()
    silent = _list_silent(context, injected) if injected is not None else []
    if injected is None or not silent:
        return ()
    before = measure_work(context, injected - TRAFFIC_WINDOW, injected)
    during = measure_work(context, injected, end)
    nothing = Work(seconds=end - injected, requests=0.0)
    return tuple(
        Passage(entity=c.workload.groupless, before=was, during=during.get(c.name, nothing))
        for c in silent
        if (was := before.get(c.name)) is not None
    )


def _list_silent(context: TrialContext, injected: float) -> list[Component]:
    """List intermediate components of the propagation that no fault touches and no alert names."""
    runbook = context.runbook
    edges = runbook.ground_truth.propagation
    between = {e.from_.bare for e in edges} & {e.to.bare for e in edges}
    touched = {ref.bare for f in runbook.faults for ref in (f.target, *(e.ref for e in f.entities)) if ref}
    alerted = [t.entity for t in context.history().timelines if t.onset(injected) is not None]
    return [
        c
        for c in runbook.app.components
        if c.workload.bare in between - touched and not any(e and is_same_entity(c.workload, e) for e in alerted)
    ]


def measure_work(context: TrialContext, start: float, end: float) -> dict[str, Work]:
    """Measure the work of all components, in seconds of the usual load."""
    load = noise.measure_offered(context, start, end)
    found = span_throughput.measure_work(context.metrics, context.everywhere, context.runbook.app, start, end)
    return {name: msgspec.structs.replace(w, seconds=w.seconds * load) for name, w in found.items()}
