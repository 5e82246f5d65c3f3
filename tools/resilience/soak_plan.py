"""Plan of a soak test: its trials, the kills of the operator, and the judgement of results. Pure."""

from __future__ import annotations

import random
import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from scenario_kit.model import Value

#: Scenarios with complete repeats between the trials of single operations: workload, chaos, service, flag, another app.
SCENARIOS: Final = (
    "cart-scaled-to-zero", "payment-pod-failure", "product-catalog-wrong-target-port", "ads-tuned-to-death",
    "hotel-searches-fail",
)  # fmt: skip
#: Operations without changes of nodes, whose trials run alone.
OPERATIONS: Final = (
    "apply", "chaos", "create", "delete", "deploy", "patch", "removeFault", "restart", "run", "scale", "setFlag",
    "undoRollout",
)  # fmt: skip
#: One in this number of trials is a complete repeat.
_REPEAT_OF: Final = 4
#: Minimum and maximum of wall seconds between two kills.
_KILL_SECONDS: Final = (4.0, 40.0)
#: Share of the trials after which nothing is killed, to measure the memory of one operator.
KILLED_SHARE: Final = 0.6
#: Permitted growth of a process's memory from the second to the last quarter, as a share and in bytes.
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
    """The outcome and leftovers of a trial."""

    trial: SoakTrial
    outcome: str
    message: str = ""
    seconds: float = 0.0
    left: tuple[str, ...] = ()

    @property
    def wrong(self) -> str:
        """The reason why the result is wrong; empty if it is right."""
        if self.left:
            return f"left behind: {', '.join(self.left[:3])}"
        return "" if self.outcome == "Held" else f"{self.outcome or 'no end'}: {self.message}"


class MemorySample(Value, frozen=True, kw_only=True):
    """Memory of each part of the lab in bytes after a number of trials; ``operator`` is its PID.

    Pages of mapped files do not count: the kernel takes them back when it needs memory, and Prometheus maps its blocks,
    which keep the samples of all trials.
    """

    trials: int
    operator: int
    parts: Mapping[str, int]


def draw_trials(number: int, seed: int) -> list[SoakTrial]:
    """Draw trials, with about the same number of each kind."""
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
    """Yield the seconds before each kill, endlessly."""
    chance = random.Random(seed)
    while True:
        yield chance.uniform(*_KILL_SECONDS)


def find_growth(samples: Sequence[MemorySample]) -> dict[str, tuple[float, float]]:
    """Return each part's median memory in the second and in the last quarter of the samples, in bytes.

    For the operator, only samples of its last process count.
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
    """List failed trials, leftovers, and parts whose memory grows."""
    wrong = [f"{r.trial}: {r.wrong}" for r in results if r.wrong]
    grown = [
        f"{part} holds {late / 1e6:.0f} MB, and held {early / 1e6:.0f} MB before the middle"
        for part, (early, late) in find_growth(samples).items()
        if late > early * (1 + _GROWTH) and late - early > _SLACK_BYTES
    ]
    return [*wrong, *(f"left behind: {each}" for each in left), *grown]


def format_memory(samples: Sequence[MemorySample]) -> str:
    """Format the memory of each part in MB, at the start and after each quarter of the trials."""
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
