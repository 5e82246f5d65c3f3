"""Which part of a lab is struck, how, and while which step runs; and what may come of it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import Final, Literal

from scenario_kit.model import Value
from tools.sampling import sample_evenly

How = Literal["killed", "hung", "paused", "restarted"]
#: All of a lab at once: a machine that loses its power, or that sleeps and wakes.
WHOLE: Final = "everything"
#: The namespace of the trial's app, which is killed by being deleted, and in no other way.
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
    """What came of a strike. ``struck`` is the step that ran then, empty where the trial had ended before.

    ``codes`` are errors that were held against the scenario, ``left`` is what stayed in the cluster afterwards.
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
        """Why this must not be; empty if it may, and where nothing was struck."""
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
        """How the table tells it."""
        return "WRONG" if self.wrong else "-" if not self.struck else "pass" if self.verdict == "Pass" else "infra"


def cells(parts: Iterable[str] = PARTS, hows: Iterable[How] = HOWS, stages: Iterable[str] = STAGES) -> list[Cell]:
    """All combinations."""
    found = product(parts, hows, stages)
    return [Cell(part=p, how=h, stage=s) for p, h, s in found if p != NAMESPACE or h == "killed"]


def sample(every: Sequence[Cell], number: int, seed: int) -> list[Cell]:
    """So many of them, each part and each way about as often as the others."""
    return sample_evenly(every, number, seed, lambda cell: (cell.part, cell.how))


def table(outcomes: Sequence[Outcome]) -> str:
    """Parts and ways downwards, stages across."""
    known = {o.cell: o.word for o in outcomes}
    stages = [s for s in STAGES if any(c.stage == s for c in known)]
    rows = [["part", "how", *stages]]
    for part, how in product(PARTS, HOWS):
        words = [known.get(Cell(part=part, how=how, stage=s), "") for s in stages]
        if any(words):
            rows.append([part, how, *words])
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    wrong = [f"{o.cell}: {o.wrong}" for o in outcomes if o.wrong]
    words = [o.word for o in outcomes]
    passed, infra = words.count("pass"), words.count("infra")
    count = f"{len(words) - words.count('-')} strikes: {passed} passed, as the trial went on; "
    count += f"{infra} not evaluated; {len(wrong)} wrong"
    return "\n".join([*lines, "", count, *wrong])
