"""What the world of a trial is asked to be: the body of the lab server's PUT."""

from __future__ import annotations

from collections.abc import Mapping

from scenario_kit.model import App, Value
from scenario_kit.model.results.trial import ClockMode


class WorldSpec(Value, frozen=True, kw_only=True):
    """What a world is asked to be. ``assumptions`` override constants of the twin that nobody has verified.

    ``others`` are further namespaces of the same app.
    """

    trial: str
    namespace: str
    others: tuple[str, ...] = ()
    app: App
    seed: int
    mode: ClockMode
    assumptions: Mapping[str, float] = {}

    @property
    def everywhere(self) -> tuple[str, ...]:
        """List all namespaces of the world, the one where users enter the app first."""
        return (self.namespace, *self.others)
