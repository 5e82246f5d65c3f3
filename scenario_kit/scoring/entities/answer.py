"""The answer of a solver, common to all formats."""

from __future__ import annotations

from scenario_kit.model.base import Value
from scenario_kit.scoring.entities.truth import FinopsResource


class AnswerEdge(Value, frozen=True, kw_only=True):
    """A claimed effect of ``source`` on ``target``."""

    source: str
    target: str


class SolverAnswer(Value, frozen=True, kw_only=True):
    """An answer: ``claims`` are its root causes in order, ``chain`` all entities of its propagation.

    Names are spelled as in the answer.
    """

    claims: tuple[str, ...] = ()
    chain: tuple[str, ...] = ()
    edges: tuple[AnswerEdge, ...] = ()
    resources: tuple[FinopsResource, ...] = ()
