"""Identification of the first visibly failing component (fault_localization_component_identification)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from scenario_kit.scoring.graph.chain import list_truth_paths
from scenario_kit.scoring.graph.components import label_class
from scenario_kit.scoring.graph.propagation import list_class_edges
from scenario_kit.scoring.matching.matcher import TruthIndex

#: Words that denote a failure in an effect: the evaluator's and synonyms. Changes of configuration or state do not
#: count.
_FAILURE: Final = re.compile(
    r"(?i)\b(?:error|fail|latenc|slow|time[sd]?[ -]?out|high (?:cpu|memory)|saturat|throttl|threshold|unavailab"
    r"|unreachab|unrespons|refus|image ?pull|crash|out of memory|oom|not ready|unhealth|exhaust|5\d\d\b|5xx)"
)
_WORD: Final = re.compile(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?")


def find_first_failing_component(index: TruthIndex) -> str | None:
    """Find the first component whose effect denotes a failure, by the evaluator's rule.

    Edges are scanned in file order from the first one at a root. The component is the one named in the effect, else the
    target of the edge. If no effect denotes a failure, it is the successor of the root on the longest path; None if
    there is none.
    """
    labels = {each.id: label_class(each) for each in index.classes}
    roots = {each.id for each in index.roots}
    edges = list_class_edges(index)
    first = next((i for i, (source, _, _) in enumerate(edges) if source in roots), 0)
    for _, target, edge in edges[first:]:
        if _FAILURE.search(edge.effect):
            return _find_named(edge.effect, labels.values()) or labels[target]
    longest = max(list_truth_paths(index), key=len, default=[])
    return longest[1] if len(longest) > 1 else None


def identify_component(index: TruthIndex, model: Sequence[str]) -> float | None:
    """Return 1 if that component is in the answer's path, else 0; None if the ground truth has none."""
    component = find_first_failing_component(index)
    return None if component is None else float(component in model)


def _find_named(effect: str, labels: Iterable[str]) -> str:
    """Return the first component of the ground truth that a text names."""
    known = set(labels)
    return next((word for word in _WORD.findall(effect.lower()) if word in known), "")
