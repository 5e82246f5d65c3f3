"""Whether an answer names the first component that fails visibly (fault_localization_component_identification)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from scenario_kit.scoring.graph.components import label_class
from scenario_kit.scoring.graph.propagation import list_class_edges, order_truth
from scenario_kit.scoring.matching.matcher import TruthIndex

#: Words by which an effect names a failure.
_FAILURE: Final = re.compile(
    r"(?i)\b(error|fail|latenc|slow|delay|time[sd]?[ -]?out|cpu|memory|saturat|throttl|unavailab|unreachab|unrespons"
    r"|refus|reject|drop|image ?pull|crash|restart|out of memory|oom|not ready|unhealth|down\b|exhaust|5\d\d\b|5xx)"
)


def find_first_failing_component(index: TruthIndex) -> str | None:
    """Find the first component on the way of the trouble whose effect names a failure; None where none does.

    The effect of an edge is what happens at its target.
    """
    labels = {each.id: label_class(each) for each in index.classes}
    place = {id: position for position, id in enumerate(order_truth(index))}
    failing = [(place[target], target) for _, target, edge in list_class_edges(index) if _FAILURE.search(edge.effect)]
    return labels[min(failing)[1]] if failing else None


def identify_component(index: TruthIndex, model: Sequence[str]) -> float | None:
    """Return 1 if that component is in the answer's path, else 0; None where the truth names no failure."""
    component = find_first_failing_component(index)
    return None if component is None else float(component in model)
