"""Snapshots: recorded incidents as folders for offline solvers (docs/snapshot.md)."""

from scenario_kit.snapshot.recording import Recording
from scenario_kit.snapshot.settings import SIGNALS, SnapshotSettings
from scenario_kit.snapshot.writer import FIRST_DAY, SnapshotPlace, SnapshotSource, write_snapshot

__all__ = ["FIRST_DAY", "SIGNALS", "Recording", "SnapshotPlace", "SnapshotSettings", "SnapshotSource", "write_snapshot"]
