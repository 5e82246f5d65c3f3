"""Which parts of an app requests of users pass, by the steps that the app's twin tells of every operation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from scenario_kit.errors import AuthoringError
from scenario_kit.model import App
from scenario_kit.render.mistake import mistake


@dataclass(frozen=True, slots=True)
class Traffic:
    """``parts`` are components that work for users, ``calls`` are caller and callee of what they ask for meanwhile.

    What a program asks for only when it starts, when a cache is cold or when browsers come is not among them.
    ``starts`` are those who do not work unless they have reached somebody since they started, and whom.
    """

    parts: set[str] = field(default_factory=set)
    calls: set[tuple[str, str]] = field(default_factory=set)
    starts: set[tuple[str, str]] = field(default_factory=set)


def traffic(app: App) -> Traffic | None:
    """The traffic of ordinary users; None for an app without a twin, of which nobody knows.

    Raises:
        AuthoringError: the twin has not the shape of one.
    """
    if app.twin is None:
        return None
    try:
        return _Walk(app.twin).whole()
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise misshapen_twin(app) from error


def misshapen_twin(app: App) -> AuthoringError:
    """What is said of a twin that cannot be read as one; what is wrong with it, only the lab's reader knows."""
    return mistake(
        "SK138",
        f"the twin of {app.name} {app.version} has not the shape of one",
        why="what users do, and who shows it, is read from there",
        fix=f"`scenario-kit lint catalog/apps/{app.name}` says what is wrong with its twin.yaml",
    )


class _Walk:
    def __init__(self, twin: Mapping[str, Any]) -> None:
        self._load: Mapping[str, Any] = twin["load"]
        self._components: Mapping[str, Mapping[str, Any]] = twin["components"]
        self._seen: set[tuple[str, str, str]] = set()
        self._found = Traffic()

    def whole(self) -> Traffic:
        source = self._load["component"]
        self._found.parts.add(source)
        for route in self._load["routes"]:
            self._call(source, self._load["entry"], route)
        for name, component in self._components.items():
            needs = component.get("start", {}).get("needs", ())
            self._found.starts.update((name, need["callee"]) for need in needs)
            for source in component.get("consumes", ()):
                if source["queue"] in self._found.parts:
                    self._found.calls.add((name, source["queue"]))
                    self._operation(name, source["operation"], "")
        return self._found

    def _call(self, caller: str, call: str, route: str) -> None:
        callee, _, operation = call.partition("/")
        self._found.calls.add((caller, callee))
        self._operation(callee, operation.replace("{route}", route), route)

    def _operation(self, name: str, operation: str, route: str) -> None:
        if (name, operation, route) in self._seen:
            return
        self._seen.add((name, operation, route))
        self._found.parts.add(name)
        known = self._components.get(name, {}).get("operations", {})
        self._steps(name, known.get(operation, {}).get("steps", ()), route)

    def _steps(self, name: str, steps: Iterable[Mapping[str, Any]], route: str) -> None:
        for step in steps:
            if "call" in step:
                self._call(name, step["call"], step.get("route", route))
            if "keys" not in step:  # what is below asks for keys that a cache has lost
                self._steps(name, step.get("steps", ()), route)
