"""Metrics computed from a run's record; metrics without data are omitted."""

from __future__ import annotations

from collections.abc import Iterator

from scenario_kit.scoring.entities.name import parse_entity_name
from scenario_kit.scoring.graph.blast_radius import measure_blast_radius
from scenario_kit.scoring.graph.components import label_class
from scenario_kit.scoring.graph.locate import Locator
from scenario_kit.scoring.graph.propagation import order_truth
from scenario_kit.scoring.graph.trajectory import find_visits, measure_exploration
from scenario_kit.scoring.matching.fit import fit_own_kind
from scenario_kit.scoring.matching.matcher import TruthIndex, fit_entity
from scenario_kit.scoring.metrics.finops import compute_cost_proximity
from scenario_kit.scoring.metrics.safeguards import compute_safe_outcome
from scenario_kit.scoring.runs.record import RunRecord, ToolCall
from scenario_kit.scoring.runs.usage import compute_cost
from scenario_kit.scoring.scores.settings import ScoreSettings


def measure_record(
    index: TruthIndex, record: RunRecord, locator: Locator | None, settings: ScoreSettings
) -> dict[str, float]:
    """Compute all metrics for which the record has data."""
    values = dict(_measure_usage(record, settings))
    values |= dict(_measure_repair(record))
    if record.tool_calls is not None:
        values |= _measure_calls(index, record.tool_calls, locator)
    if record.changed is not None:
        values |= _measure_changes(index, record.changed, locator)
    return values


def _measure_usage(record: RunRecord, settings: ScoreSettings) -> Iterator[tuple[str, float]]:
    if record.turns is not None:
        yield "turns", float(record.turns)
    if record.times.wall is not None:
        yield "wall_seconds", record.times.wall
    if record.tokens is None:
        return
    for name in ("input", "cached", "output", "reasoning", "total"):
        yield f"tokens.{name}", float(getattr(record.tokens, name))
    price = settings.prices.models.get(record.model) if settings.prices else None
    if price is not None:
        yield "cost", compute_cost(record.tokens, price)


def _measure_repair(record: RunRecord) -> Iterator[tuple[str, float]]:
    if record.resolved is not None:
        yield "mitigation", float(record.resolved)
    if record.safeguards:
        yield "safeguards.held", sum(each.held for each in record.safeguards) / len(record.safeguards)
        if record.resolved is not None:
            yield "safeguards.outcome", compute_safe_outcome(float(record.resolved), record.safeguards)
    if record.optimum:
        near = [compute_cost_proximity(observed, optimal) for observed, optimal in record.optimum.values()]
        yield "cost_proximity", sum(near) / len(near)


def _measure_calls(index: TruthIndex, calls: tuple[ToolCall, ...], locator: Locator | None) -> dict[str, float]:
    """Measure the trajectory over the services of the topology and of the propagation."""
    values = {}
    if calls:
        values["invalid_call_rate"] = sum(not call.valid for call in calls) / len(calls)
        values["failed_call_rate"] = sum(not call.ok for call in calls) / len(calls)
    labels = {each.id: label_class(each) for each in index.classes}
    path = {labels[id] for id in order_truth(index)}
    if path:
        services = path | locator.names if locator else path
        found = measure_exploration(find_visits((call.text for call in calls), services), path)
        values |= {"coverage": found.coverage} | ({"detour": float(found.detour)} if locator else {})
    return values


def _measure_changes(index: TruthIndex, changed: tuple[str, ...], locator: Locator | None) -> dict[str, float]:
    """Measure the blast radius; changes to roots, their aliases and objects of documented repairs are excluded."""
    needed = {name for name in changed if _is_needed(index, name)}
    objects = measure_blast_radius(set(changed), needed)
    values = {"blast_radius.objects": float(objects.unneeded)}
    if locator is not None:
        nodes = set(locator.locate_all(changed)), set(locator.locate_all(sorted(needed)))
        located = measure_blast_radius(*nodes, locator.topology)
        values["blast_radius.share"] = located.share or 0.0
    return values


def _is_needed(index: TruthIndex, name: str) -> bool:
    entity = parse_entity_name(name)
    if entity is None:
        return False
    ids = fit_entity(index, entity).class_ids
    root = len(ids) == 1 and ids[0] in {each.id for each in index.roots}
    return root or any(fit_own_kind(entity, group) for group in index.truth.repaired)
