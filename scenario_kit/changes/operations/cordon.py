"""``cordon`` and ``uncordon``: whether a node is schedulable."""

from __future__ import annotations

from typing import ClassVar, final

from scenario_kit.changes.nodes import SchedulingOperation


@final
class Cordon(SchedulingOperation, frozen=True, kw_only=True):
    """Mark a node as unschedulable."""

    inverse: ClassVar[str] = "uncordon"


@final
class Uncordon(SchedulingOperation, frozen=True, kw_only=True):
    """Mark a node as schedulable."""

    inverse: ClassVar[str] = "cordon"
    closes: ClassVar[bool] = False
