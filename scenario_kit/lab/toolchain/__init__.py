"""The pinned binaries of the lab: look-up and installation.

Order: an environment variable (``SCENARIO_KIT_<PART>``), PATH with the pinned version, the cache, an official release,
a build from Go modules. ``resolve`` and ``inspect`` stop after the cache and change nothing; ``install`` does the rest.
"""

from scenario_kit.lab.toolchain.assets import DEFINITIONS as CHAOS_DEFINITIONS
from scenario_kit.lab.toolchain.assets import PROTO as CHAOS_PROTO
from scenario_kit.lab.toolchain.assets import resolve as chaos_assets
from scenario_kit.lab.toolchain.components import OPTIONAL, PARTS, ToolchainComponent
from scenario_kit.lab.toolchain.installer import install, install_optional
from scenario_kit.lab.toolchain.lookup import inspect, resolve

__all__ = [
    "CHAOS_DEFINITIONS", "CHAOS_PROTO", "OPTIONAL", "PARTS", "ToolchainComponent", "chaos_assets",
    "inspect", "install", "install_optional", "resolve",
]  # fmt: skip
