"""How long each stage of a run took, on the clock on the wall."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from scenario_kit.model.base import Value


class Stage(Value, frozen=True, kw_only=True):
    """A stage that has ended."""

    name: str
    seconds: float


class Stopwatch:
    """Tells which stage begins, and keeps how long each took."""

    def __init__(self, say: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._say = say
        self._clock = clock
        self._stages: list[Stage] = []

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The stages that have ended, in that order."""
        return tuple(self._stages)

    @contextmanager
    def measure(self, name: str) -> Iterator[None]:
        """Measure a stage; one that fails is not kept."""
        self._say(f"{name} …")
        began = self._clock()
        yield
        self._stages.append(Stage(name=name, seconds=round(self._clock() - began, 1)))
        self._say(f"{name}: {self._stages[-1].seconds:.0f} s")


def format_stages(stages: tuple[Stage, ...]) -> str:
    """Format the stages as a table of Markdown."""
    rows = [f"| {stage.name} | {stage.seconds:.0f} |" for stage in stages]
    return "\n".join(["| stage | seconds |", "|---|---|", *rows]) + "\n"
