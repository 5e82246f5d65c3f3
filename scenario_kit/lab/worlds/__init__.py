"""Worlds: one per trial, each with its own application, namespaces, twin and clock."""

from scenario_kit.lab.worlds.recordings import Recordings
from scenario_kit.lab.worlds.registry import Worlds
from scenario_kit.lab.worlds.sample_horizon import SampleHorizon
from scenario_kit.lab.worlds.virtual import VirtualWorld
from scenario_kit.lab.worlds.wall import WallWorld
from scenario_kit.lab.worlds.world import LabContext, LabWorld, WaitResult

__all__ = [
    "LabContext", "LabWorld", "Recordings", "SampleHorizon", "VirtualWorld", "WaitResult", "WallWorld", "Worlds",
]  # fmt: skip
