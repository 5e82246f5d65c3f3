"""Template look-ups on the target's component: its callers, callees and protocol.

Each is a pure function of the app's definition; ``docs/add-a-fault.md`` lists them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from scenario_kit.model import App, Component
from scenario_kit.model.authored.app import CallEdge
from scenario_kit.render.simulation.observability import list_untraced, list_without_error_status
from scenario_kit.render.templating.render_budget import LOOKUP_WORK, spend
from scenario_kit.render.templating.target import TextValue

#: Roles of components off the path of user requests.
_AUXILIARY: Final = ("Flags", "Platform")


def list_auxiliary(app: App) -> frozenset[str]:
    """List the components off the path of user requests: flags and telemetry."""
    return frozenset(component.name for component in app.components if component.role in _AUXILIARY)


def list_dependants(app: App, component: str) -> list[str]:
    """List the components that depend on one: callers, including those that swallow its failures, and consumers.

    A component that reports no spans, or none with errors, also contributes its own dependants: the effect shows there.
    """
    found, silent = [component], list_untraced(app) | list_without_error_status(app)
    for name in found:  # the list grows during the loop
        if name == component or name in silent:
            found += [caller for caller in app.dependants(name) if caller not in found]
    return found[1:]


@dataclass(frozen=True, slots=True)
class ResolvedComponent(TextValue):
    """A component of the app with its callers and callees. Its string form is its name."""

    name: str
    _app: App

    def __str__(self) -> str:
        """Return its name."""
        return self.name

    @property
    def workload(self) -> str:
        """Return the reference of its workload."""
        return self._find().workload

    @property
    def service(self) -> str:
        """Return the name of its Service; empty if it has none."""
        return self._find().service

    @property
    def role(self) -> str:
        """Return its role in the app."""
        return self._find().role

    @property
    def serves(self) -> str:
        """Return the protocol that it serves."""
        return self._find().serves

    @property
    def jvm(self) -> dict[str, Any] | None:
        """Return the class and method that serve requests in its JVM; None without a JVM."""
        jvm = self._find().jvm
        return {"returns": None, **jvm.to_json()} if jvm else None

    @property
    def callers(self) -> list[str]:
        """List its callers that fail when it fails."""
        spend(LOOKUP_WORK)
        return list(self._app.callers(self.name))

    @property
    def dependants(self) -> list[str]:
        """List all that depend on it, including consumers and callers that swallow its failures."""
        spend(LOOKUP_WORK)
        return list_dependants(self._app, self.name)

    @property
    def callees(self) -> list[str]:
        """List the components that it calls."""
        return [call.callee for call in self._list_calls()]

    @property
    def caller_workloads(self) -> list[str]:
        """List the workloads of its callers, in the order of the app's components."""
        return self._list_workloads(self.callers)

    @property
    def dependant_workloads(self) -> list[str]:
        """List the workloads of its dependants, in the order of the app's components."""
        return self._list_workloads(self.dependants)

    @property
    def callee_workloads(self) -> list[str]:
        """List the workloads of its callees, in the order of the app's components."""
        return self._list_workloads(self.callees)

    @property
    def neighbour_workloads(self) -> list[str]:
        """List the workloads of its dependants and callees, without telemetry."""
        platform = {c.workload for c in self._app.components if c.role == "Platform"}
        return [w for w in self._list_workloads([*self.dependants, *self.callees]) if w not in platform]

    @property
    def needed(self) -> list[str]:
        """List its callees on the path of user requests: neither flags nor telemetry."""
        spare = list_auxiliary(self._app)
        return [name for name in self.callees if name not in spare]

    @property
    def behind_service(self) -> bool:
        """Return whether any component calls it through its Service."""
        spend(LOOKUP_WORK)
        return any(call.callee == self.name and call.via == "Service" for call in self._app.calls)

    def _list_workloads(self, names: Sequence[str]) -> list[str]:
        return [c.workload for c in self._app.components if c.name in names and c.workload]

    def _find(self) -> Component:
        spend(LOOKUP_WORK)
        return next(c for c in self._app.components if c.name == self.name)

    def _list_calls(self) -> Iterator[CallEdge]:
        spend(LOOKUP_WORK)
        return (call for call in self._app.calls if call.caller == self.name)
