"""SK208: how long a scenario may make everybody wait."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scenario_kit.lint.case import Case
from scenario_kit.lint.entry import FaultCase
from scenario_kit.lint.rule import Problem, rule
from scenario_kit.load.edit import Put

#: Seconds that any one deadline or delay may have: three quarters of an hour.
CAP: Final = 2700
_FIELDS: Final = ("withinSeconds", "afterSeconds")


@rule(
    "SK208",
    why="a validation waits for every deadline several times, on machines that others are waiting for",
    bad="withinSeconds: 7200",
    good="withinSeconds: 2700",
    fix=f"write at most {CAP}, or choose an alert that fires sooner",
    repair=f"writes {CAP}",
    about=("Scenario", "Fault"),
)
def too_long(case: Case | FaultCase) -> Iterator[Problem]:
    """A deadline or a delay is above the cap."""
    for place, raw in case.positions.raw.items():
        if place[-1:] and place[-1] in _FIELDS and raw.isdigit() and int(raw) > CAP:
            message = f"`{place[-1]}: {raw}` is longer than {CAP // 60} minutes"
            yield Problem(place, message, f"{raw} s", f"at most {CAP} s", edits=(Put(place, CAP),))
