"""Names of incidents as folders spell them: ``Scenario-7``, ``scenario_7``, ``scenario-i7`` and ``7`` are one."""

from __future__ import annotations

import re
from typing import Final

_NUMBERED: Final = re.compile(r"(?i)(?:scenario|incident)[-_]?i?(\d+)$")


def normalise_incident(name: str) -> str:
    """Return the name by which an incident is known, whatever its folder is called."""
    match = _NUMBERED.match(name)
    return match[1] if match else name
