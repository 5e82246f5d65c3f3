"""The spec of a trial's world: the body of the lab server's PUT request."""

from __future__ import annotations

from collections.abc import Mapping

from scenario_kit.model import App, Value
from scenario_kit.model.results.trial import ClockMode


class WorldSpec(Value, frozen=True, kw_only=True):
    """The spec of a world. ``assumptions`` override constants of the twin that are not verified.

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
    def namespaces(self) -> tuple[str, ...]:
        """All namespaces of the world; the first is the one with the app's entry point."""
        return (self.namespace, *self.others)
