"""Background noise: harmless recurring changes elsewhere in the app during an incident."""

from __future__ import annotations

from scenario_kit.model.authored.change import Change
from scenario_kit.model.base import Value
from scenario_kit.model.kubernetes.reference import Reference


class NoiseRestart(Value, frozen=True, kw_only=True):
    """Restart a workload."""

    target: Reference


class NoiseScale(Value, frozen=True, kw_only=True):
    """Add up to this many replicas to a workload for some seconds."""

    target: Reference
    add_replicas: int = 1
    for_seconds: int = 300


class NoiseLoad(Value, frozen=True, kw_only=True):
    """Add up to this percentage of users for some seconds."""

    percent: int
    for_seconds: int = 300


class Noise(Value, frozen=True, kw_only=True):
    """Noise of one kind with its period; occurrences are shifted by up to ``jitter_percent`` of the period."""

    name: str
    restart: NoiseRestart | None = None
    scale: NoiseScale | None = None
    load: NoiseLoad | None = None
    every_seconds: int
    jitter_percent: int = 30

    @property
    def target(self) -> Reference | None:
        """The affected workload; None for load."""
        touched = self.restart or self.scale
        return touched.target if touched else None

    @property
    def for_seconds(self) -> int:
        """The duration of each occurrence; 0 for a restart."""
        lasting = self.scale or self.load
        return lasting.for_seconds if lasting else 0


class NoiseSource(Value, frozen=True, kw_only=True):
    """Rendered noise; each occurrence draws one of ``changes``. ``users`` are the additional users of each (load)."""

    name: str
    changes: tuple[Change, ...]
    every_seconds: int
    jitter_percent: int
    for_seconds: int = 0
    users: tuple[int, ...] = ()
