"""Build the ground truth of a scenario: labelled causes with aliases, and the propagation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from scenario_kit.model import Fault
from scenario_kit.model.authored.scenario import GroundTruth, ScenarioSpec
from scenario_kit.model.kubernetes.reference import Reference, resolve_namespace
from scenario_kit.scoring.entities.name import build_entity_name
from scenario_kit.scoring.entities.truth import CausalEdge, IncidentTruth, TruthGroup


def build_scenario_truth(
    name: str, spec: ScenarioSpec, resolved: GroundTruth, faults: Sequence[Fault], namespace: str = ""
) -> IncidentTruth:
    """Build the ground truth of a scenario.

    Conjunctive causes of one fault, labelled or not, are aliases of each other: naming any of them is right
    (docs/causes-and-outcomes.md).

    Args:
        name: name of the scenario.
        spec: the authored spec.
        resolved: its ground truth with ``Fault/<name>`` resolved to generated names.
        faults: the rendered faults, for conjunctive causes.
        namespace: namespace in which the app was deployed; if empty, names match in any namespace.
    """
    causes = _list_answers(resolved, faults)
    roots = {name for names in causes for name in names} if resolved.outcome == "Incident" else set()
    names = [*(name for names in causes for name in names), *_list_ends(resolved)]
    return IncidentTruth(
        incident=name,
        outcome=resolved.outcome,
        groups=tuple(_build_group(each, namespace, root=each in roots) for each in dict.fromkeys(names)),
        aliases=tuple(tuple(map(str, names)) for names in causes if len(names) > 1),
        edges=tuple(CausalEdge(source=str(e.from_), target=str(e.to), effect=e.because) for e in resolved.propagation),
        alerts=tuple(alert.name for alert in spec.expect.alerts if alert.alert_class == "MustFire"),
        steps=_count_steps(spec, faults),
        repaired=tuple(_build_group(each, namespace, root=False) for each in _list_repaired(spec, faults)),
    )


def _list_answers(truth: GroundTruth, faults: Sequence[Fault]) -> list[tuple[Reference, ...]]:
    """List the accepted answers: each cause with its aliases, the labelled object first."""
    joined = {fault.name: [each.ref for each in fault.causes] for fault in faults if fault.causes_join == "Conjunctive"}
    answers: dict[str, list[Reference]] = {}
    for cause in truth.root_causes:
        key = f"fault {cause.fault}" if cause.fault in joined else cause.entity or ""
        answers.setdefault(key, []).extend(name for name in (cause.entity, *cause.aliases) if name)
    for fault, alternatives in joined.items():
        if f"fault {fault}" in answers:
            answers[f"fault {fault}"] += alternatives
    return [tuple(dict.fromkeys(names)) for names in answers.values()]


def _count_steps(spec: ScenarioSpec, faults: Sequence[Fault]) -> int | None:
    """Count the changes of the shortest documented repair: the scenario's own, else the sum over its faults."""
    own = [len(solution.changes) for solution in spec.solutions]
    of_faults = [min(len(each.changes) for each in fault.solutions) for fault in faults if fault.solutions]
    return max(1, min(own)) if own else max(1, sum(of_faults)) if of_faults else None


def _list_repaired(spec: ScenarioSpec, faults: Sequence[Fault]) -> Iterable[Reference]:
    """List the objects that documented repairs of the scenario and its faults change."""
    solutions = [*spec.solutions, *(solution for fault in faults for solution in fault.solutions)]
    targets = (change.operation.ref for solution in solutions for change in solution.changes)
    return dict.fromkeys(target for target in targets if target)


def _list_ends(truth: GroundTruth) -> Iterable[Reference]:
    for edge in truth.propagation:
        yield from (edge.from_, edge.to)


def _build_group(reference: Reference, namespace: str, *, root: bool) -> TruthGroup:
    real = resolve_namespace(namespace, reference.namespace) if namespace else ""
    name = build_entity_name(reference.kind, reference.name, real)
    return TruthGroup(id=str(reference), kind=name.kind, namespace=name.namespace, names=(name.name,), root=root)
