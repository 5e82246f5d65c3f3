"""Words of Chaos Mesh that more than one layer needs."""

from __future__ import annotations

from typing import Final

GROUP: Final = "chaos-mesh.org"
SCHEDULE: Final = "Schedule"
#: Actions that are over once done: nothing lasts, so nothing is recovered or bound to new pods.
ONE_SHOT: Final = ("pod-kill", "container-kill")


def schedule_key(kind: str) -> str:
    """Where a Schedule has the spec of a kind: ``networkChaos`` for NetworkChaos, ``ioChaos`` for IOChaos."""
    capitals = len(kind) - len(kind.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
    start = max(capitals - 1, 1)
    return kind[:start].lower() + kind[start:]
