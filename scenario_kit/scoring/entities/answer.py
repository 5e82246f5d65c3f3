"""The answer of a solver, as every format of it is read."""

from __future__ import annotations

from scenario_kit.model.base import Value
from scenario_kit.scoring.entities.truth import FinopsResource


class AnswerEdge(Value, frozen=True, kw_only=True):
    """A claim that ``source`` hurts ``target``."""

    source: str
    target: str


class SolverAnswer(Value, frozen=True, kw_only=True):
    """``claims`` are what the answer calls root causes, in its order; ``chain`` every entity that it names on the way.

    Texts are names as the answer spells them.
    """

    claims: tuple[str, ...] = ()
    chain: tuple[str, ...] = ()
    edges: tuple[AnswerEdge, ...] = ()
    resources: tuple[FinopsResource, ...] = ()
