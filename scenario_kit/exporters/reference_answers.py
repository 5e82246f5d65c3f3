"""Answers whose scores are known beforehand: the truth itself, and that there is no incident."""

from __future__ import annotations

from typing import Any, Final

from scenario_kit.scoring.entities.answer import AnswerEdge, SolverAnswer
from scenario_kit.scoring.entities.name import build_entity_name
from scenario_kit.scoring.entities.truth import IncidentTruth, TruthGroup
from scenario_kit.scoring.files.answers import build_agent_output
from scenario_kit.scoring.matching.alias_classes import build_alias_classes

#: The answer that is right where nothing is broken, in ITBench's form.
NO_INCIDENT: Final[dict[str, Any]] = build_agent_output(SolverAnswer())


def build_oracle_answer(truth: IncidentTruth) -> dict[str, Any]:
    """Build the right answer to a truth, in ITBench's form: one name for each root, and the propagation."""
    if truth.outcome != "Incident":
        return NO_INCIDENT
    spelled = {group.id: spell_group(group) for group in truth.groups if group.names}
    roots = [each for each in build_alias_classes(truth.groups, truth.aliases) if each.root]
    claims = [next(spelled[g.id] for g in sorted(each.groups, key=lambda g: not g.root) if g.names) for each in roots]
    edges = [
        AnswerEdge(source=spelled[edge.source], target=spelled[edge.target])
        for edge in truth.edges if {edge.source, edge.target} <= spelled.keys()
    ]  # fmt: skip
    chain = [name for edge in edges for name in (edge.source, edge.target)]
    return build_agent_output(SolverAnswer(claims=tuple(claims), chain=tuple(chain), edges=tuple(edges)))


def build_control_truth(truth: IncidentTruth) -> IncidentTruth:
    """Build the truth of the control twin, in which nothing is broken."""
    return IncidentTruth(incident=f"{truth.incident}-control", outcome="NoIncident")


def spell_group(group: TruthGroup) -> str:
    """Spell the first object of a group as answers do: ``namespace/Kind/name``."""
    return str(build_entity_name(group.kind, group.names[0], group.namespace))
