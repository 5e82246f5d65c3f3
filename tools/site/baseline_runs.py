"""The outcomes of the baselines that are committed, as records of runs that ``scenario-kit site`` reads. Pure."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def convert_outcomes(lines: Iterable[str], digests: Mapping[str, str]) -> list[dict[str, Any]]:
    """Convert the outcomes of scenarios that are still the same.

    Args:
        lines: of docs/leaderboard.jsonl; half a line, which whoever was interrupted leaves, is none.
        digests: of each scenario the digest that its evidence has.
    """
    found: dict[tuple[str, int, str], dict[str, Any]] = {}
    for line in lines:
        if not line.rstrip().endswith("}"):
            continue
        outcome = json.loads(line)
        if digests.get(outcome["scenario"]) == outcome["digest"]:
            found[outcome["scenario"], outcome["seed"], outcome["solver"]] = outcome
    return [_convert_outcome(found[key]) for key in sorted(found)]


def _convert_outcome(outcome: Mapping[str, Any]) -> dict[str, Any]:
    """Convert one; a run that ended without an answer has none."""
    entities = [{"name": name, "contributing_factor": True} for name in outcome.get("blamed", ())]
    answered = bool(entities) or outcome.get("stop") == "finish"
    answer = {"entities": entities, "propagations": [], "alerts_explained": []}
    return {
        "run_id": f"{outcome['scenario']}-{outcome['solver']}-{outcome['seed']}",
        "scenario": {"id": outcome["scenario"]}, "agent": {"name": outcome["solver"]},
        "stop_reason": outcome.get("stop") or "error", "turns": outcome.get("turns", 0), "start": 0,
        "end": outcome.get("seconds", 0.0), **({"answer": answer} if answered else {}),
    }  # fmt: skip


def count_repeats(records: Sequence[Mapping[str, Any]]) -> int:
    """Count the runs that each solver should have of each scenario: the most that any has."""
    counts = Counter((each["scenario"]["id"], each["agent"]["name"]) for each in records)
    return max(counts.values(), default=1)
