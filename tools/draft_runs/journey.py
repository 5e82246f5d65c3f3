"""The workflow of a drafted scenario: new, lint, try --accept, lint, verify."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec

from tools import records
from tools.matrix.pairs import Pair

#: The steps after ``new``, each called with the scenario's folder; the last one proves the scenario.
STEPS: tuple[tuple[str, ...], ...] = (("lint",), ("try", "--accept"), ("lint",), ("verify", "--plan", "quick"))
_LONGEST = 4000

#: A pair, and the parameters to set, each ``NAME=VALUE``.
Draft = tuple[Pair, tuple[str, ...]]

#: Runs a `scenario-kit` command with these arguments; returns its exit code and output.
Run = Callable[[Sequence[str]], tuple[int, str]]


class Journey(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How far the draft of a pair got.

    Attributes:
        answers: parameters that were set, each ``NAME=VALUE``; others have their defaults.
        stopped: the failed command; empty if none failed.
        code: its exit code.
        corrected: whether the first trial contradicted the draft's prediction.
        said: the end of the failed command's output.
        seconds: duration of each command.
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
        """The pair and its parameters."""
        return self.pair, self.answers

    @property
    def judged(self) -> bool:
        """Whether the draft was judged, that is, infrastructure did not fail."""
        return self.code != 2


def run_workflow(draft: Draft, folder: Path, run: Run, more: Sequence[str] = ()) -> Journey:
    """Draft a scenario in an empty folder and run its workflow until a command fails.

    Args:
        draft: the pair and its parameters.
        folder: the folder of the draft.
        run: runs a command.
        more: further arguments of commands with trials, such as the name of the lab.
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
        # The first trial may contradict the draft: its result has been accepted, and that is what verify proves.
        if step[0] == "try" and code == 1 and "accepted into" in said:
            code, corrected = 0, True
        if code:
            stopped = step[0]
            break
    return Journey(
        pair=pair, answers=answers, stopped=stopped, code=code, corrected=corrected,
        said=said[-_LONGEST:] if code else "", seconds=tuple(took),
    )  # fmt: skip


def run_command(arguments: Sequence[str], cwd: Path) -> tuple[int, str]:
    """Run a `scenario-kit` command in a subprocess."""
    done = subprocess.run(
        [sys.executable, "-m", "scenario_kit.cli", *arguments],
        cwd=cwd, capture_output=True, text=True, timeout=3600, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def read(path: Path) -> list[Journey]:
    """Read the records of a file, the latest of each draft."""
    return records.read(path, Journey, lambda journey: (journey.pair.key, journey.answers))


def select_unjudged(desired: Iterable[Draft], known: Iterable[Journey], *, again: bool = False) -> list[Draft]:
    """Return the drafts without a judged record; with ``again`` also those with a failed step."""
    done = {(j.pair.key, j.answers) for j in known if j.judged and not (again and j.stopped)}
    return [(pair, answers) for pair, answers in desired if (pair.key, answers) not in done]


def format_draft(draft: Draft) -> str:
    """Format a draft on one line."""
    pair, answers = draft
    return f"{pair}, {', '.join(answers)}" if answers else str(pair)


def summarise_journeys(journeys: Sequence[Journey]) -> str:
    """Format one line per failed draft, and the totals."""
    lines = [f"{j.stopped} ended with {j.code}: {format_draft(j.draft)}" for j in journeys if j.stopped]
    arrived = [j for j in journeys if not j.stopped]
    corrected = sum(j.corrected for j in arrived)
    lines.append(f"{len(arrived)} of {len(journeys)} proven, {corrected} of them after a correction")
    return "\n".join(lines)
