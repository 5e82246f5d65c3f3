"""Actions on the objects of a live incident by step, and their possible outcomes. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import Final, Literal

from scenario_kit.model import Value

Action = Literal[
    "scenario-deleted", "scenario-edited", "scenario-suspended", "trial-deleted", "namespace-deleted", "app-occupied"
]
#: Deletes the Scenario, changes its app, suspends it, deletes its Trial or the namespace of its app, or
#: applies another Scenario of the same app.
ACTIONS: Final[tuple[Action, ...]] = (
    "scenario-deleted", "scenario-edited", "scenario-suspended", "trial-deleted", "namespace-deleted", "app-occupied",
)  # fmt: skip
#: The steps of a live incident; the last one is the investigation.
LIVE_STAGES: Final = ("deploy", "expectQuiet", "inject", "expectAlerts", "expectCleared")
#: What the Scenario has to come to: the incident is there, again or still; it is suspended; or it is gone.
ENDS: Final[dict[Action, str]] = {
    "scenario-deleted": "gone", "scenario-edited": "IncidentActive", "scenario-suspended": "Suspended",
    "trial-deleted": "IncidentActive", "namespace-deleted": "IncidentActive", "app-occupied": "IncidentActive",
}  # fmt: skip


class LiveCell(Value, frozen=True, kw_only=True):
    """One action, while the trial of a Scenario runs a step of that kind."""

    action: Action
    stage: str

    def __str__(self) -> str:
        return f"{self.action} in {self.stage}"


class LiveOutcome(Value, frozen=True, kw_only=True):
    """What came of it: the step in which it really was, what the Scenario came to, and what was left in the end.

    ``reached`` is the reason of its condition Ready, or ``gone``. ``broken`` tells of trials that were held against
    the scenario.
    """

    cell: LiveCell
    struck: str
    reached: str
    message: str = ""
    seconds: float = 0.0
    left: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()

    @property
    def wrong(self) -> str:
        """Why this must not be; empty if it may, and where the step was over before it was seen."""
        if not self.struck:
            return ""
        if self.broken:
            return f"held against the scenario: {', '.join(self.broken)}"
        if self.left:
            return f"left behind: {', '.join(self.left[:3])}"
        if self.reached != ENDS[self.cell.action]:
            return f"{self.reached or 'nothing'} and not {ENDS[self.cell.action]}: {self.message}"
        return ""

    @property
    def word(self) -> str:
        """The word of the table."""
        return "WRONG" if self.wrong else "-" if not self.struck else f"{self.seconds:.0f} s"


def build_live_cells(actions: Iterable[Action] = ACTIONS, stages: Iterable[str] = LIVE_STAGES) -> list[LiveCell]:
    """Build every combination."""
    return [LiveCell(action=action, stage=stage) for action, stage in product(actions, stages)]


def format_live_table(outcomes: Sequence[LiveOutcome]) -> str:
    """Format actions downwards, steps across: how long it took until all was as it should be, and what was wrong."""
    known = {(o.cell.action, o.cell.stage): o.word for o in outcomes}
    rows = [["action", *LIVE_STAGES]]
    for action in ACTIONS:
        words = [known.get((action, stage), "") for stage in LIVE_STAGES]
        if any(words):
            rows.append([action, *words])
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    wrong = [f"{o.cell}: {o.wrong}" for o in outcomes if o.wrong]
    count = f"{sum(bool(o.struck) for o in outcomes)} actions, {len(wrong)} wrong"
    return "\n".join([*lines, "", count, *wrong])
