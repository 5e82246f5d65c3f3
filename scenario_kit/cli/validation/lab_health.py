"""The health of a lab while a campaign runs."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from scenario_kit.cli.terminal.output import print_progress

if TYPE_CHECKING:
    from scenario_kit.lab.host.state import LabState

#: An operator that is restarted this often within the period does not work.
MAX_RESTARTS: Final = 5
PERIOD_SECONDS: Final = 60.0


class LabHealth:
    """Find dead components of a lab, and restart its operator, which resumes its work."""

    def __init__(self, lab: LabState, now: Callable[[], float] = time.monotonic) -> None:
        self._lab = lab
        self._now = now
        self._restarts: deque[float] = deque(maxlen=MAX_RESTARTS)

    def find_problems(self) -> Sequence[str]:
        """Describe each dead component with the end of its log; an operator only if it keeps exiting."""
        from scenario_kit.lab.lifecycle import bring_up

        dead = type(self._lab).load(self._lab.name).dead_parts()
        if [part.name for part in dead] != ["operator"] or self._is_crash_loop():
            return [str(part) for part in dead]
        self._restarts.append(self._now())
        bring_up(self._lab.name, say=print_progress)
        return []

    def _is_crash_loop(self) -> bool:
        return len(self._restarts) == MAX_RESTARTS and self._now() - self._restarts[0] < PERIOD_SECONDS
