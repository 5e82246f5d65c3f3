"""Finding codes of cheats that count as resolved (docs/rules.md)."""

from __future__ import annotations

from typing import Final

#: A documented repair that is reverted before the clear window ends.
REVERT: Final = "fix-and-revert"
CODES: Final = {
    "restart-everything": "SK422",
    "scale-to-zero": "SK423",
    "delete-workload": "SK423",
    "delete-service": "SK423",
    "stop-the-load": "SK424",
    "raise-limits": "SK425",
    "drop-probes": "SK425",
    "delete-chaos": "SK426",
    "roll-back": "SK427",
    REVERT: "SK427",
}


def get_code(name: str) -> str:
    """Return the finding code of a cheat; unknown ones are treated as a wrong repair."""
    return CODES.get(name, "SK427")
