"""Reference answers with known scores: the oracle's, and "no incident"."""

from __future__ import annotations

from typing import Any, Final

from scenario_kit.scoring.entities.answer import AnswerEdge, SolverAnswer
from scenario_kit.scoring.entities.name import build_entity_name
from scenario_kit.scoring.entities.truth import IncidentTruth, TruthGroup
from scenario_kit.scoring.files.answers import build_agent_output
from scenario_kit.scoring.matching.alias_classes import build_alias_classes

#: The right answer when nothing is broken, in ITBench's format.
NO_INCIDENT: Final[dict[str, Any]] = build_agent_output(SolverAnswer())


def build_oracle_answer(truth: IncidentTruth) -> dict[str, Any]:
    """Build the right answer in ITBench's format: one name per root cause, and the propagation."""
    if truth.outcome != "Incident":
        return NO_INCIDENT
    names = {group.id: spell_group(group) for group in truth.groups if group.names}
    claims = [names[group.id] for group in list_named_roots(truth)]
    edges = [
        AnswerEdge(source=names[edge.source], target=names[edge.target])
        for edge in truth.edges if {edge.source, edge.target} <= names.keys()
    ]  # fmt: skip
    chain = [name for edge in edges for name in (edge.source, edge.target)]
    return build_agent_output(SolverAnswer(claims=tuple(claims), chain=tuple(chain), edges=tuple(edges)))


def build_control_truth(truth: IncidentTruth) -> IncidentTruth:
    """Build the truth of the control twin: no incident."""
    return IncidentTruth(incident=f"{truth.incident}-control", outcome="NoIncident")


def list_named_roots(truth: IncidentTruth) -> list[TruthGroup]:
    """List one group with a name for each root cause, a labelled one if possible."""
    roots = [each.groups for each in build_alias_classes(truth.groups, truth.aliases) if each.root]
    return [next(g for g in sorted(groups, key=lambda g: not g.root) if g.names) for groups in roots]


def spell_group(group: TruthGroup) -> str:
    """Format the first object of a group as ``namespace/Kind/name``, as answers name objects."""
    return str(build_entity_name(group.kind, group.names[0], group.namespace))
