"""Runs of solvers under published names: as a leaderboard, and as outcomes per solver."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import typer

from scenario_kit.cli.scoring.record_files import find_records
from scenario_kit.cli.scoring.truths import load_contexts
from scenario_kit.scoring.files.outputs import read_runs
from scenario_kit.scoring.leaderboard.board import Leaderboard, build_leaderboard
from scenario_kit.scoring.leaderboard.outcomes import list_outcomes

if TYPE_CHECKING:
    from scenario_kit.scoring.scores.settings import ScoreSettings


def read_published_runs(
    scenarios: Path, runs: Sequence[Path], hashed: Mapping[str, str], settings: ScoreSettings
) -> tuple[Leaderboard | None, dict[str, dict[str, tuple[bool, ...]]]]:
    """Read and score runs; empty results if there are none.

    Args:
        scenarios: the scenarios of the runs.
        runs: records, or folders of them, under real or hashed names.
        hashed: the published names of held-out scenarios.
        settings: settings of scoring.

    Raises:
        UsageError: a path does not exist, or a run belongs to another incident.
        AuthoringError: a record is invalid.
    """
    if not runs:
        return None, {}
    typer.echo("scoring the runs", err=True)
    truths, _ = load_contexts(scenarios, None, "")
    contexts = {hashed.get(name, name): context for name, context in truths.items()}
    known = [*contexts, *(name for name in truths if name in hashed)]
    records = [
        msgspec.structs.replace(each, incident=hashed.get(each.incident, each.incident))
        for each in read_runs(list(find_records(runs)), known)
    ]
    return build_leaderboard(contexts, records, settings), list_outcomes(contexts, records, settings)
