"""Outcomes of the baselines as records of runs, which ``scenario-kit site`` reads. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from scenario_kit.model.base import Object
from tools.leaderboard.outcomes import BaselineOutcome


def convert_outcomes(outcomes: Iterable[BaselineOutcome], digests: Mapping[str, str]) -> list[Object]:
    """Convert the outcomes of scenarios that are still the same; ``digests`` has what the evidence of each is of."""
    current = [each for each in outcomes if digests.get(each.scenario) == each.digest]
    return [_convert_outcome(each) for each in sorted(current, key=lambda each: each.key)]


def _convert_outcome(outcome: BaselineOutcome) -> Object:
    """Convert one. A run that ended by itself has an answer, which may claim nothing."""
    entities = [{"name": name, "contributing_factor": True} for name in outcome.blamed]
    answer = {"entities": entities, "propagations": [], "alerts_explained": []}
    return {
        "run_id": f"{outcome.scenario}-{outcome.solver}-{outcome.seed}", "scenario": {"id": outcome.scenario},
        "agent": {"name": outcome.solver}, "stop_reason": outcome.stop or "error", "turns": outcome.turns, "start": 0,
        "end": outcome.seconds, **({"answer": answer} if entities or outcome.stop == "finish" else {}),
    }  # fmt: skip


def count_repeats(records: Sequence[Mapping[str, Any]]) -> int:
    """Count the runs that each solver should have of each scenario: the most that any has."""
    counts = Counter((each["scenario"]["id"], each["agent"]["name"]) for each in records)
    return max(counts.values(), default=1)
