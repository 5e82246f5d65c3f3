"""Converts outcomes of the baselines to run records, which ``scenario-kit site`` reads. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from scenario_kit.model.base import Object
from tools.leaderboard.outcomes import BaselineOutcome


def convert_outcomes(outcomes: Iterable[BaselineOutcome], digests: Mapping[str, str]) -> list[Object]:
    """Convert the outcomes of unchanged scenarios; ``digests`` are those of their evidence."""
    current = [each for each in outcomes if digests.get(each.scenario) == each.digest]
    return [_convert_outcome(each) for each in sorted(current, key=lambda each: each.key)]


def _convert_outcome(outcome: BaselineOutcome) -> Object:
    """Convert one outcome. A run that finished has an answer, which may claim nothing."""
    entities = [{"name": name, "contributing_factor": True} for name in outcome.blamed]
    answer = {"entities": entities, "propagations": [], "alerts_explained": []}
    return {
        "run_id": f"{outcome.scenario}-{outcome.solver}-{outcome.seed}", "scenario": {"id": outcome.scenario},
        "agent": {"name": outcome.solver}, "stop_reason": outcome.stop or "error", "turns": outcome.turns, "start": 0,
        "end": outcome.seconds, **({"answer": answer} if entities or outcome.stop == "finish" else {}),
    }  # fmt: skip


def count_repeats(records: Sequence[Mapping[str, Any]]) -> int:
    """Return the expected number of runs per solver and scenario: the maximum of all."""
    counts = Counter((each["scenario"]["id"], each["agent"]["name"]) for each in records)
    return max(counts.values(), default=1)
