"""What the effect checks of a fault are about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from scenario_kit.model import App, Object
from scenario_kit.render.templating.target import FaultTarget


@dataclass(frozen=True, slots=True)
class EffectSubject:
    """The target of a fault, its app, and look-ups in the rendered app.

    ``find_workload`` answers the workload of a reference, or the one behind a Service; ``component_of`` the name of the
    component that it belongs to; ``created`` the reference of the object that the fault creates.
    """

    target: FaultTarget
    app: App
    find_workload: Callable[[object], Object]
    component_of: Callable[[object], str]
    created: Callable[[], str]
