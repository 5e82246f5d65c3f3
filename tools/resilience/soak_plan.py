"""Which trials a soak plays, when it kills the operator, and what may come of it. Pure."""

from __future__ import annotations

import random
import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from scenario_kit.model import Value

#: Scenarios of which whole repeats are played between the trials of single operations: a workload, chaos, a service,
#: a flag, another app.
SCENARIOS: Final = (
    "cart-scaled-to-zero", "payment-pod-failure", "product-catalog-wrong-target-port", "ads-tuned-to-death",
    "hotel-searches-fail",
)  # fmt: skip
#: Changes of nodes are not among them: a trial that makes one runs alone.
OPERATIONS: Final = (
    "apply", "chaos", "create", "delete", "deploy", "patch", "removeFault", "restart", "run", "scale", "setFlag",
    "undoRollout",
)  # fmt: skip
#: One of so many trials is a whole repeat.
_REPEAT_OF: Final = 4
#: Wall seconds between two kills, at least and at most.
_KILL_SECONDS: Final = (4.0, 40.0)
#: After this share of the trials nothing is killed, so that one operator is seen to keep its memory.
KILLED_SHARE: Final = 0.6
#: How much more of its memory a process may hold in the end than before the middle, and how many bytes in any case.
_GROWTH: Final = 0.15
_SLACK_BYTES: Final = 25e6


class SoakTrial(Value, frozen=True, kw_only=True):
    """A trial of an operation, or a repeat of a scenario."""

    number: int
    operation: str = ""
    scenario: str = ""

    def __str__(self) -> str:
        return f"{self.number}: {self.operation or self.scenario}"


class SoakResult(Value, frozen=True, kw_only=True):
    """How a trial ended, and what stayed of it."""

    trial: SoakTrial
    outcome: str
    message: str = ""
    seconds: float = 0.0
    left: tuple[str, ...] = ()

    @property
    def wrong(self) -> str:
        """What is wrong with it; empty if nothing is."""
        if self.left:
            return f"left behind: {', '.join(self.left[:3])}"
        return "" if self.outcome == "Held" else f"{self.outcome or 'no end'}: {self.message}"


class MemorySample(Value, frozen=True, kw_only=True):
    """What each part of the lab holds, in bytes, after so many trials; ``operator`` is the number of its process."""

    trials: int
    operator: int
    parts: Mapping[str, int]


def draw_trials(number: int, seed: int) -> list[SoakTrial]:
    """Draw so many trials, each kind about as often as the others."""
    chance = random.Random(seed)
    operations, scenarios = _shuffle_forever(OPERATIONS, chance), _shuffle_forever(SCENARIOS, chance)
    return [
        SoakTrial(number=n, scenario=next(scenarios))
        if n % _REPEAT_OF == 0
        else SoakTrial(number=n, operation=next(operations))
        for n in range(1, number + 1)
    ]


def _shuffle_forever(names: Sequence[str], chance: random.Random) -> Iterator[str]:
    while True:
        yield from chance.sample(names, len(names))


def draw_pauses(seed: int) -> Iterator[float]:
    """Draw the seconds before each kill, without end."""
    chance = random.Random(seed)
    while True:
        yield chance.uniform(*_KILL_SECONDS)


def find_growth(samples: Sequence[MemorySample]) -> dict[str, tuple[float, float]]:
    """Find what each part held before the middle and in the end, in bytes: medians of the second and last quarter.

    Of the operator only samples of its last process count.
    """
    found = {}
    for part in samples[-1].parts if samples else ():
        rows = [s for s in samples if part != "operator" or s.operator == samples[-1].operator]
        values = [s.parts[part] for s in rows]
        quarter = max(1, len(values) // 4)
        earlier = values[quarter : 2 * quarter] or values[:1]
        found[part] = (statistics.median(earlier), statistics.median(values[-quarter:]))
    return found


def list_defects(results: Sequence[SoakResult], samples: Sequence[MemorySample], left: Sequence[str]) -> list[str]:
    """List what is wrong: trials that did not hold, what stayed, and parts that hold more and more."""
    wrong = [f"{r.trial}: {r.wrong}" for r in results if r.wrong]
    grown = [
        f"{part} holds {late / 1e6:.0f} MB, and held {early / 1e6:.0f} MB before the middle"
        for part, (early, late) in find_growth(samples).items()
        if late > early * (1 + _GROWTH) and late - early > _SLACK_BYTES
    ]
    return [*wrong, *(f"left behind: {each}" for each in left), *grown]


def format_memory(samples: Sequence[MemorySample]) -> str:
    """Format what each part holds in MB: at the beginning, after each quarter of the trials, and before and after."""
    if not samples:
        return "no samples"
    at = sorted({round(n * (len(samples) - 1) / 4) for n in range(5)})
    rows = [["MB after trials", *(str(samples[n].trials) for n in at)]]
    rows += [[part, *(f"{samples[n].parts.get(part, 0) / 1e6:.0f}" for n in at)] for part in samples[-1].parts]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join(
        "  ".join([row[0].ljust(widths[0]), *(t.rjust(w) for t, w in zip(row[1:], widths[1:], strict=True))])
        for row in rows
    )
