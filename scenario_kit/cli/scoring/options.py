"""Options that several commands about runs share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

ExpectedRuns = Annotated[
    int, typer.Option(min=1, help="Runs that each solver should have of each incident; missing ones count as 0.")
]
PriceList = Annotated[Path | None, typer.Option(help="A price list with a date: tokens become money.")]
IntervalSeed = Annotated[int, typer.Option(min=0, help="Seed of the intervals by bootstrap.")]
#: The default seed of intervals.
SEED = 20_260_101
