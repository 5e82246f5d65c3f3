"""Which recorded runs of which solver were exactly right, by incident."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from scenario_kit.scoring.leaderboard.board import UNNAMED
from scenario_kit.scoring.runs.record import RunRecord
from scenario_kit.scoring.scores.run_score import TruthContext, score_run
from scenario_kit.scoring.scores.settings import ScoreSettings


def list_outcomes(
    contexts: Mapping[str, TruthContext], records: Iterable[RunRecord], settings: ScoreSettings
) -> dict[str, dict[str, tuple[bool, ...]]]:
    """List, for each incident and solver, whether each recorded run was exactly right.

    In a leaderboard, a run that is missing has failed; here it says nothing, since an incident is not made difficult by
    a solver that was never asked.
    """
    found: dict[str, dict[str, tuple[bool, ...]]] = {name: {} for name in contexts}
    for record in records:
        solvers = found[record.incident]
        solver = record.solver or UNNAMED
        right = score_run(contexts[record.incident], record, settings).correct
        solvers[solver] = (*solvers.get(solver, ()), right)
    return found
