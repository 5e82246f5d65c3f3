"""SK454, SK455, SK456: the steps of the propagation and their reasons."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from scenario_kit.lint.context.affected_objects import touches
from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.lint.framework.rule import Problem, register_check
from scenario_kit.load.yaml.edit import Drop
from scenario_kit.model import Reference
from scenario_kit.model.authored.scenario import PropagationEdge
from scenario_kit.model.json_document import Place
from scenario_kit.render.apps.placement import CLUSTER_KINDS

_PLACE: Final[Place] = ("spec", "groundTruth", "propagation")
_WORD: Final = re.compile(r"[^\W\d_]+")
#: Minimum number of letters of a reason, in any language.
_MIN_LETTERS: Final = 10
#: Number of edges that may share a reason: those of one object to two callers.
_SHARED: Final = 2


@register_check("SK454")
def check_untied(case: LintContext) -> Iterator[Problem]:
    objects, app = case.objects, case.app
    if objects is None or app is None or len(case.faults) < len(case.scenario.spec.faults):
        return
    for i, edge in enumerate(case.scenario.spec.ground_truth.propagation):
        for end, ref in (("from", edge.from_), ("to", edge.to)):
            named = (e.ref for fault in case.faults.values() for e in fault.entities)
            if ref.kind not in CLUSTER_KINDS or any(ref.is_same(name) for name in named):
                continue
            if not any(touches(fault, objects, app, ref) for fault in case.faults.values()):
                message = f"no fault touches {ref}, and pods may be scheduled anywhere"
                yield Problem((*_PLACE, i, end), message, ref, "an object of the app, or one that a fault changes")


@register_check("SK455")
def check_repeated(case: LintContext) -> Iterator[Problem]:
    seen = set[tuple[Reference, Reference]]()
    for i, edge in enumerate(case.scenario.spec.ground_truth.propagation):
        step = (edge.from_.groupless, edge.to.groupless)
        place = (*_PLACE, i)
        if step in seen:
            message = f"the edge from {edge.from_} to {edge.to} is written twice"
            yield Problem(place, message, f"{edge.from_} → {edge.to}", "each edge once", edits=(Drop(place),))
        elif step[0] == step[1]:
            message = f"an edge leads from {edge.from_} to itself"
            yield Problem(
                place, message, f"{edge.from_} → {edge.to}", "an edge to another object", edits=(Drop(place),)
            )
        seen.add(step)


@register_check("SK456")
def check_unexplained(case: LintContext) -> Iterator[Problem]:
    edges = case.scenario.spec.ground_truth.propagation
    reported: dict[str, list[int]] = defaultdict(list)
    for i, edge in enumerate(edges):
        place: Place = (*_PLACE, i, "because")
        words = _WORD.findall(edge.because.casefold())
        if place not in case.positions.texts:
            continue  # no reason is given
        if sum(map(len, words)) < _MIN_LETTERS or _names_only(edge):
            message = f"the edge from {edge.from_} to {edge.to} has no reason"
            yield Problem(place, message, edge.because or "nothing", "how the one affects the other")
        else:
            reported[" ".join(words)].append(i)
    for numbers in filter(lambda numbers: _is_repeated(edges, numbers), reported.values()):
        message = f"{len(numbers)} edges have the same reason: '{edges[numbers[0]].because}'"
        place = (*_PLACE, numbers[1], "because")
        yield Problem(place, message, edges[numbers[1]].because, "a specific reason for each step")


def _is_repeated(edges: Sequence[PropagationEdge], numbers: Sequence[int]) -> bool:
    """Return whether more edges have a reason in common than those of one object to two callers."""
    starts = {edges[i].from_.groupless for i in numbers}
    return len(numbers) > _SHARED or (len(numbers) > 1 and len(starts) > 1)


def _names_only(edge: PropagationEdge) -> bool:
    """Return whether a reason consists only of the names of its two ends."""
    ends = set(_WORD.findall(f"{edge.from_} {edge.to}".casefold()))
    return set(_WORD.findall(edge.because.casefold())) <= ends | {"to", "from", "and"}
