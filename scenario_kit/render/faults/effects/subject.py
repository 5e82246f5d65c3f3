"""What the effect checks of a fault are about."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from scenario_kit.model import App, Object
from scenario_kit.render.templating.target import FaultTarget


@dataclass(frozen=True, slots=True)
class EffectSubject:
    """The target of a fault, its app, and look-ups in the rendered app.

    ``find_workload`` answers the workload of a reference, or the one behind a Service; ``component_of`` the name of the
    component that it belongs to; ``variables`` are those of the fault's templates.
    """

    target: FaultTarget
    app: App
    find_workload: Callable[[object], Object]
    component_of: Callable[[object], str]
    variables: Mapping[str, Any]

    @property
    def created(self) -> str:
        """Spell the object that the fault creates."""
        return str(self.variables["created"])

    @property
    def container(self) -> str:
        """Return the name of the container that parameter ``container`` names, of the first one without."""
        return str(self.variables["container"]["name"])
