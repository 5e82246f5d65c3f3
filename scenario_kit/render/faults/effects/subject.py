"""Subject of effect checks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from scenario_kit.model import App, Object
from scenario_kit.render.templating.target import FaultTarget


@dataclass(frozen=True, slots=True)
class EffectSubject:
    """The target of a fault, its app, and look-ups in the rendered app.

    ``find_workload`` returns the workload of a reference, for a Service the one that it selects; ``component_of``
    returns the name of its component; ``variables`` are the fault's template variables, ``share`` the share of the
    target's pods that the fault hits.
    """

    target: FaultTarget
    app: App
    find_workload: Callable[[object], Object]
    component_of: Callable[[object], str]
    variables: Mapping[str, Any]
    share: float = 1.0

    def scale(self, milliseconds: int) -> int:
        """Return by how much a mean rises where each request to a pod that is hit takes so much longer."""
        return max(round(milliseconds * self.share), 1)

    @property
    def created(self) -> str:
        """Return the reference of the object that the fault creates."""
        return str(self.variables["created"])

    @property
    def container(self) -> str:
        """Return the name of the container that parameter ``container`` selects, by default the first."""
        return str(self.variables["container"]["name"])
