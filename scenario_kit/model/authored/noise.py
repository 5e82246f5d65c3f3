"""Background noise: harmless changes elsewhere that come and go while an incident lasts."""

from __future__ import annotations

from scenario_kit.model.authored.change import Change
from scenario_kit.model.base import Value


class NoiseRestart(Value, frozen=True, kw_only=True):
    """A workload gets new pods."""

    target: str


class NoiseScale(Value, frozen=True, kw_only=True):
    """A workload gets up to so many replicas more, for so many seconds."""

    target: str
    add_replicas: int = 1
    for_seconds: int = 300


class NoiseLoad(Value, frozen=True, kw_only=True):
    """Up to so many percent more users come, for so many seconds."""

    percent: int
    for_seconds: int = 300


class Noise(Value, frozen=True, kw_only=True):
    """One-of: what happens, and how often; each time up to ``jitter_percent`` of the period earlier or later."""

    name: str
    restart: NoiseRestart | None = None
    scale: NoiseScale | None = None
    load: NoiseLoad | None = None
    every_seconds: int
    jitter_percent: int = 30

    @property
    def target(self) -> str:
        """The workload that it touches; empty for load."""
        touched = self.restart or self.scale
        return touched.target if touched else ""

    @property
    def for_seconds(self) -> int:
        """How long it lasts each time; 0 for what is over at once."""
        lasting = self.scale or self.load
        return lasting.for_seconds if lasting else 0


class NoiseSource(Value, frozen=True, kw_only=True):
    """Noise, rendered for an app; each time one of ``changes`` is drawn. ``users``: how many come with each (load)."""

    name: str
    changes: tuple[Change, ...]
    every_seconds: int
    jitter_percent: int
    for_seconds: int = 0
    users: tuple[int, ...] = ()
