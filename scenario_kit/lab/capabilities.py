"""The capabilities of the embedded lab beyond an ordinary API server: its components, and the catalogue's entries."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from scenario_kit.lab.control_plane.nodes import MIN_NODES
from scenario_kit.model.authored.capability import Capability

#: The name of this environment in findings.
NAME: Final = "the lab"


def offers_capability(capability: Capability, argument: str, *, clock: str = "Virtual") -> bool:
    """Return whether a trial in the lab with this clock (``Wall`` or ``Virtual``) has the capability."""
    if capability.name == "nodes>=":
        return int(argument) <= MIN_NODES
    if capability.canary.clock is not None:
        return capability.lab and clock == capability.canary.clock
    return capability.lab


def describe_offers(known: Iterable[Capability]) -> dict[str, str]:
    """Map every capability's spelling to an empty text, or to the reason why the lab lacks it."""
    shown: dict[str, str] = {}
    for each in known:
        if each.name == "nodes>=":
            shown[f"nodes>={MIN_NODES}"] = ""
        elif not each.parametric:
            shown[each.name] = "" if each.lab else each.because
    return shown
