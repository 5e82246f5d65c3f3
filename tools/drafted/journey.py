"""The journey of a drafted scenario, as its author would make it: new, lint, try --accept, lint, verify."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec

from tools import records
from tools.matrix.pairs import Pair

#: What comes after ``new``, in order, each before the folder of the scenario; the last one proves it.
STEPS: tuple[tuple[str, ...], ...] = (
    ("lint",),
    ("try", "--accept"),
    ("lint",),
    ("verify", "--plan", "quick"),
)
_LONGEST = 4000

#: What is drafted: a pair, and the parameters that its author chooses, each ``NAME=VALUE``.
Draft = tuple[Pair, tuple[str, ...]]

#: Runs a command of ours with these arguments; its exit code, and what it printed.
Run = Callable[[Sequence[str]], tuple[int, str]]


class Journey(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How far the draft of a pair came: ``stopped`` is the command that did not end with 0, ``code`` its exit code.

    ``answers`` are the parameters that its author chose, each ``NAME=VALUE``; the others have their defaults.
    ``corrected`` tells whether the first trial showed something else than the draft predicts; ``said`` are the last
    words of the command that stopped it, ``seconds`` how long each command took.
    """

    pair: Pair
    answers: tuple[str, ...] = ()
    stopped: str = ""
    code: int = 0
    corrected: bool = False
    said: str = ""
    seconds: tuple[tuple[str, float], ...] = ()

    @property
    def draft(self) -> Draft:
        """What was drafted."""
        return self.pair, self.answers

    @property
    def judged(self) -> bool:
        """Infrastructure that failed says nothing about a draft."""
        return self.code != 2


def travel(draft: Draft, folder: Path, run: Run, more: Sequence[str] = ()) -> Journey:
    """Draft a scenario in an empty folder and go on until a command is not content.

    Args:
        draft: what breaks, where, and how.
        folder: where the draft goes.
        run: runs a command.
        more: what commands with trials are told besides, such as the name of the lab.
    """
    pair, answers = draft
    chosen: tuple[str, ...]
    chosen = ("--app", pair.app, "--version", pair.version, "--fault", pair.fault, "--target", pair.target)
    chosen += tuple(word for answer in answers for word in ("--parameter", answer))
    place = str(folder / "draft")
    steps: list[tuple[str, ...]] = [("new", "draft", *chosen, "--output", str(folder))]
    steps += [(*step, place, *(more if step[0] in ("try", "verify") else ())) for step in STEPS]
    took: list[tuple[str, float]] = []
    stopped, code, said, corrected = "", 0, "", False
    for step in steps:
        began = time.monotonic()
        code, said = run(step)
        took.append((step[0], round(time.monotonic() - began, 1)))
        # The first trial may contradict the draft: what it showed is accepted then, and that is what is proven.
        if step[0] == "try" and code == 1 and "accepted into" in said:
            code, corrected = 0, True
        if code:
            stopped = step[0]
            break
    return Journey(
        pair=pair, answers=answers, stopped=stopped, code=code, corrected=corrected,
        said=said[-_LONGEST:] if code else "", seconds=tuple(took),
    )  # fmt: skip


def command(arguments: Sequence[str], cwd: Path) -> tuple[int, str]:
    """Run a command of ours in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "scenario_kit.cli", *arguments],
        cwd=cwd, capture_output=True, text=True, timeout=3600, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def append(path: Path, journey: Journey) -> None:
    """Add a line to a file of records."""
    records.append(path, journey)


def read(path: Path) -> list[Journey]:
    """The records of a file, the last one for each draft."""
    return records.read(path, Journey, lambda journey: (journey.pair.key, journey.answers))


def left(desired: Iterable[Draft], known: Iterable[Journey], *, again: bool = False) -> list[Draft]:
    """The drafts without a judged record; with ``again`` also those that were stopped."""
    done = {(j.pair.key, j.answers) for j in known if j.judged and not (again and j.stopped)}
    return [(pair, answers) for pair, answers in desired if (pair.key, answers) not in done]


def reported(draft: Draft) -> str:
    """A draft in a line."""
    pair, answers = draft
    return f"{pair}, {', '.join(answers)}" if answers else str(pair)


def summary(journeys: Sequence[Journey]) -> str:
    """One line for each that was stopped, and the numbers."""
    lines = [f"{j.stopped} ended with {j.code}: {reported(j.draft)}" for j in journeys if j.stopped]
    arrived = [j for j in journeys if not j.stopped]
    corrected = sum(j.corrected for j in arrived)
    lines.append(f"{len(arrived)} of {len(journeys)} proven, {corrected} of them after a correction")
    return "\n".join(lines)
