"""Wait for rollouts of the app's workloads."""

from __future__ import annotations

from collections.abc import Collection

from scenario_kit.changes import is_settled
from scenario_kit.model import Object
from scenario_kit.model.kubernetes.reference import WORKLOADS
from scenario_kit.trial.engine.context import TICK, TrialContext


def list_live(context: TrialContext, desired: Collection[tuple[str, str]]) -> list[Object]:
    """List the workloads of these kinds and names, which are unique over all namespaces of an app."""
    return [o for o in context.contents(*WORKLOADS) if (o["kind"], o["metadata"]["name"]) in desired]


def list_rolling(context: TrialContext, desired: Collection[tuple[str, str]]) -> list[Object]:
    """List those whose rollout is incomplete."""
    return [o for o in list_live(context, desired) if not is_settled(o)]


def roll_out(context: TrialContext, desired: Collection[tuple[str, str]], seconds: float) -> list[Object]:
    """Wait at most ``seconds`` of trial time for their rollouts; return workloads whose rollout is incomplete."""
    deadline = context.clock.now() + seconds
    while (left := list_rolling(context, desired)) and context.clock.now() < deadline:
        context.wait(context.clock.now() + (TICK if context.virtual else 1))
    return left
