"""Options that several commands about runs share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

if TYPE_CHECKING:
    from scenario_kit.scoring.scores.settings import ScoreSettings

#: The default seed of intervals.
SEED = 20_260_101


class RankingOptions(NamedTuple):
    """How the runs of several solvers are scored and compared."""

    repeats: Annotated[
        int, typer.Option(min=1, help="Runs that each solver should have of each incident; missing ones count as 0.")
    ] = 3
    prices: Annotated[Path | None, typer.Option(help="A price list with a date: tokens become money.")] = None
    seed: Annotated[int, typer.Option(min=0, help="Seed of the intervals by bootstrap.")] = SEED

    def build_settings(self) -> ScoreSettings:
        """Build the settings of scoring.

        Raises:
            UsageError: the price list does not exist.
            AuthoringError: it is invalid.
        """
        from scenario_kit.scoring.files.price_lists import read_price_list
        from scenario_kit.scoring.scores.settings import ScoreSettings

        prices = read_price_list(self.prices) if self.prices else None
        return ScoreSettings(repeats=self.repeats, seed=self.seed, prices=prices)
