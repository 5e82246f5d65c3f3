"""Background noise: apply the events planned for the current time, from any previous state.

Each occurrence has its own receipt, so a restarted run knows what is in force. Noise begins when the app is ready and
ends with the teardown, which undoes every receipt.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Final, Protocol

import msgspec

from scenario_kit.changes import Engine, Receipt
from scenario_kit.errors import AuthoringError
from scenario_kit.judge.repair import invariants
from scenario_kit.judge.repair.invariants import Guarded
from scenario_kit.model import Runbook, TrialSpec
from scenario_kit.model.authored.fault import FAULT_GROUPS
from scenario_kit.model.authored.noise import NoiseSource
from scenario_kit.ports import Clock
from scenario_kit.render.scenarios.noise import Event, compute_occurrence, find_latest, list_events
from scenario_kit.trial.engine.baseline import Baseline

log = logging.getLogger(__name__)
#: Receipt group of noise, and its ordinals: far above those of steps, with a block for each source.
GROUP: Final = "Noise/"
_FIRST: Final = 10_000_000
_BLOCK: Final = 1_000_000
#: The next event of a plan without further events.
NEVER: Final = float("inf")


class NoisyTrial(Protocol):
    """The part of ``TrialContext`` that noise needs."""

    name: str
    spec: TrialSpec
    runbook: Runbook
    clock: Clock
    engine: Engine
    warned: set[str]

    def baseline(self) -> Baseline | None:
        """Return the baseline, once the deploy step has begun."""


def play(context: NoisyTrial) -> float:
    """Apply the noise planned for the current time; return the time of the next event.

    Raises:
        ClusterError: the API server does not answer; call again to continue.
    """
    start = _start(context)
    if start is None:
        return NEVER
    now = context.clock.now()
    return min((_play(context, i, s, start, now) for i, s in enumerate(context.runbook.noise)), default=NEVER)


def _start(context: NoisyTrial) -> float | None:
    baseline = context.baseline() if context.runbook.noise else None
    return None if baseline is None else baseline.ready_at


def _play(context: NoisyTrial, index: int, source: NoiseSource, start: float, now: float) -> float:
    event = find_latest(source, context.spec.seed, start, now)
    number = -1 if event is None else event.number
    current = _make_ordinal(index, number)
    over = event is None or (event.until is not None and event.until <= now)
    for receipt in context.engine.list_active(GROUP + source.name):
        if not receipt.change.operation.restarts and (receipt.ordinal != current or over):
            context.engine.undo([receipt])  # a blocked undo is retried later
    if event is not None and not over:
        _begin(context, current, event)
    following = compute_occurrence(source, context.spec.seed, start, number + 1).at
    return following if event is None or over or event.until is None else min(event.until, following)


def _begin(context: NoisyTrial, ordinal: int, event: Event) -> None:
    try:
        context.engine.do(event.change, ordinal=ordinal, group=GROUP + event.source, causal=False)
    except AuthoringError as error:
        # The solver may have removed the object or set the same value; the trial has not failed.
        message = f"noise '{event.source}' is skipped: {error.message}"
        if message not in context.warned:
            context.warned.add(message)
            log.warning("%s: %s", context.name, message)


def _make_ordinal(index: int, number: int) -> int:
    return _FIRST + index * _BLOCK + number


def measure_offered(context: NoisyTrial, start: float, end: float) -> float:
    """Measure the average load offered in a window, as a multiple of the scenario's own."""
    began = _start(context)
    if began is None or end <= start:
        return 1.0
    extra = sum(
        max(0.0, min(event.until or event.at, end) - max(event.at, start)) * (event.users / context.runbook.users - 1)
        for event in _list_swings(context, began, end)
    )
    return 1.0 + extra / (end - start)


def _list_swings(context: NoisyTrial, start: float, end: float) -> Iterator[Event]:
    """List the load swings applied between these times."""
    seed = context.spec.seed
    played = {r.ordinal for r in context.engine.list_receipts(GROUP)}
    for index, source in enumerate(context.runbook.noise):
        if source.users:
            yield from (e for e in list_events([source], seed, start, end) if _make_ordinal(index, e.number) in played)


def adjust_guards(context: NoisyTrial, baseline: tuple[Guarded, ...]) -> tuple[Guarded, ...]:
    """Return the current guards: an active load swing is part of the offered load.

    So is a change of the load by a benign fault, which need not end to be harmless.
    """
    swung: dict[tuple[str, str], dict[str, str]] = {}
    for entry in (e for r in _list_in_force(context) for e in r.entries if e.prior and e.after):
        before, after = (
            invariants.take_baseline([o], context.runbook.app) for o in (entry.prior or {}, entry.after or {})
        )
        # Only what the swing itself set, as other settings may have changed before it.
        for was, now in zip(before, after, strict=True):
            settings = {k: v for k, v in now.environment.items() if was.environment.get(k) != v}
            swung.setdefault((now.kind, now.name), {}).update(settings)
    return tuple(
        msgspec.structs.replace(g, environment={**g.environment, **swung[key]})
        if (key := (g.kind, g.name)) in swung
        else g
        for g in baseline
    )


def _list_in_force(context: NoisyTrial) -> list[Receipt]:
    swings = (
        [r for r in context.engine.list_active(GROUP) if not r.change.operation.restarts]
        if context.runbook.noise
        else []
    )
    benign = context.engine.list_active(FAULT_GROUPS) if context.runbook.outcome == "Benign" else []
    return [*benign, *swings]
