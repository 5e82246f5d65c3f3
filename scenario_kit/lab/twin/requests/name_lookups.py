"""Calls that resolve their callee's name each for itself, where queries are lost."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from scenario_kit.lab.twin.network.calls import CallBatch
from scenario_kit.lab.twin.network.dialling import ConnectionLane
from scenario_kit.lab.twin.network.lost_queries import NameResolution, choose
from scenario_kit.lab.twin.numeric.arrays import Floats
from scenario_kit.lab.twin.numeric.batches import Result
from scenario_kit.lab.twin.outcome import ConnectionOutcome
from scenario_kit.model.twin.edge import Edge


def resolve_each(
    calls: CallBatch,
    lane: ConnectionLane,
    edge: Edge,
    uniform: Floats,
    call: Callable[[CallBatch, ConnectionLane], Result],
) -> Result:
    """Let each call resolve its callee's name, by uniform numbers; ``call`` makes those of one course."""
    course = choose(lane.resolutions, uniform)
    whole = Result(np.zeros(calls.at.size), np.zeros(calls.at.size, dtype=bool))
    for number, resolution in enumerate(lane.resolutions):
        who = np.flatnonzero(course == number)
        if who.size:
            whole = whole.with_part(who, call(calls.part(who), _follow(lane, edge, resolution)))
    return whole


def _follow(lane: ConnectionLane, edge: Edge, resolution: NameResolution) -> ConnectionLane:
    """Return the lane behind one course of a resolution; an attempt to connect includes it, and may end before."""
    found = lane._replace(resolve_seconds=resolution.seconds, resolutions=())
    if resolution.outcome != ConnectionOutcome.OK:
        return found._replace(outcome=resolution.outcome, target=None)
    if 0.0 < edge.connect_timeout_seconds <= resolution.seconds:
        return found._replace(outcome=ConnectionOutcome.CONNECTION_TIMEOUT, target=None)
    return found
