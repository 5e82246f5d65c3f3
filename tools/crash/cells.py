"""Cells of the crash test: which write of which trial is disturbed, how, and the allowed outcomes. Pure."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import product
from typing import Final, Literal

from scenario_kit.model import Value
from tools.sampling import sample_evenly

Disturbance = Literal["killed-before", "killed-after", "conflict", "unavailable", "unanswered", "watches-closed"]
#: Operator killed before the API server sees a write, or after it has answered; write refused as after a concurrent
#: write, or as by an overloaded server; write stored but its answer lost; all watches closed.
DISTURBANCES: Final[tuple[Disturbance, ...]] = (
    "killed-before", "killed-after", "conflict", "unavailable", "unanswered", "watches-closed",
)  # fmt: skip
#: The number of a cell that disturbs each write of a trial once, but not its retry.
EVERY: Final = 0
#: How many versions of one object are disturbed: one that changes with every retry would otherwise never be written.
_CONTENTS: Final = 15
#: The trial that only installs and removes the app.
DEPLOY: Final = "deploy"
_TIME: Final = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.\d]*")
_RANDOM: Final = re.compile(r"(otel-demo|repeat-1)-[a-z]{4}")
#: Creations are refused with "already exists", never with a conflict.
_UPDATES: Final = frozenset({"PUT", "PATCH", "DELETE"})


class Write(Value, frozen=True, kw_only=True):
    """A request that changes stored state.

    Attributes:
        path: the path without the query.
        name: name of the created object, if any.
        digest: digest of the written content.
    """

    method: str
    path: str
    name: str = ""
    digest: str = ""

    def __str__(self) -> str:
        return f"{self.method} {self.path}{f' ({self.name})' if self.name else ''}"


class Recording(Value, frozen=True, kw_only=True):
    """The writes of a trial in order, and those of them that were accepted and disturbed."""

    writes: tuple[Write, ...]
    accepted: tuple[Write, ...]
    disturbed: tuple[Write, ...] = ()

    @property
    def jobs(self) -> int:
        """The number of Jobs created."""
        return sum(write.method == "POST" and write.path.endswith("/jobs") for write in self.accepted)


class Cell(Value, frozen=True, kw_only=True):
    """One disturbance of one operation's trial: at the write of that number, from 1, or at ``EVERY`` write."""

    operation: str
    disturbance: Disturbance
    number: int

    @property
    def ends(self) -> tuple[str, ...]:
        """The allowed outcomes. An API server that fails every write is an infrastructure failure; a kill is not."""
        fails = self.disturbance in ("conflict", "unavailable", "unanswered")
        return ("Held", "Infra") if self.number == EVERY and fails else ("Held",)

    def __str__(self) -> str:
        return f"{self.operation}, {f'write {self.number}' if self.number else 'every write'} {self.disturbance}"


class Outcome(Value, frozen=True, kw_only=True):
    """The result of a cell.

    Attributes:
        write: the first disturbed request; None if the trial made fewer writes.
        times: number of disturbances.
        jobs: number of Jobs created for the operation ``run``.
        left: what remained in the cluster or the lab.
        ends: operators that exited without being killed.
    """

    cell: Cell
    write: Write | None
    outcome: str
    message: str = ""
    times: int = 1
    jobs: int = 0
    seconds: float = 0.0
    left: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()

    @property
    def defect(self) -> str:
        """What is wrong; empty if nothing is or nothing was disturbed."""
        if self.write is None:
            return ""
        if self.left:
            return f"left behind: {', '.join(self.left[:3])}"
        if self.ends:
            return self.ends[0]
        if self.jobs > 1:
            return f"a command ran {self.jobs} times"
        if self.outcome not in self.cell.ends:
            return f"{self.outcome or 'no end'}: {self.message}"
        return ""

    @property
    def word(self) -> str:
        """The result in one word, for the table."""
        return "WRONG" if self.defect else "-" if self.write is None else "held"


def compute_digest(body: bytes) -> str:
    """Compute a digest of a request's content without timestamps, which differ between retries."""
    return hashlib.sha256(_TIME.sub(b"", body)).hexdigest()[:12]


def is_write(method: str, path: str, query: str = "") -> bool:
    """Return True if a request changes a trial's state: no review, dry run, lease or event."""
    if method not in ("POST", "PUT", "PATCH", "DELETE") or "dryRun" in query:
        return False
    parts = path.split("/")
    return not parts[-1].endswith("reviews") and "leases" not in parts and "events" not in parts


def is_disturbed(cell: Cell, writes: Sequence[Write]) -> bool:
    """Return True if the last of these writes is to be disturbed."""
    if cell.number != EVERY:
        return len(writes) == cell.number
    *before, last = writes
    contents = {w.digest for w in before if (w.method, w.path, w.name) == (last.method, last.path, last.name)}
    return last.digest not in contents and len(contents) < _CONTENTS and _can_suffer(cell.disturbance, last)


def _can_suffer(disturbance: Disturbance, write: Write) -> bool:
    return disturbance != "conflict" or write.method in _UPDATES


def build_cells(
    writes: Mapping[str, Sequence[Write]], disturbances: Iterable[Disturbance] = DISTURBANCES
) -> list[Cell]:
    """Build the cells of every operation from the writes of its undisturbed trial.

    The cells of an operation are its writes that the trial of ``DEPLOY`` does not make at the same place, since
    installation and removal are common to all, plus one cell for all of its writes.
    """
    disturbances = tuple(disturbances)
    shared = writes.get(DEPLOY, ())
    single = [
        Cell(operation=operation, disturbance=disturbance, number=number)
        for operation, made in writes.items()
        for (number, write), disturbance in product(
            _list_own(made, () if operation == DEPLOY else shared), disturbances
        )
        if _can_suffer(disturbance, write)
    ]
    return single + [
        Cell(operation=operation, disturbance=disturbance, number=EVERY)
        for operation, disturbance in product(writes, disturbances)
    ]


def _list_own(made: Sequence[Write], shared: Sequence[Write]) -> list[tuple[int, Write]]:
    """List the writes, numbered from 1, that another trial does not make at the same place."""
    before, after = ([str(_strip_random_parts(write)) for write in each] for each in (shared, made))
    blocks = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    return [(n + 1, made[n]) for tag, _, _, start, end in blocks if tag != "equal" for n in range(start, end)]


def _strip_random_parts(write: Write) -> Write:
    """Remove the random parts from the names of namespace and trial."""
    return Write(method=write.method, path=_RANDOM.sub(r"\1", write.path), name=_RANDOM.sub(r"\1", write.name))


def sample_cells(every: Sequence[Cell], number: int, seed: int) -> list[Cell]:
    """Sample cells evenly over operations and disturbances."""
    return sample_evenly(every, number, seed, lambda cell: (cell.operation, cell.disturbance, cell.number == EVERY))


def format_table(outcomes: Sequence[Outcome]) -> str:
    """Format a table of operations by disturbances: held of total, followed by the defects.

    The last row sums up the cells of every write, with the number of disturbances in parentheses.
    """
    disturbed = [o for o in outcomes if o.write is not None]
    single = [o for o in disturbed if o.cell.number != EVERY]
    rows = [["operation", *DISTURBANCES]]
    for operation in sorted({o.cell.operation for o in single}):
        rows.append([operation, *_count(o for o in single if o.cell.operation == operation)])
    if every := [o for o in disturbed if o.cell.number == EVERY]:
        rows.append(["each write of all", *_count(every)])
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    wrong = [f"{o.cell} ({o.write}): {o.defect}" for o in disturbed if o.defect]
    count = f"{len(disturbed)} cells, {sum(o.times for o in disturbed)} disturbances, {len(wrong)} wrong"
    return "\n".join([*lines, "", count, *wrong])


def _count(outcomes: Iterable[Outcome]) -> list[str]:
    """Count held of total for each disturbance, with the number of disturbances if it is larger."""
    row, outcomes = [], list(outcomes)
    for disturbance in DISTURBANCES:
        here = [o for o in outcomes if o.cell.disturbance == disturbance]
        times = sum(o.times for o in here)
        text = f"{sum(not o.defect for o in here)}/{len(here)}" if here else ""
        row.append(f"{text} ({times})" if times > len(here) else text)
    return row
