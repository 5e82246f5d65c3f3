"""Template variables of a fault, evaluated lazily."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from scenario_kit.render.templating.authoring_error import build_error
from scenario_kit.render.templating.engine import render


class TemplateVariables(Mapping[str, Any]):
    """Known values, lazy look-ups, and the fault's own ``variables``, which may use all others.

    A failing look-up raises only when a template uses it: not every target has a container or callers.

    Raises:
        AuthoringError: a variable of the fault shadows a built-in name.
    """

    def __init__(
        self, known: Mapping[str, Any], lookups: Mapping[str, Callable[[], Any]], written: Mapping[str, Any], where: str
    ) -> None:
        if taken := sorted(written.keys() & (known.keys() | lookups.keys())):
            raise build_error(
                "SK123",
                f"{where} variables.{taken[0]}: the name is reserved",
                observed=", ".join(taken),
                expected="names that are not built in",
                fix="rename the variable; docs/add-a-fault.md lists the names",
            )
        self._known = dict(known)
        self._lookups = lookups
        self._written = written
        self._where = where
        self._open: list[str] = []

    def __getitem__(self, name: str) -> Any:
        """Return the value of a variable.

        Raises:
            KeyError: it is undefined.
            AuthoringError: its look-up or expression fails.
        """
        if name not in self._known:
            self._known[name] = self._lookups[name]() if name in self._lookups else self._render(name)
        return self._known[name]

    def __contains__(self, name: object) -> bool:
        """Return whether a variable is defined, without evaluating it."""
        return name in self._known or name in self._lookups or name in self._written

    def __iter__(self) -> Iterator[str]:
        """Iterate over all names."""
        return iter({**self._known, **self._lookups, **self._written})

    def __len__(self) -> int:
        """Return the number of names."""
        return sum(1 for _ in self)

    def _render(self, name: str) -> Any:
        where = f"{self._where} variables.{name}"
        if name in self._open:
            circle = " → ".join([*self._open[self._open.index(name) :], name])
            raise build_error("SK123", f"{where}: variables form a cycle", observed=circle)
        self._open.append(name)
        try:
            return render(self._written[name], self, where)
        finally:
            self._open.pop()


class ItemVariables(Mapping[str, Any]):
    """The variables of a ``forEach`` iteration: ``item``, and those of the fault."""

    def __init__(self, variables: Mapping[str, Any], item: Any) -> None:
        self._variables = variables
        self._item = item

    def __getitem__(self, name: str) -> Any:
        """Return ``item``, or a variable of the fault."""
        return self._item if name == "item" else self._variables[name]

    def __contains__(self, name: object) -> bool:
        """Return whether a variable is defined."""
        return name == "item" or name in self._variables

    def __iter__(self) -> Iterator[str]:
        """Iterate over all names."""
        return iter(["item", *self._variables])

    def __len__(self) -> int:
        """Return the number of names."""
        return 1 + len(self._variables)
