"""Which write of which trial is disturbed, and how; and what may come of it. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Final, Literal

from scenario_kit.model import Value
from tools.sampling import sample_evenly

Disturbance = Literal["killed-before", "killed-after", "conflict", "unavailable", "unanswered", "watches-closed"]
#: Kills of the operator before the API server sees a write and after it has answered; a refusal as after a concurrent
#: write; a refusal as of an overloaded server; a write that is stored and whose answer is lost; and all watches ended.
DISTURBANCES: Final[tuple[Disturbance, ...]] = (
    "killed-before", "killed-after", "conflict", "unavailable", "unanswered", "watches-closed",
)  # fmt: skip
#: The trial that only installs the app and removes it.
DEPLOY: Final = "deploy"
_RANDOM: Final = re.compile(r"(otel-demo|repeat-1)-[a-z]{4}")
#: Creations are refused with "already exists", never with a conflict.
_UPDATES: Final = frozenset({"PUT", "PATCH", "DELETE"})


class Write(Value, frozen=True, kw_only=True):
    """A request that changes what the API server stores. ``path`` is without the query."""

    method: str
    path: str

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


class Recording(Value, frozen=True, kw_only=True):
    """The writes of a trial in order, those of them that the API server accepted, and the one that was disturbed."""

    writes: tuple[Write, ...]
    accepted: tuple[Write, ...]
    disturbed: Write | None = None

    @property
    def jobs(self) -> int:
        """The number of Jobs that were created."""
        return sum(write.method == "POST" and write.path.endswith("/jobs") for write in self.accepted)


class Cell(Value, frozen=True, kw_only=True):
    """One disturbance: of the trial of one change operation, at its write of that number, from 1."""

    operation: str
    disturbance: Disturbance
    number: int

    def __str__(self) -> str:
        return f"{self.operation}, write {self.number} {self.disturbance}"


class Outcome(Value, frozen=True, kw_only=True):
    """What came of it. ``write`` is the request that was disturbed; None where the trial made fewer.

    ``jobs`` counts the Jobs that were created for the operation ``run``; ``left`` is what stayed in the cluster.
    """

    cell: Cell
    write: Write | None
    outcome: str
    message: str = ""
    jobs: int = 0
    seconds: float = 0.0
    left: tuple[str, ...] = ()

    @property
    def defect(self) -> str:
        """What is wrong with it; empty if nothing is, or nothing was disturbed."""
        if self.write is None:
            return ""
        if self.left:
            return f"left behind: {', '.join(self.left[:3])}"
        if self.jobs > 1:
            return f"a command ran {self.jobs} times"
        if self.outcome != "Held":
            return f"{self.outcome or 'no end'}: {self.message}"
        return ""

    @property
    def word(self) -> str:
        """The word of the table."""
        return "WRONG" if self.defect else "-" if self.write is None else "held"


def is_write(method: str, path: str, query: str = "") -> bool:
    """Return True if a request changes what is stored of a trial: no review, no dry run, no lease, no event."""
    if method not in ("POST", "PUT", "PATCH", "DELETE") or "dryRun" in query:
        return False
    parts = path.split("/")
    return not parts[-1].endswith("reviews") and "leases" not in parts and "events" not in parts


def build_cells(
    writes: Mapping[str, Sequence[Write]], disturbances: Iterable[Disturbance] = DISTURBANCES
) -> list[Cell]:
    """Build the cells of every operation from the writes of its undisturbed trial.

    Of an operation these are the writes that the trial of ``DEPLOY`` has not, or not as often: the app is installed and
    removed in the same way in all of them.
    """
    disturbances = tuple(disturbances)
    shared = Counter(_generalize(write) for write in writes.get(DEPLOY, ()))
    return [
        Cell(operation=operation, disturbance=disturbance, number=number)
        for operation, made in writes.items()
        for (number, write), disturbance in product(
            _list_own(made, Counter() if operation == DEPLOY else shared), disturbances
        )
        if disturbance != "conflict" or write.method in _UPDATES
    ]


def _list_own(made: Sequence[Write], shared: Counter[Write]) -> list[tuple[int, Write]]:
    """List the writes, with their numbers from 1, that are more than those of another trial."""
    counts = Counter(_generalize(write) for write in made)
    return [(n, w) for n, w in enumerate(made, start=1) if counts[_generalize(w)] > shared[_generalize(w)]]


def _generalize(write: Write) -> Write:
    """Take the random parts out of the names of namespace and trial."""
    return Write(method=write.method, path=_RANDOM.sub(r"\1", write.path))


def sample_cells(every: Sequence[Cell], number: int, seed: int) -> list[Cell]:
    """Sample so many cells, each operation and each disturbance about as often as the others."""
    return sample_evenly(every, number, seed, lambda cell: (cell.operation, cell.disturbance))


def format_table(outcomes: Sequence[Outcome]) -> str:
    """Format operations downwards, disturbances across: how many held of how many, and what was wrong."""
    disturbed = [o for o in outcomes if o.write is not None]
    operations = sorted({o.cell.operation for o in disturbed})
    rows = [["operation", *DISTURBANCES]]
    for operation in operations:
        row = [operation]
        for disturbance in DISTURBANCES:
            here = [o for o in disturbed if (o.cell.operation, o.cell.disturbance) == (operation, disturbance)]
            row.append(f"{sum(not o.defect for o in here)}/{len(here)}" if here else "")
        rows.append(row)
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    wrong = [f"{o.cell} ({o.write}): {o.defect}" for o in disturbed if o.defect]
    return "\n".join([*lines, "", f"{len(disturbed)} cells, {len(wrong)} wrong", *wrong])
