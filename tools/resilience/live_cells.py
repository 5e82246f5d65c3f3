"""Actions on the objects of a live incident by step, and their possible outcomes. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import Final, Literal

from scenario_kit.cli.terminal.output import format_table
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
#: The required final state of the Scenario: an active incident, suspended, or gone.
ENDS: Final[dict[Action, str]] = {
    "scenario-deleted": "gone", "scenario-edited": "IncidentActive", "scenario-suspended": "Suspended",
    "trial-deleted": "IncidentActive", "namespace-deleted": "IncidentActive", "app-occupied": "IncidentActive",
}  # fmt: skip


class LiveCell(Value, frozen=True, kw_only=True):
    """An action during a step of a Scenario's trial."""

    action: Action
    stage: str

    def __str__(self) -> str:
        return f"{self.action} in {self.stage}"


class LiveOutcome(Value, frozen=True, kw_only=True):
    """The outcome of an action: the step in which it took place, the Scenario's final state, and leftovers.

    ``reached`` is the reason of its condition Ready, or ``gone``. ``broken`` lists trials that failed because of the
    scenario.
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
        """The reason why this outcome is wrong; empty if it is right, or if the step ended before it was observed."""
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
        """The cell of the table."""
        return "WRONG" if self.wrong else "-" if not self.struck else f"{self.seconds:.0f} s"


def build_live_cells(actions: Iterable[Action] = ACTIONS, stages: Iterable[str] = LIVE_STAGES) -> list[LiveCell]:
    """Build all combinations."""
    return [LiveCell(action=action, stage=stage) for action, stage in product(actions, stages)]


def format_live_table(outcomes: Sequence[LiveOutcome]) -> str:
    """Format a table with actions as rows and steps as columns: the seconds to the final state, and what was wrong."""
    known = {(o.cell.action, o.cell.stage): o.word for o in outcomes}
    rows = [["action", *LIVE_STAGES]]
    for action in ACTIONS:
        words = [known.get((action, stage), "") for stage in LIVE_STAGES]
        if any(words):
            rows.append([action, *words])
    lines = format_table(rows[0], rows[1:])
    wrong = [f"{o.cell}: {o.wrong}" for o in outcomes if o.wrong]
    count = f"{sum(bool(o.struck) for o in outcomes)} actions, {len(wrong)} wrong"
    return "\n".join([*lines, "", count, *wrong])
