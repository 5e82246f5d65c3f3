"""The cells of the resilience matrix: part of a lab, kind of failure and running step; and their outcomes. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import Final, Literal

from scenario_kit.cli.terminal.output import format_table
from scenario_kit.model import Value
from tools.sampling import sample_evenly

How = Literal["killed", "hung", "paused", "restarted"]
#: The whole lab: a machine that loses power, or that is suspended.
WHOLE: Final = "everything"
#: The namespace of the trial's app; "killed" means deleted, and there are no other failures.
NAMESPACE: Final = "app-namespace"
#: Every process of a lab, and that namespace. The lab server is the nodes, the chaos daemon and the traffic at once.
PARTS: Final = (
    WHOLE, "etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok", "prometheus", "lab-server",
    "chaos-controller-manager", "operator", NAMESPACE,
)  # fmt: skip
#: A process that is killed, one that is stopped until the trial is over, one that goes on after some seconds, and one
#: that is killed and started again at once, as the supervisor of a control plane does.
HOWS: Final[tuple[How, ...]] = ("killed", "hung", "paused", "restarted")
STAGES: Final = (
    "deploy", "expectQuiet", "inject", "expectAlerts", "hold", "change", "expectCleared", "teardown",
)  # fmt: skip
PAUSE_SECONDS: Final = 10.0


class Cell(Value, frozen=True, kw_only=True):
    """One strike."""

    part: str
    how: How
    stage: str

    def __str__(self) -> str:
        return f"{self.part} {self.how} in {self.stage}"


class Outcome(Value, frozen=True, kw_only=True):
    """The outcome of a failure. ``struck`` is the step that was running; empty if the trial had ended before.

    ``codes`` are errors attributed to the scenario, ``left`` lists leftovers in the cluster.
    """

    cell: Cell
    struck: str = ""
    verdict: str
    outcome: str
    codes: tuple[str, ...] = ()
    message: str = ""
    seconds: float = 0.0
    left: tuple[str, ...] = ()

    @property
    def wrong(self) -> str:
        """The reason why this outcome is wrong; empty if it is right, or if nothing was struck."""
        if not self.struck:
            return ""
        if self.codes or self.verdict == "Fail":
            return f"held against the scenario: {', '.join(self.codes) or self.verdict}"
        if self.verdict == "Pass" and self.outcome != "Held":
            return "passed without a trial that held"
        if self.left:
            return f"left behind: {', '.join(self.left[:3])}"
        return ""

    @property
    def word(self) -> str:
        """The cell of the table."""
        return "WRONG" if self.wrong else "-" if not self.struck else "pass" if self.verdict == "Pass" else "infra"


def build_cells(parts: Iterable[str] = PARTS, hows: Iterable[How] = HOWS, stages: Iterable[str] = STAGES) -> list[Cell]:
    """Build all valid combinations."""
    found = product(parts, hows, stages)
    return [Cell(part=p, how=h, stage=s) for p, h, s in found if p != NAMESPACE or h == "killed"]


def sample_cells(every: Sequence[Cell], number: int, seed: int) -> list[Cell]:
    """Sample cells, with about the same number for each part and kind of failure."""
    return sample_evenly(every, number, seed, lambda cell: (cell.part, cell.how))


def format_cells(outcomes: Sequence[Outcome]) -> str:
    """Format a table with parts and failures as rows and stages as columns, and a summary."""
    known = {o.cell: o.word for o in outcomes}
    stages = [s for s in STAGES if any(c.stage == s for c in known)]
    rows = [["part", "how", *stages]]
    for part, how in product(PARTS, HOWS):
        words = [known.get(Cell(part=part, how=how, stage=s), "") for s in stages]
        if any(words):
            rows.append([part, how, *words])
    lines = format_table(rows[0], rows[1:])
    wrong = [f"{o.cell}: {o.wrong}" for o in outcomes if o.wrong]
    words = [o.word for o in outcomes]
    passed, infra = words.count("pass"), words.count("infra")
    count = f"{len(words) - words.count('-')} strikes: {passed} passed, as the trial went on; "
    count += f"{infra} not evaluated; {len(wrong)} wrong"
    return "\n".join([*lines, "", count, *wrong])
