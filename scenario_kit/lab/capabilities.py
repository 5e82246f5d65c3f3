"""What the embedded lab offers beyond an ordinary API server: its own parts, and what the catalogue says of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from scenario_kit.lab.control_plane.nodes import LEAST
from scenario_kit.model.authored.capability import Capability

#: How findings call this environment.
NAME: Final = "the lab"


def offers_capability(capability: Capability, argument: str, *, clock: str = "Virtual") -> bool:
    """Check whether a trial in the lab, by that clock (``Wall`` or ``Virtual``), has the capability."""
    if capability.name == "nodes>=":
        return int(argument) <= LEAST
    if capability.canary.clock is not None:
        return capability.lab and clock == capability.canary.clock
    return capability.lab


def describe_offers(known: Iterable[Capability]) -> dict[str, str]:
    """Describe every capability as a person asks for it, and an empty text, or why the lab lacks it."""
    shown: dict[str, str] = {}
    for each in known:
        if each.name == "nodes>=":
            shown[f"nodes>={LEAST}"] = ""
        elif not each.parametric:
            shown[each.name] = "" if each.lab else each.because
    return shown
