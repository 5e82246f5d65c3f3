"""Worlds: one per trial, each with an application, a namespace, a twin and a clock of its own."""

from scenario_kit.lab.worlds.recordings import Recordings
from scenario_kit.lab.worlds.registry import Worlds
from scenario_kit.lab.worlds.sample_horizon import Past
from scenario_kit.lab.worlds.virtual import VirtualWorld
from scenario_kit.lab.worlds.wall import WallWorld
from scenario_kit.lab.worlds.world import LabWorld, Surroundings, Waited

__all__ = ["Past", "Recordings", "Surroundings", "VirtualWorld", "Waited", "WallWorld", "LabWorld", "Worlds"]
