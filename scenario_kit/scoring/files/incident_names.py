"""Normalisation of incident names: ``Scenario-7``, ``scenario_7``, ``scenario-i7`` and ``7`` are the same."""

from __future__ import annotations

import re
from typing import Final

_NUMBERED: Final = re.compile(r"(?i)(?:scenario|incident)[-_]?i?(\d+)$")


def normalise_incident(name: str) -> str:
    """Return the canonical name of an incident."""
    match = _NUMBERED.match(name)
    return match[1] if match else name
