"""``cordon`` and ``uncordon``: whether a node takes new pods."""

from __future__ import annotations

from typing import ClassVar, final

from scenario_kit.changes.nodes import SchedulingOperation


@final
class Cordon(SchedulingOperation, frozen=True, kw_only=True):
    """Let a node take no new pods."""


@final
class Uncordon(SchedulingOperation, frozen=True, kw_only=True):
    """Let a node take new pods again."""

    closes: ClassVar[bool] = False
